//! Entries of an allow list as people write them.

use phi_detect::PhiKind;
use phigate_core::protect::allow_entry;
use phigate_store::SecretString;

use super::policy::kind_of;
use super::{Kinds, SettingError};

/// Reads the kind and the value of an entry, and returns the value as it is stored. The error never repeats the value.
pub fn read_entry(
    kinds: &Kinds,
    code: &str,
    value: &str,
) -> Result<(PhiKind, SecretString), SettingError> {
    let kind = kind_of(kinds, code)?;
    let form = allow_entry(kind, value);
    let form = form.map_err(|reason| SettingError(format!("{code}: {}", reason.words())))?;
    Ok((kind, SecretString::from(form)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_names_the_kind_alone() {
        for (code, value) in [
            ("ssn", "536-22-8741"),
            ("animal", "cat"),
            ("name", "Jane *"),
        ] {
            let error = read_entry(&Kinds::default(), code, value)
                .unwrap_err()
                .to_string();
            assert!(error.contains(code) && !error.contains(value), "{error}");
        }
        let (kind, form) = read_entry(&Kinds::default(), "name", " Jane  ROE").unwrap();
        assert_eq!((kind.code(), form.expose()), ("name", "jane roe"));
    }
}
