//! National provider identifiers.
//!
//! Ten digits, the first a 1 or 2, the last a Luhn check digit over the number with 80840 before it.

use super::{BY_LABEL, Evidence, Number, PhiRule, Shape};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "npi",
    label: "NPI",
    placeholder: "[NPI]",
    summary: "US national provider identifiers with a valid check digit, when labelled as such. \
        Off unless an account sets a threshold for it.",
    not_found: "Ten digits that nothing labels as an NPI, or whose check digit is wrong.",
    authority: "CMS, National Provider Identifier Standard (45 CFR 162.406)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[(BY_LABEL, "npi|npis|npi number|npi no|provider npi")],
    keys: &[],
    cues: "",
    number: Some(Number {
        length: 10..=10,
        digits_min: 10,
        is_valid: has_check_digit,
    }),
    weights: &[
        // Shape and evidence, then how sure they make us and the name of the rule.
        (Shape::Value, Evidence::Field, 0.97, "npi.field"),
        (Shape::Value, Evidence::Label, 0.97, "npi.labelled"),
        (Shape::Value, Evidence::List, 0.9, "npi.labelled"),
        (Shape::Value, Evidence::Near, 0.8, "npi.near"),
        (Shape::Value, Evidence::NamedAfter, 0.9, "npi.named_after"),
        (Shape::Spoken, Evidence::Label, 0.85, "npi.spoken"),
        (Shape::Spelled, Evidence::Label, 0.85, "npi.spoken"),
    ],
    hits: &[
        "NPI «1234567893»",
        "NPIs: «1234567893», «1245319599»",
        "{\"npi\":\"«1234567893»\"}",
        "the NPI of the referring surgeon was given as «1234567893»",
        "«1234567893» is his NPI",
        "NPI «one two three four five six seven eight nine three»",
    ],
    misses: &[
        "NPI 1234567890",
        "order 1234567893",
        "phone 1234567893",
        "NPI pending",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.2,
};

/// The Luhn check over the digits with 80840 before them.
fn has_check_digit(value: &[u8]) -> bool {
    let digits = b"80840".iter().chain(value).rev();
    let sum: u32 = digits
        .map(|byte| u32::from(byte.wrapping_sub(b'0')))
        .enumerate()
        .map(|(place, digit)| match place % 2 {
            1 => digit * 2 / 10 + digit * 2 % 10,
            _ => digit,
        })
        .sum();
    matches!(value.first(), Some(b'1' | b'2')) && sum.is_multiple_of(10)
}
