//! Numbers of encounters, specimens, orders, claims and other records about a person.

use super::{Number, PhiRule};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "record_id",
    label: "Record number",
    placeholder: "[RECORD_ID]",
    summary: "Accession, encounter, visit, order, specimen, case, claim, authorisation, prescription, referral, study subject and badge numbers by the words that introduce them, and references such as Patient/123.",
    not_found: "Purchase orders, tickets, parts, code systems and ids of messages.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(R)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "accession|accession number|accession no|accession id|acc no|encounter|encounter number|encounter no|encounter id|csn|fin|fin number|visit number|visit no|visit id|order number|order no|order id|lab order|lab order number|requisition|requisition number|requisition no|specimen|specimen id|specimen number|specimen no|sample id|case number|case no|case id|police case no|police case number|claim|claim number|claim no|claim id|auth number|auth no|authorization|authorization number|authorization no|authorization id|prior auth|prior auth number|prior authorization|prior authorization number|preauthorization number|rx|rx number|rx no|prescription number|prescription no|prescription id|referral|referral number|referral no|referral id|study subject|subject id|subject number|subject no|participant id|participant number|badge|badge number|badge no|badge id|employee id|employee number|episode id|episode number|admission number|admission id|report number|imaging id|exam number|incident number|student id|inmate number|inmate no|placer order number|filler order number|numero de episodio|episodio",
    number: Some(Number {
        length: 3..=24,
        digits_min: 3,
        is_valid: |_| true,
    }),
    weights: &[],
    hits: &[
        "Accession number «S23-004417», two fragments.",
        "Claim # «CLM-22-004417» was denied.",
        "{\"encounterId\":\"«ENC-5512-07»\"}",
        "Rx# «6650012», no refills.",
        "CLM*«CLM0044170»*80***11:B:1~",
        "\"reference\":\"«Patient/f0881»\"",
    ],
    misses: &[
        "PO 4500123987 for gloves",
        "Ticket INC0048213",
        "LOINC 2345-7",
        "in order to avoid delay",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.1,
};
