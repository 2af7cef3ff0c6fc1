//! Health plan beneficiary numbers, which insurers call member, subscriber or policy number.
//!
//! Every insurer has a different format, so the label decides.

use super::{BY_LABEL, Evidence, Number, PhiRule, Shape};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "health_plan_id",
    label: "Health plan ID",
    placeholder: "[HEALTH_PLAN_ID]",
    summary: "Member, subscriber, policy, group and Medicaid numbers by the words that introduce them. \
        Off unless an account sets a threshold for it.",
    not_found: "Claim numbers, payer ids, and numbers that nothing labels as a member, policy or group number. \
        Medicare numbers are a kind of their own.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(I)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[(
        BY_LABEL,
        "member id|member no|member number|memberid|subscriber id|subscriber number|subscriber no|policy number|\
        policy no|policy id|insurance id|insurance number|insurance no|insurance policy|plan id|plan number|\
        medicaid id|medicaid number|health plan id|health plan number|health insurance id|health insurance number",
    )],
    keys: &[],
    cues: "member|member number|member no|member id|subscriber|subscriber number|subscriber no|subscriber id|\
        policy|policy number|policy no|policy id|policy holder id|group number|group no|group id|grp|grp no|group|\
        medicaid|medicaid id|medicaid number|medicaid no|medi cal|medi cal id|medi cal number|insurance id|insurance number|\
        insurance no|insurance policy|insurance card number|plan id|plan number|health plan id|health plan number|\
        beneficiary id|beneficiary number|enrollee id|enrollee number|cardholder id|dependent id",
    number: Some(Number {
        length: 5..=20,
        digits_min: 5,
        is_valid: |_| true,
    }),
    weights: &[
        // Shape and evidence, then how sure they make us and the name of the rule.
        (Shape::Value, Evidence::Field, 0.95, "health_plan_id.field"),
        (
            Shape::Value,
            Evidence::Label,
            0.95,
            "health_plan_id.labelled",
        ),
        (
            Shape::Value,
            Evidence::List,
            0.85,
            "health_plan_id.labelled",
        ),
        (Shape::Value, Evidence::Near, 0.7, "health_plan_id.near"),
        (
            Shape::Value,
            Evidence::NamedAfter,
            0.85,
            "health_plan_id.named_after",
        ),
        (
            Shape::Spoken,
            Evidence::Label,
            0.85,
            "health_plan_id.spoken",
        ),
        (
            Shape::Spelled,
            Evidence::Label,
            0.8,
            "health_plan_id.spoken",
        ),
    ],
    hits: &[
        "member ID «XQZ482913445»",
        "Policy number: «ABC-4829134», group «77120»",
        "Member IDs on file; member number «482913445», «482913446»",
        "{\"memberId\":\"«W482913445»\"}",
        "her Medicaid ID at the new address is «48291344»",
        "«482913445» is her subscriber number",
        "subscriber number «four eight two nine one three four four five»",
    ],
    misses: &[
        "member since 2019",
        "claim number 482913445",
        "policy of 2024-01-15",
        "order 482913445",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.2,
};
