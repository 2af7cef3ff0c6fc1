//! Web addresses.

use super::PhiRule;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "url",
    label: "Web address",
    placeholder: "[URL]",
    summary: "Addresses of pages and files on the web, with their scheme or with www.",
    not_found: "Addresses that name code systems, schemas and profiles.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(N)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "",
    number: None,
    weights: &[],
    hits: &[
        "His photos are at «https://www.example.net/visit/4417».",
        "on «www.example.com/nadia»",
    ],
    misses: &[
        "{\"system\":\"http://loinc.org\",\"code\":\"2345-7\"}",
        "the file is on the share",
    ],
    spelling: Spelling::Exact,
    generalize: None,
    precedence: 0.3,
};
