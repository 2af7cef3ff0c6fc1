//! Values that an account does not count as PHI.
//!
//! An entry is a kind and one value. Findings are compared by the same form as entries: without disguise, letter case
//! and spacing. A longer finding has another value, and so stays a finding.

use std::sync::Arc;

use phi_detect::{Finding, PhiKind};
use smol_str::SmolStr;

use crate::json::Document;

use super::located::{Allowed, ScanResult};
use super::values::values_of;

/// Matches every name in front of a domain, as in `*@example.org`.
const ANY: &str = "*";

/// Bytes of the longest entry.
const ENTRY_BYTES_MAX: usize = 400;

/// Looks up the entry for a kind's code and the form of a value. Gives the entry's id.
type Lookup = dyn Fn(&str, &str) -> Option<SmolStr> + Send + Sync;

/// The allow list of an account. Only its owner can tell what is on it.
#[derive(Clone)]
pub struct AllowList(Arc<Lookup>);

impl std::fmt::Debug for AllowList {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("AllowList")
    }
}

impl AllowList {
    /// The list that this function looks entries up in, by a kind's code and the [form](allow_entry) of a value.
    pub fn new(lookup: impl Fn(&str, &str) -> Option<SmolStr> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// The entry that lets a value of a kind through.
    pub(crate) fn entry(&self, kind: PhiKind, value: &str) -> Option<SmolStr> {
        if !kind.may_be_allowed() {
            return None;
        }
        let form = form(kind, value);
        let exact = (self.0)(kind.code(), &form);
        exact.or_else(|| {
            let (_, domain) = form.rsplit_once('@').filter(|_| kind == PhiKind::EMAIL)?;
            (self.0)(kind.code(), &format!("{ANY}@{domain}"))
        })
    }

    /// The entry that lets a finding with this value through. A value that hides one of a kind that is always PHI stays.
    pub(super) fn entry_of(&self, finding: &Finding, value: &str) -> Option<SmolStr> {
        let hides_phi = finding.hides.iter().any(|kind| !kind.may_be_allowed());
        let entry = self.entry(finding.kind, value);
        entry.filter(|_| !hides_phi)
    }

    /// Sets aside the findings whose values are allowed. The findings must be settled.
    pub(super) fn set_aside(&self, document: &Document, result: &mut ScanResult) {
        let values = values_of(document, &result.findings);
        let found = std::mem::take(&mut result.findings);
        let mut entry = None;
        for (located, value) in found.into_iter().zip(values) {
            if !located.continues {
                entry = self.entry_of(&located.finding, &value);
            }
            match &entry {
                Some(entry) => result.allowed.push(Allowed {
                    entry: entry.clone(),
                    located,
                }),
                None => result.findings.push(located),
            }
        }
    }
}

/// The reason why a value cannot be an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAllowed {
    /// The kind is always PHI.
    Kind,
    /// Nothing is left of the value, or it is too long.
    Length,
    /// A `*` that is not `*@domain` of an e-mail address.
    Wildcard,
    /// An e-mail address without name or domain.
    Mail,
}

impl NotAllowed {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Kind => "values of this kind are always PHI",
            Self::Length => "an entry has 1 to 400 bytes, among them a letter or digit",
            Self::Wildcard => "* may only replace every name in front of a domain: *@example.org",
            Self::Mail => "an e-mail address looks like desk@example.org or *@example.org",
        }
    }
}

/// The form in which an entry is kept and compared.
pub fn allow_entry(kind: PhiKind, value: &str) -> Result<String, NotAllowed> {
    if !kind.may_be_allowed() {
        return Err(NotAllowed::Kind);
    }
    let form = form(kind, value);
    if value.len() > ENTRY_BYTES_MAX || !form.contains(char::is_alphanumeric) {
        return Err(NotAllowed::Length);
    }
    let (name, domain) = form.split_once('@').unwrap_or((&form, ""));
    let is_mail = kind == PhiKind::EMAIL;
    let stars = value.matches(ANY).count();
    let is_wildcard = is_mail && name == ANY && stars == 1;
    let is_domain = domain.contains('.') && !domain.contains('@');
    match () {
        () if stars > 0 && !is_wildcard => Err(NotAllowed::Wildcard),
        () if is_mail && (name.is_empty() || !is_domain) => Err(NotAllowed::Mail),
        () => Ok(form),
    }
}

/// A value without disguise, letter case and spacing.
fn form(kind: PhiKind, value: &str) -> String {
    let plain = phi_detect::undisguised(value);
    let words: Vec<&str> = plain.split_whitespace().collect();
    kind.normalise(&words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: &str) -> PhiKind {
        PhiKind::from_code(code).unwrap()
    }

    #[test]
    fn spellings_of_a_value_are_one_entry() {
        for (code, one, other, same) in [
            ("email", "Desk@StMary.Example", "desk@stmary.example", true),
            (
                "email",
                "desk@stmary.example",
                "desk@stmary.example.com",
                false,
            ),
            ("name", "  maria   DELGADO ", "Maria\nDelgado", true),
            ("name", "Maria Delgado", "Maria Delgado Ortega", false),
            ("phone", "(206) 555-0142", "206-555-0142", true),
            ("phone", "206-555-0142", "２０６-555-0142", true),
        ] {
            let [one, other] = [one, other].map(|value| allow_entry(kind(code), value).unwrap());
            assert_eq!(one == other, same, "{code}");
        }
    }

    #[test]
    fn wrong_entries_are_refused() {
        for (code, value, reason) in [
            ("ssn", "536-22-8741", NotAllowed::Kind),
            ("name", " ", NotAllowed::Length),
            ("email", "*", NotAllowed::Length),
            ("email", "*@*.org", NotAllowed::Wildcard),
            ("email", "**@example.org", NotAllowed::Wildcard),
            ("email", "maria.*@example.org", NotAllowed::Wildcard),
            ("email", "maria@*", NotAllowed::Wildcard),
            ("email", "*@", NotAllowed::Length),
            ("email", "example.org", NotAllowed::Mail),
            ("email", "@example.org", NotAllowed::Mail),
            ("phone", "206-555-*", NotAllowed::Wildcard),
            ("name", "Maria *", NotAllowed::Wildcard),
        ] {
            assert_eq!(allow_entry(kind(code), value), Err(reason), "{value}");
        }
        let any = allow_entry(PhiKind::EMAIL, "*@StMary.Example");
        assert_eq!(any.as_deref(), Ok("*@stmary.example"));
    }

    #[test]
    fn wildcard_covers_its_domain_alone() {
        let list = AllowList::new(|_, form| (form == "*@stmary.example").then(|| "one".into()));
        let allows = |value| list.entry(PhiKind::EMAIL, value).is_some();
        assert!(allows("Ward.7@STMARY.example"));
        assert!(!allows("desk@lab.stmary.example") && !allows("desk@notstmary.example"));
        assert!(!allows("desk@stmary.example.org"));
        assert!(list.entry(kind("name"), "*@stmary.example").is_none());
    }
}
