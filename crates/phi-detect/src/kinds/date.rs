//! Calendar dates that concern a person.

use super::PhiRule;
use crate::generalize;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "date",
    label: "Date",
    placeholder: "[DATE]",
    summary: "Days, and months with their year, of anything that concerns a person: visits, admissions, procedures, specimens, deaths, appointments. In figures and in words, and where HL7 v2, X12 and FHIR keep them. Of a date with a time, the date.",
    not_found: "Years alone, weekdays, times, durations, fractions, and dates of guidelines, releases, laws and logs of machines.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(C)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "",
    number: None,
    weights: &[],
    hits: &[
        "Seen in clinic «6/21/2023» for a blood pressure check.",
        "Admitted «May 9, 2022» with pneumonia, discharged «May 14, 2022».",
        "Discharge date: «2022-05-14»",
        "{\"period\":{\"start\":\"«2022-05-09»T08:15:00Z\"}}",
        "DTP*472*D8*«20220509»~",
        "The patient was operated on the «ninth of May» and did well.",
        "Fecha de alta: «14 de mayo de 2022»",
    ],
    misses: &[
        "Diagnosed with asthma in 2015.",
        "Follow up in 6 weeks, POD 2.",
        "Strength 4/5, reflexes 2/4.",
        "v3.1.0 was released on 2022-05-09.",
    ],
    spelling: Spelling::Words,
    generalize: Some(generalize::date),
    precedence: 0.1,
};
