//! Numbers of licences, passports and certificates.

use super::{Number, PhiRule};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "license",
    label: "Licence number",
    placeholder: "[LICENSE]",
    summary: "Driver's, state, professional and DEA licences, passports and certificates by the words that introduce them.",
    not_found: "Licences of software, schedules, permits and patents.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(K)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "dea|dea number|dea no|driver license|drivers license|driver s license|driver license number|drivers license number|driver s license number|dl|dl number|dl no|license|license number|license no|licence|licence number|licence no|lic no|lic number|medical license|medical license number|medical license no|nursing license|rn license|rn license number|state license|state id|passport|passport number|passport no|certificate number|certificate no|certification number|board certificate|pasaporte|npdb",
    number: Some(Number {
        length: 5..=20,
        digits_min: 4,
        is_valid: |_| true,
    }),
    weights: &[],
    hits: &[
        "Prescriber DEA «BF4417006», schedule II.",
        "driver's license «D5512077» was copied",
        "Passport number «551200771»",
        "RN license number «551207» is active",
        "{\"license_number\":\"«A55120»\"}",
    ],
    misses: &[
        "released under the MIT License",
        "His license was suspended.",
        "DEA schedule II",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.1,
};
