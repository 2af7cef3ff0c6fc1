//! Bodies of the services: scans, LiteLLM's guardrail, Presidio's interface.

use phigate_core::json::Bounds;
use phigate_core::protect::Policy;
use phigate_core::service::{self, ServiceContext, presidio};
use phigate_types::Mode;

use super::Target;
use crate::detectors::QUICK;

pub(super) const TARGET: Target = Target {
    name: "services",
    run,
    // The first byte chooses the service.
    seeds: &[
        br#"0{"texts":["SSN 536-22-8741","Hi."],"action":"mask"}"#,
        br#"1{"texts":["SSN 536-22-8741"],"input_type":"request","structured_messages":[{"role":"user","content":"a"}]}"#,
        br#"2{"text":"SSN 536-22-8741","language":"en","entities":["US_SSN"],"score_threshold":0.5}"#,
        br#"3{"text":"SSN 536-22-8741","anonymizers":{"DEFAULT":{"type":"mask","masking_char":"*","chars_to_mask":4,"from_end":true}},"analyzer_results":[{"entity_type":"US_SSN","start":4,"end":15,"score":1}]}"#,
        br#"3{"text":"abc","anonymizers":{"DEFAULT":{"type":"hash","salt":"0123456789abcdef"}},"analyzer_results":[{"entity_type":"X","start":0,"end":3,"score":1}]}"#,
    ],
};

fn run(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else {
        return;
    };
    let context = ServiceContext {
        scanner: &QUICK,
        policy: Policy::uniform(Mode::MASK),
        bounds: Bounds {
            depth_max: 64,
            values_max: 10_000,
        },
    };
    let body = body.to_vec();
    let answered = match first % 4 {
        0 => service::scan(&context, body),
        1 => service::guard(&context, body),
        2 => presidio::analyze(&context, body),
        _ => presidio::anonymize(&context, body, |_, _, _| "hash".to_owned()),
    };
    if let Ok(answer) = answered {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(answer.body.expose()).is_ok();
        assert!(is_json, "answered something else than JSON");
    }
}
