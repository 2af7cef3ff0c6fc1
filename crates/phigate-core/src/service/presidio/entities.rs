//! Presidio's names for kinds of PHI.

use std::sync::LazyLock;

use phi_detect::{Detector, PhiKind};

/// The kind's code and Presidio's name. Kinds that are not listed have their code in capitals as name.
const NAMES: &[(&str, &str)] = &[
    // Alphabetical.
    ("address", "LOCATION"),
    ("date", "DATE_TIME"),
    ("dob", "DATE_OF_BIRTH"),
    ("email", "EMAIL_ADDRESS"),
    ("facility", "ORGANIZATION"),
    ("ip", "IP_ADDRESS"),
    ("medicare_id", "US_MBI"),
    ("mrn", "MEDICAL_RECORD_NUMBER"),
    ("name", "PERSON"),
    ("npi", "US_NPI"),
    ("phone", "PHONE_NUMBER"),
    ("place", "LOCATION"),
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
    let own = own_kinds(detector).iter().copied().map(name_of);
    let table = looked_for(detector).map(|one| one.name.as_str());
    each_once(table.chain(own))
}

/// The recognisers of a detector, named in Presidio's style.
pub fn recognizers(detector: &Detector) -> Vec<&'static str> {
    let own = own_kinds(detector).iter().copied().map(recognizer_of);
    let table = looked_for(detector).map(|one| one.recognizer.as_str());
    each_once(table.chain(own))
}

/// Names without repetitions: two kinds are one entity to Presidio.
fn each_once(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut once = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

fn looked_for(detector: &Detector) -> impl Iterator<Item = &'static Entity> {
    ENTITIES.iter().filter(|one| detector.looks_for(one.kind))
}

/// The kinds that the account defines.
fn own_kinds(detector: &Detector) -> &[PhiKind] {
    phi_detect::own_kinds(detector).unwrap_or_default()
}

/// Presidio's name for a kind. A kind that an account defines has its code in capitals as name.
pub(super) fn name_of(kind: PhiKind) -> &'static str {
    let own = || kind.placeholder().trim_matches(['[', ']']);
    entity(kind).map_or_else(own, |one| one.name.as_str())
}

/// The recogniser of a kind. A kind that an account defines has its name.
pub(super) fn recognizer_of(kind: PhiKind) -> &'static str {
    entity(kind).map_or_else(|| name_of(kind), |one| one.recognizer.as_str())
}

/// The first kind of an entity; `None` if neither the table nor the account has it.
pub(super) fn kind_of(detector: &Detector, name: &str) -> Option<PhiKind> {
    let found = ENTITIES.iter().find(|one| one.name == name);
    let own = || own_kinds(detector).iter().copied();
    let own = || own().find(|kind| name_of(*kind) == name);
    found.map(|one| one.kind).or_else(own)
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
    fn every_name_leads_to_its_kind() {
        assert!(NAMES.is_sorted_by_key(|row| row.0));
        for (code, name) in NAMES {
            let kind = PhiKind::from_code(code).expect("a code of the table");
            assert_eq!(name_of(kind), *name);
        }
        for kind in PhiKind::all() {
            let name = name_of(kind);
            let found = kind_of(&Detector::default(), name);
            assert_eq!(found.map(name_of), Some(name));
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
        let all = Detector::default().with_profile(phi_detect::Profile::SafeHarbor);
        let listed = supported_entities(&all);
        let places = listed.iter().filter(|name| **name == "LOCATION");
        assert_eq!(places.count(), 1);
        for name in ["DATE_TIME", "AGE", "ORGANIZATION", "URL", "IP_ADDRESS"] {
            assert!(listed.contains(&name), "{name}");
        }
    }
}
