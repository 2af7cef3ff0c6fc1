//! Organisations that say where a person was, works or studies.

use super::PhiRule;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "facility",
    label: "Facility",
    placeholder: "[FACILITY]",
    summary: "Hospitals, clinics, practices, pharmacies, laboratories, homes, employers and schools of a person.",
    not_found: "Insurers, drug makers, software, agencies, and organisations that recommend something.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(R)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "facility|facility name|hospital|clinic|employer|school|pharmacy|practice|practice name|laboratory|lab name|\
        service provider|organization|organisation|place of employment|referring facility|sending facility|works at|working at|\
        employed at|employed by|works for|attends|dialyzes at|transferred from|transferred to|admitted to|discharged to|seen at|\
        care at|hospitalized at|student at|trabaja en|hospital name",
    number: None,
    weights: &[],
    hits: &[
        "She was transferred from «Mercy General Hospital» last night.",
        "Discharged to «Willow Creek Nursing Home».",
    ],
    misses: &[
        "Mayo Clinic recommends a low-salt diet.",
        "The hospital was full.",
    ],
    spelling: Spelling::Words,
    generalize: None,
    precedence: 0.05,
};
