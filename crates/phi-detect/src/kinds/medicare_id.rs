//! Medicare numbers: the beneficiary identifier (MBI), and the older claim numbers still in use.
//!
//! An MBI has eleven characters whose classes CMS fixed position by position, from
//! an alphabet without S, L, O, I, B and Z. A health insurance claim number (HICN)
//! is an SSN and a beneficiary code; railroad numbers put letters first.

use super::{Evidence, Meaning, PhiRule, Shape};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "medicare_id",
    label: "Medicare ID",
    placeholder: "[MEDICARE_ID]",
    summary: "Medicare beneficiary identifiers by CMS's position grammar, in any case, with or without dashes, \
        spaces or dots; claim numbers (HICN) and railroad numbers.",
    not_found: "Medicaid and commercial member numbers; codes of eleven characters that break the grammar and that nothing labels as Medicare.",
    authority: "CMS, Understanding the Medicare Beneficiary Identifier Format; CMS, HICN and RRB claim number structure",
    threshold: 0.5,
    is_on_by_default: true,
    labels: &[(
        Meaning::Medicare,
        "medicare|medicare id|medicare number|medicare no|medicare num|medicare beneficiary|\
            medicare beneficiary id|medicare beneficiary identifier|medicare beneficiary number|\
            medicare claim number|medicare card|medicare card number|medicare hic|medicare hicn|medicare mbi|mbi|\
            mbis|mbi number|mbi no|hic|hicn|hic number|hic no|hicn number|health insurance claim number|\
            beneficiary id|beneficiary identifier|railroad medicare|railroad medicare no|railroad retirement no|\
            railroad retirement number|railroad retirement|rrb|rrb number|medicareid|medicare identifier|bene id|\
            medicare identification number|us mbi",
    )],
    keys: &[],
    cues: "",
    number: None,
    weights: &[
        // Shape and evidence, then how sure they make us and the name of the rule.
        (Shape::Value, Evidence::Field, 0.97, "medicare_id.field"),
        (Shape::Value, Evidence::Label, 0.99, "medicare_id.labelled"),
        (
            Shape::Misspelled,
            Evidence::Label,
            0.85,
            "medicare_id.misspelled",
        ),
        (Shape::Value, Evidence::Form, 0.93, "medicare_id.grammar"),
        (Shape::Tied, Evidence::Form, 0.8, "medicare_id.grammar"),
        (Shape::Spelled, Evidence::Form, 0.93, "medicare_id.spoken"),
        (
            Shape::ClaimNumber,
            Evidence::Label,
            0.97,
            "medicare_id.claim_number",
        ),
        (
            Shape::ClaimNumber,
            Evidence::Form,
            0.75,
            "medicare_id.claim_number",
        ),
        (
            Shape::Railroad,
            Evidence::Label,
            0.95,
            "medicare_id.railroad",
        ),
        (Shape::Dashed, Evidence::Label, 0.97, "medicare_id.railroad"),
    ],
    hits: &[
        "The patient's Medicare ID is «1EG4-TE5-MK73», please summarise.",
        "mbi «1eg4te5mk73»",
        "«1EG4TE5MK73»",
        "MBI «1EG4 TE5 MK73» verified",
        "HICN «123-45-6789A»",
        "HIC number «123-45-6789-A» on file",
        "railroad Medicare no. «WD 123456789»",
        "Medicare number «123456789A»",
        "Railroad Medicare «WA123456789»",
        "MBI=«1EG4.TE5.MK73», MBI: «1EG4 - TE5 - MK73»",
        "MBI «IEG4-TE5-MK73» (fax)",
        "SSN «123-45-6789A» on the old card",
        "MBIs «1EG4TE5MK73»/«1EG4-TE5-MK74», 1-«1EG4TE5MK75»",
        "«one e g four, t e five, m k seven three»",
        "{\"mbi\":\"«1EG4TE5MK7»\"}",
    ],
    misses: &[
        "Medicare , please",
        "lot 1BG4TE5MK73",
        "Medicaid ID 1234567890",
        "Medicare part B since 2019",
        "Commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad breaks the build.",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.32,
};
