//! Vehicle identification numbers and plates.

use super::{Number, PhiRule};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "vehicle",
    label: "Vehicle",
    placeholder: "[VEHICLE]",
    summary: "VINs by their check digit or label, and plates by the words that introduce them.",
    not_found: "Models, growth plates and plates of a laboratory.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(L)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "vin|vin number|vin no|vehicle identification number|vehicle id|license plate|license plate number|licence plate|plate|plate number|plate no|tag number|vehicle registration|registration plate|car plate",
    number: Some(Number {
        length: 5..=17,
        digits_min: 2,
        is_valid: |_| true,
    }),
    weights: &[],
    hits: &[
        "struck by a sedan, VIN «1HGCM82633A004352»",
        "License plate «5XYZ881», parked in the bay",
        "plate number «6TRK551»",
    ],
    misses: &[
        "Drives a 2012 Honda Civic.",
        "Growth plate fracture",
        "VIN 3 (vulvar intraepithelial neoplasia)",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.1,
};
