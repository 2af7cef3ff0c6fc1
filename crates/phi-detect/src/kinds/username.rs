//! Names of logins and handles.

use super::PhiRule;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "username",
    label: "User name",
    placeholder: "[USERNAME]",
    summary: "Login names and handles by the words that introduce them, and handles behind a sign.",
    not_found: "Decorators, packages and settings of programs.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(R)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "username|user name|user id|userid|login|login name|login id|logon|screen name|handle|instagram handle|twitter handle|skype name|portal username|portal login|mychart login name|mychart username|chat id|account name|usuario|nombre de usuario",
    number: None,
    weights: &[],
    hits: &[
        "Her portal username is «rfeld_1961».",
        "Login: «jdelgado4», password reset sent.",
        "posts as «@seizure_sam» online",
        "{\"username\":\"«rosa.runs61»\"}",
    ],
    misses: &[
        "Username and password are required.",
        "@Override public String toString()",
        "npm install @types/node",
    ],
    spelling: Spelling::Exact,
    generalize: None,
    precedence: 0.1,
};
