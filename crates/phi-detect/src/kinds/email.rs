//! E-mail addresses.
//!
//! The dot-atom form of RFC 5322 with a domain by RFC 1035 and RFC 5890, also with
//! spaces round the sign, and spelled out: "jane [at] example [dot] org".

use super::{Meaning, PhiRule};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "email",
    label: "Email",
    placeholder: "[EMAIL]",
    summary: "E-mail addresses, with international letters, with spaces around the @, and spelled out with \
        \"at\" and \"dot\" in brackets or in words.",
    not_found: "Handles without a domain (@clinic), package names and versions (left-pad@1.3.0), connection strings without a dotted host; addresses that nobody reads (noreply@) and samples (user@example.com).",
    authority: "RFC 5322 section 3.4.1 (addr-spec); RFC 1035 and RFC 5890 (domain names)",
    threshold: 0.5,
    is_on_by_default: true,
    labels: &[(
        Meaning::Email,
        "email|e mail|emails|email address|e mail address|mail|correo|correo electronico|gmail",
    )],
    keys: &[],
    cues: "",
    number: None,
    weights: &[],
    hits: &[
        "Send the results to «maria.delgado@examplehealth.org» please.",
        "<«jane.roe+lab@mail.example.com»>, thanks",
        "write «jane_roe@example.co.uk».",
        "mail «JANE@EXAMPLE.ORG»",
        "write to «tom.o'neil@example.ie»",
        "«jane.roe [at] example [dot] org» is hers",
        "reach me: «jane at example dot com»",
        "«jane.roe @ example.org»",
        "write «jane.roe[@]example[.]org» or «jane (@) example (.) org»",
        "write «jane.roe_at_example_dot_org», «jane-at-example-dot-org»",
        "From: «bounce+jane.roe=example.org@lists.example.com»",
        "«jane.roe {at} example {dot} co {dot} uk», «jane<at>example<dot>org»",
    ],
    misses: &[
        "<img src=\"logo@2x.png\" srcset=\"hero@3x.webp 3x\"> icons-64x64@2.tar",
        "follow @examplehealth today",
        "npm install left-pad@1.3.0",
        "BP 120/80 @ 0800",
        "clone git@example.com:org/tool.git",
        "write to user@example.com or you@company.com",
        "Co-Authored-By: Build Bot <noreply@example.com>, do-not-reply@example.org",
        "meet at noon. dot the i",
        "Send to  please.",
        "look_at_the_dot_com_boom, run-at-start, x[@]y",
    ],
    spelling: Spelling::Exact,
    generalize: None,
    precedence: 0.40,
};
