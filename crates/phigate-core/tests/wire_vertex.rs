//! Vertex: Gemini and Claude in the formats of their makers, under paths of Vertex's own.

use crate::wire_support::*;
use phigate_core::wire::{Site, format_of_kind};
use phigate_types::{Mode, ProviderKind};
use serde_json::{Value, json};

const CLAUDE: &str = "claude-sonnet-4-5@20250929";

fn at_vertex(model: &str, region: &str, fields: Value) -> Sent {
    let site = Site {
        project: Some("example.com:kit"),
        region: Some(region),
        ..Site::new(ProviderKind::Vertex, model)
    };
    let format = format_of_kind(ProviderKind::Vertex, model).expect("it can be spoken to");
    let body = ask("m", fields).to_string();
    send_to(format, &site, body.as_bytes(), Mode::FLAG).expect("it can be sent")
}

#[test]
fn each_publisher_has_own_path_and_method() {
    for (model, region, stream, publisher, method, query) in [
        (
            GOOGLE,
            "us-central1",
            false,
            "google",
            "generateContent",
            None,
        ),
        (
            GOOGLE,
            "global",
            true,
            "google",
            "streamGenerateContent",
            Some("alt=sse"),
        ),
        (CLAUDE, "us-east5", false, "anthropic", "rawPredict", None),
        (
            CLAUDE,
            "global",
            true,
            "anthropic",
            "streamRawPredict",
            None,
        ),
    ] {
        let sent = at_vertex(model, region, json!({"stream": stream}));
        let last = format!("{model}:{method}");
        let path = [
            "v1",
            "projects",
            "example.com:kit",
            "locations",
            region,
            "publishers",
            publisher,
            "models",
            &last,
        ];
        assert_eq!(
            (sent.path, sent.query.as_deref()),
            (path.map(str::to_owned).to_vec(), query)
        );
        assert_eq!(sent.headers, [("content-type", "application/json")]);
    }
}

#[test]
fn claude_body_has_version_without_model() {
    let sent = at_vertex(CLAUDE, "us-east5", json!({"stream": true, "max_tokens": 9}));
    let body: Value = serde_json::from_slice(&sent.body).expect("bodies are JSON");
    let expected = json!({"anthropic_version": "vertex-2023-10-16", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]});
    assert_eq!(body, expected);
}

#[test]
fn vertex_gemini_request_matches_google_api() {
    let fields = json!({"max_tokens": 9, "tools": [tool("a")]});
    let sent_there: Value =
        serde_json::from_slice(&at_vertex(GOOGLE, "global", fields.clone()).body)
            .expect("bodies are JSON");
    assert_eq!(sent_there, sent(&ask(GOOGLE, fields)));
}

#[test]
fn vertex_path_requires_project_and_region() {
    let format = format_of_kind(ProviderKind::Vertex, GOOGLE).expect("it can be spoken to");
    let body = ask("m", json!({})).to_string();
    let refused = send_to(
        format,
        &Site::new(ProviderKind::Vertex, GOOGLE),
        body.as_bytes(),
        Mode::FLAG,
    );
    assert!(refused.is_err());
}
