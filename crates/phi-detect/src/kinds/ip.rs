//! Internet addresses.

use super::PhiRule;
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "ip",
    label: "IP address",
    placeholder: "[IP]",
    summary: "IPv4 and IPv6 addresses.",
    not_found: "Version numbers, and addresses of the machine itself.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(O)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "",
    number: None,
    weights: &[],
    hits: &[
        "The login came from «73.162.44.218» last night.",
        "from «2001:db8:85a3::8a2e:370:7334»",
    ],
    misses: &["Firmware 4.2.1.0", "version 1.2.3.4", "bind to 127.0.0.1"],
    spelling: Spelling::Exact,
    generalize: None,
    precedence: 0.2,
};
