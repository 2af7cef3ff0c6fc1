//! Presidio's names for kinds of PHI.

use std::sync::LazyLock;

use phi_detect::{Detector, PhiKind};

/// The kind's code and Presidio's name. Kinds that are not listed have their code in capitals as name.
const NAMES: &[(&str, &str)] = &[
    // Alphabetical.
    ("address", "LOCATION"),
    ("dob", "DATE_OF_BIRTH"),
    ("email", "EMAIL_ADDRESS"),
    ("medicare_id", "US_MBI"),
    ("mrn", "MEDICAL_RECORD_NUMBER"),
    ("name", "PERSON"),
    ("npi", "US_NPI"),
    ("phone", "PHONE_NUMBER"),
    ("ssn", "US_SSN"),
];

/// A kind with its names in Presidio.
struct Entity {
    kind: PhiKind,
    name: String,
    recognizer: String,
}

static ENTITIES: LazyLock<Vec<Entity>> = LazyLock::new(|| {
    let named = |kind: PhiKind| {
        let row = NAMES.iter().find(|(code, _)| *code == kind.code());
        let name = row.map_or_else(|| kind.code().to_ascii_uppercase(), |row| row.1.to_owned());
        let recognizer = format!("{}Recognizer", camel_case(&name));
        Entity {
            kind,
            name,
            recognizer,
        }
    };
    PhiKind::all().map(named).collect()
});

/// The entities that a detector finds, by their names in Presidio.
pub fn supported_entities(detector: &Detector) -> Vec<&'static str> {
    looked_for(detector).map(|one| one.name.as_str()).collect()
}

/// The recognisers of a detector, named in Presidio's style.
pub fn recognizers(detector: &Detector) -> Vec<&'static str> {
    looked_for(detector)
        .map(|one| one.recognizer.as_str())
        .collect()
}

fn looked_for(detector: &Detector) -> impl Iterator<Item = &'static Entity> {
    ENTITIES.iter().filter(|one| detector.looks_for(one.kind))
}

/// Presidio's name for a kind.
pub(super) fn name_of(kind: PhiKind) -> &'static str {
    entity(kind).map_or("", |one| one.name.as_str())
}

/// The recogniser of a kind.
pub(super) fn recognizer_of(kind: PhiKind) -> &'static str {
    entity(kind).map_or("", |one| one.recognizer.as_str())
}

/// The kind of an entity; `None` if the entity is unknown.
pub(super) fn kind_of(name: &str) -> Option<PhiKind> {
    let found = ENTITIES.iter().find(|one| one.name == name);
    found.map(|one| one.kind)
}

fn entity(kind: PhiKind) -> Option<&'static Entity> {
    ENTITIES.iter().find(|one| one.kind == kind)
}

/// Converts a name to camel case (`US_SSN` → `UsSsn`).
fn camel_case(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| word[..1].to_owned() + &word[1..].to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_names_match_one_to_one() {
        assert!(NAMES.is_sorted_by_key(|row| row.0));
        for (code, name) in NAMES {
            let kind = PhiKind::from_code(code).expect("a code of the table");
            assert_eq!(name_of(kind), *name);
        }
        for kind in PhiKind::all() {
            assert_eq!(kind_of(name_of(kind)), Some(kind));
        }
        let ssn = PhiKind::from_code("ssn").expect("a code of the table");
        assert_eq!(recognizer_of(ssn), "UsSsnRecognizer");
    }

    #[test]
    fn disabled_kinds_are_not_listed() {
        let listed = supported_entities(&Detector::default());
        assert!(
            listed.contains(&"US_SSN") && !listed.contains(&"US_NPI"),
            "{listed:?}"
        );
    }
}
