//! Meanings that keys of JSON give to the values beside them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::tells_of_a_person;
use crate::labels::{self, Meaning};
use crate::words::{AsIs, hash};

/// Roles of a key besides its meaning as a label: any of these together.
#[derive(Clone, Copy, Default)]
pub(super) struct Role(u8);

impl Role {
    /// Key whose value gives the meaning of the neighbouring `value`.
    pub(super) const NAMING: Role = Role(1);
    /// Key that has no meaning by itself.
    pub(super) const GENERIC: Role = Role(1 << 1);
    /// Key whose object describes the object round it.
    pub(super) const DESCRIBING: Role = Role(1 << 2);
    /// Key whose list names the columns of the rows beside it.
    pub(super) const COLUMNS: Role = Role(1 << 3);
    /// Key whose value is part of a date.
    pub(super) const DATE_PART: Role = Role(1 << 4);
    /// The object that has it describes a package of software, which may have an author.
    pub(super) const OF_PACKAGE: Role = Role(1 << 5);
    /// Key that is a language, like its neighbours.
    pub(super) const LANGUAGE: Role = Role(1 << 6);

    pub(super) fn of(key: &[u8]) -> Role {
        static TABLE: LazyLock<HashMap<u64, Role, AsIs>> = LazyLock::new(|| {
            let mut table = HashMap::<u64, Role, AsIs>::default();
            for &(role, keys) in ROLES {
                for key in keys.split('|') {
                    table.entry(hash(key.as_bytes())).or_default().0 |= role.0;
                }
            }
            table
        });
        if key.len() > LISTED_BYTES_MAX {
            return Role::default();
        }
        if is_index(key) {
            return Role::GENERIC;
        }
        TABLE.get(&hash(key)).copied().unwrap_or_default()
    }

    pub(super) fn is(self, other: Role) -> bool {
        self.0 & other.0 != 0
    }
}

/// Longest listed key.
const LISTED_BYTES_MAX: usize = 16;

/// The keys of each role, in lower case; besides these, the number of a row is generic.
static ROLES: &[(Role, &str)] = &[
    // One row per role.
    (
        Role::NAMING,
        "system|code|display|text|type|use|label|field|key|question|title|name|column|attribute|fieldname|field_name|k|id|\
         linkid|prompt|header|property|param|parameter|variable|slot|entity|concept|caption|labeltext|description|keyword",
    ),
    (
        Role::GENERIC,
        "value|val|answer|text|content|data|response|valuestring|valuedate|valuedatetime|valueinteger|valuetext|values|v|\
         answers|input|reply|result|raw|alphabetic|contents|extension|id|number",
    ),
    (Role::DESCRIBING, "type|coding|code"),
    (
        Role::COLUMNS,
        "columns|cols|headers|header|fields|names|keys|head|columnnames|column_names",
    ),
    (
        Role::DATE_PART,
        "year|month|day|y|m|d|yyyy|mm|dd|dayofmonth|monthvalue",
    ),
    (Role::LANGUAGE, "en|es|fr|de|ja|zh|ko|ru"),
    (
        Role::OF_PACKAGE,
        "dependencies|devdependencies|peerdependencies|repository|engines|bugs|contributors|maintainers",
    ),
];

/// Returns the meaning that a system, a type code or a label gives to its neighbour.
pub(super) fn hint_of(text: &str) -> Option<Meaning> {
    if text.len() > 120 {
        return None;
    }
    // HL7 table 0203, identifier types, and FHIR contact point systems.
    let by_code = match text {
        "MR" | "MRN" | "PI" | "PT" => Some(Meaning::Mrn),
        "SS" | "SB" => Some(Meaning::Ssn),
        "MC" => Some(Meaning::Medicare),
        "DL" | "PPN" | "MA" | "MB" | "NI" | "NPI" | "PRN" | "AN" | "VN" | "SN" | "SNO" | "TAX" => {
            Some(Meaning::OtherId(None))
        }
        "phone" | "fax" | "pager" | "sms" => Some(Meaning::Phone),
        "email" => Some(Meaning::Email),
        _ => None,
    };
    if by_code.is_some() {
        return by_code;
    }
    // "What is your date of birth?"
    if let Some(question) = text.strip_suffix('?') {
        return labels::of_key(question).filter(|&meaning| tells_of_a_person(meaning));
    }
    // "http://hl7.org/fhir/sid/us-ssn", "urn:oid:2.16.840.1.113883.4.1".
    let last = text.rsplit(['/', ':']).next().unwrap_or(text);
    match last {
        "us-ssn" | "2.16.840.1.113883.4.1" => Some(Meaning::Ssn),
        "us-mbi" | "us-medicare" | "2.16.840.1.113883.4.572" | "2.16.840.1.113883.4.927" => {
            Some(Meaning::Medicare)
        }
        "us-npi" | "2.16.840.1.113883.4.6" => labels::of_whole_key("npi"),
        // "https://hospital.example/ids/mrn".
        _ if text.contains("://") || text.starts_with("urn:") => labels::of_whole_key(last)
            .filter(|meaning| matches!(meaning, Meaning::Mrn | Meaning::Ssn | Meaning::Medicare)),
        _ => labels::of_whole_key(text).filter(|meaning| {
            !matches!(
                meaning,
                Meaning::NameMaybe | Meaning::City | Meaning::PhoneMaybe
            )
        }),
    }
}

/// Whether a key is the number of a row in a column (`{"ssn": {"0": "536228741"}}`).
pub(super) fn is_index(name: &[u8]) -> bool {
    !name.is_empty() && name.len() <= 8 && name.iter().all(u8::is_ascii_digit)
}

/// Whether a key names part of a name in a record about a person (`{"first": "Jane", "last": "Roe", "dob": …}`).
pub(super) fn is_part_of_name(name: &str) -> bool {
    ["first", "last", "middle"]
        .iter()
        .any(|part| name.eq_ignore_ascii_case(part))
}

/// Whether a key names part of a date of birth and says so itself (`birth_year`, `dobMonth`).
pub(super) fn is_part_of_birth(name: &[u8]) -> bool {
    let starts = |start: &[u8]| {
        let head = name.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    let ends = |end: &[u8]| {
        let from = name.len().checked_sub(end.len());
        from.is_some_and(|from| name[from..].eq_ignore_ascii_case(end))
    };
    let is_of_birth = starts(b"birth") || starts(b"dob");
    let mut parts = [b"year".as_slice(), b"month", b"day", b"yyyy", b"mm", b"dd"].into_iter();
    is_of_birth && parts.any(ends) && !name.eq_ignore_ascii_case(b"birthday")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_key_has_role_in_any_case() {
        for &(role, keys) in ROLES {
            for key in keys.split('|') {
                assert!(Role::of(key.as_bytes()).is(role), "{key}");
                assert!(Role::of(key.to_uppercase().as_bytes()).is(role), "{key}");
            }
        }
        assert!(Role::of(b"12").is(Role::GENERIC));
        assert!(!Role::of(b"mrn").is(Role::GENERIC));
    }
}
