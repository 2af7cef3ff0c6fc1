//! Agreements about PHI with a provider's operator.

use crate::Tone;
use crate::code::coded;

macro_rules! agreements {
    ($($(#[$attribute:meta])* $name:ident $code:literal $label:literal $tone:ident $summary:literal;)*) => {
        /// PHI that a provider may receive.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PhiAgreement {
            $($(#[$attribute])* #[doc = $summary] $name,)*
        }

        const ROWS: &[(PhiAgreement, &str, &str, Tone, &str)] = &[
            $((PhiAgreement::$name, $code, $label, Tone::$tone, $summary),)*
        ];
    };
}

agreements! {
    // From the widest to the narrowest: variant, code, label, tone, meaning.
    #[default]
    Allowed "allowed" "PHI allowed" Good "The account's mode alone decides.";
    Masked "masked" "PHI masked" Info "PHI that the mode would let through is masked for this provider.";
    Never "never" "No PHI" Warn "A request in which PHI was found is not sent there, masked or not.";
}

impl PhiAgreement {
    /// Every agreement.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code in settings and on the command line.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Name for people.
    pub const fn label(self) -> &'static str {
        ROWS[self as usize].2
    }

    /// Tone on a page.
    pub const fn tone(self) -> Tone {
        ROWS[self as usize].3
    }

    /// Meaning, in a sentence.
    pub const fn summary(self) -> &'static str {
        ROWS[self as usize].4
    }
}

coded!(PhiAgreement, "agreement about PHI");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phi_agreements_are_ordered_and_parse_back() {
        for (number, agreement) in PhiAgreement::all().enumerate() {
            assert_eq!(agreement as usize, number);
            assert_eq!(agreement.code().parse(), Ok(agreement));
        }
    }
}
