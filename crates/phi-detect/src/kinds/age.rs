//! Ages over 89.

use super::PhiRule;
use crate::generalize;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "age",
    label: "Age over 89",
    placeholder: "[AGE]",
    summary: "Ages of 90 and more, in figures and in words, and words that mean one.",
    not_found: "Ages up to 89, doses, rates and values, and ages that are a criterion.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(C)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "age|pt age|patient age|age yrs|age years|edad",
    number: None,
    weights: &[],
    hits: &[
        "The patient is a «93»-year-old man with a fall.",
        "«91» y/o F from home.",
        "She is «ninety-six» years old.",
        "This «nonagenarian» lives alone.",
        "AGE: «98»  SEX: F",
    ],
    misses: &[
        "87-year-old man",
        "HR 94, SpO2 96%",
        "patients older than 90 were excluded",
        "Give 92 mg twice daily.",
    ],
    spelling: Spelling::Words,
    generalize: Some(generalize::age),
    precedence: 0.1,
};
