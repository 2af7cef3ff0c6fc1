//! Handling of PHI that a model produced.

use crate::Tone;
use crate::code::coded;

macro_rules! replies {
    ($($(#[$attribute:meta])* $name:ident $code:literal $done:literal $label:literal $tone:ident $summary:literal;)*) => {
        /// An account's handling of PHI in replies that was not in the request.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Replies {
            $($(#[$attribute])* #[doc = $summary] $name,)*
        }

        const ROWS: &[(Replies, &str, &str, &str, Tone, &str)] = &[
            $((Replies::$name, $code, $done, $label, Tone::$tone, $summary),)*
        ];
    };
}

replies! {
    // From the gentlest to the strictest: variant, code in settings, code in records, label, tone, effect.
    #[default] Off "off" "" "Off" Plain "Replies are passed on as they come, without being scanned.";
    Flag "flag" "flagged" "Flag" Info "New PHI in a reply is recorded. The reply is passed on unchanged.";
    Mask "mask" "masked" "Mask" Violet "New PHI in a reply is replaced by a placeholder such as [SSN].";
    Redact "redact" "redacted" "Redact" Violet "New PHI in a reply is removed and nothing is put in its place.";
    Block "block" "blocked" "Block" Warn "A reply with new PHI is withheld. The caller gets an error instead.";
}

impl Replies {
    /// Every choice, in the order in which they are offered.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code in settings and on the command line.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Action in the audit record if new PHI was found; empty for `off`.
    pub const fn done(self) -> &'static str {
        ROWS[self as usize].2
    }

    /// Name for people.
    pub const fn label(self) -> &'static str {
        ROWS[self as usize].3
    }

    /// Tone on a page.
    pub const fn tone(self) -> Tone {
        ROWS[self as usize].4
    }

    /// Effect on new PHI, for the owner who chooses.
    pub const fn summary(self) -> &'static str {
        ROWS[self as usize].5
    }
}

coded!(Replies, "choice for replies");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_choices_are_ordered_and_parse_back() {
        for (number, choice) in Replies::all().enumerate() {
            assert_eq!(choice as usize, number);
            assert_eq!(choice.code().parse(), Ok(choice));
        }
        assert!("on".parse::<Replies>().is_err());
    }
}
