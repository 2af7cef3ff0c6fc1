//! Places smaller than a state.

use super::PhiRule;
use crate::generalize;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "place",
    label: "Place",
    placeholder: "[PLACE]",
    summary: "Cities, towns, villages, counties, districts and reservations. The state beside them stays.",
    not_found: "States, countries, languages, wards and rooms.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(B)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "city|town|county|municipality|village|hometown|birthplace|place of birth|city of residence|ciudad|municipio|\
        lives in|live in|living in|resides in|residing in|resident of|moved from|moved to|born in|native of|grew up in|raised in|\
        relocated from|relocated to|originally from|traveled from|travelled from|returned from|drove in from|village of|town of|\
        city of|vive en|reside en|natural de",
    number: None,
    weights: &[],
    hits: &[
        "He lives in «Toledo» with his sister.",
        "City: «Boise»   State: ID",
        "{\"address\":{\"city\":\"«Boise»\",\"state\":\"ID\"}}",
        "Family drove in from «Peoria», IL this morning.",
        "Resident of «Multnomah County», enrolled in the program.",
    ],
    misses: &[
        "He lives in Ohio.",
        "Speaks Spanish.",
        "Transferred to 4 West.",
    ],
    spelling: Spelling::Words,
    generalize: Some(generalize::place),
    precedence: 0.05,
};
