//! Identifiers of fingerprints, voices and faces.

use super::{Number, PhiRule};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "biometric",
    label: "Biometric id",
    placeholder: "[BIOMETRIC]",
    summary: "Numbers of fingerprints, voiceprints, face, iris, retina and palm templates by the words that introduce them.",
    not_found: "Findings of an examination, and fingerprints of programs.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(P)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "fingerprint id|fingerprint number|fingerprint template id|voiceprint|voiceprint id|voice print|voice print id|voice print reference|voiceprint number|face id number|face template id|face template|facial recognition id|facial id|retinal scan id|retina scan id|iris template|iris template number|iris scan id|iris id|palm vein id|palm vein enrollment id|palm print id|biometric id|biometric number|biometric template|biometric template id",
    number: Some(Number {
        length: 4..=24,
        digits_min: 3,
        is_valid: |_| true,
    }),
    weights: &[],
    hits: &[
        "Fingerprint ID «FP-55120-LT4» was enrolled.",
        "Voiceprint ID «VP0055120» matched",
        "Iris template number «IR-55120-7»",
    ],
    misses: &[
        "Fingerprints were taken by police.",
        "Facial droop on the left",
        "key fingerprint SHA256",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.1,
};
