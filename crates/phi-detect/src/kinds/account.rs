//! Numbers of accounts, cards and statements.

use super::{Number, PhiRule};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "account",
    label: "Account number",
    placeholder: "[ACCOUNT]",
    summary: "Bank, routing, card, hospital and billing account numbers by the words that introduce them, and card numbers and IBANs by their check digits.",
    not_found: "Codes of payers, ledgers and cost centres.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(J)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "account|account number|account no|account id|acct|acct number|acct no|bank account|bank account number|bank account no|checking account|savings account|routing|routing number|routing no|card number|card no|card on file|credit card|credit card number|debit card|visa|mastercard|amex|discover card|iban|billing account|billing account number|hospital account|hospital account number|patient account|patient account number|patient account no|guarantor account|guarantor account number|guarantor number|statement number|har",
    number: Some(Number {
        length: 5..=34,
        digits_min: 4,
        is_valid: |_| true,
    }),
    weights: &[],
    hits: &[
        "Bank account «000187654321», routing number «123456780».",
        "Card on file «4539 1488 0343 6467».",
        "Billing account # «BA-44170-02»",
        "acct# «66500124»",
        "IBAN «DE89370400440532013000»",
    ],
    misses: &[
        "The account executive called.",
        "Stopped on account of nausea.",
        "Payer ID 60054",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.1,
};
