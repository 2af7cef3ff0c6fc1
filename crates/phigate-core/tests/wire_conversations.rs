//! Conversations in the form of each provider.

use crate::wire_support::*;
use serde_json::json;

#[test]
fn pictures_are_encoded_for_each_provider() {
    let with = |url: &str| json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": url}}]}]});
    let png = with("data:image/png;base64,iVBORw0KGgo=");
    check(
        ANTHROPIC,
        &png,
        &[(
            "/messages/0/content/1/source",
            json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}),
        )],
    );
    check(
        GOOGLE,
        &png,
        &[(
            "/contents/0/parts/1/inlineData",
            json!({"mimeType": "image/png", "data": "iVBORw0KGgo="}),
        )],
    );
    check(
        ANTHROPIC,
        &with("data:image/png;base64,_9j_4A=="),
        &[(
            "/messages/0/content/1/source",
            json!({"type": "base64", "media_type": "image/jpeg", "data": "/9j/4A=="}),
        )],
    );
    check(
        ANTHROPIC,
        &with("https://example.org/a.png"),
        &[(
            "/messages/0/content/1/source",
            json!({"type": "url", "url": "https://example.org/a.png"}),
        )],
    );
    for url in [
        "https://example.org/a.png",
        "HTTP://169.254.169.254/",
        "file:///etc/passwd",
        "data:image/png,abc",
        "data:image/png;base64,%00",
        "",
    ] {
        let refusal = try_send(&ask(GOOGLE, with(url)))
            .err()
            .expect("nothing is fetched");
        assert_eq!(
            refusal.param, "messages[0].content[1].image_url.url",
            "{url}"
        );
    }
    assert!(try_send(&ask(ANTHROPIC, with("data:image/tiff;base64,SUkqAA=="))).is_err());
}

#[test]
fn google_system_content_follows_specification() {
    let user = json!({"role": "user", "content": "Hi"});
    let picture =
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}});
    for (messages, first) in [
        (
            json!([{"role": "system", "content": "S"}, user]),
            json!([{"text": "S\n\nHi"}]),
        ),
        (
            json!([{"role": "system", "content": [{"type": "text", "text": "S"}, {"type": "text", "text": "T"}]}, user]),
            json!([{"text": "S\nT\n\nHi"}]),
        ),
        (
            json!([{"role": "system", "content": "S"}]),
            json!([{"text": "S"}]),
        ),
        (
            json!([{"role": "system", "content": "S"}, {"role": "assistant", "content": "A"}]),
            json!([{"text": "S"}]),
        ),
        (
            json!([{"role": "developer", "content": "S"}, {"role": "user", "content": [picture]}]),
            json!([{"text": "S"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]),
        ),
        (
            json!([{"role": "user", "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]}]),
            json!([{"text": "One.\nTwo."}]),
        ),
    ] {
        check(
            GOOGLE,
            &json!({"messages": messages}),
            &[
                ("/contents/0", json!({"role": "user", "parts": first})),
                ("/systemInstruction", json!(null)),
            ],
        );
    }
    let later =
        json!([{"role": "assistant", "content": "A"}, {"role": "system", "content": "S"}, user]);
    check(
        GOOGLE,
        &json!({"messages": later}),
        &[
            ("/contents/1/parts/0/text", json!("S\n\nHi")),
            ("/contents/0/role", json!("model")),
        ],
    );
}

#[test]
fn anthropic_system_content_keeps_cache_marks() {
    let marked = json!([{"role": "system", "content": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "T"}]}, {"role": "user", "content": "Hi"}]);
    check(
        ANTHROPIC,
        &json!({"messages": marked}),
        &[
            (
                "/system/0",
                json!({"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}),
            ),
            ("/system/1/text", json!("\n\nT")),
        ],
    );
    let alone = json!({"messages": [{"role": "system", "content": "S"}]});
    check(
        ANTHROPIC,
        &alone,
        &[
            ("/messages/0/content/0/text", json!("S")),
            ("/system", json!(null)),
        ],
    );
    assert_eq!(names(ANTHROPIC, &alone).0, ["messages"]);
}

#[test]
fn empty_messages_and_unknown_fields_are_reported() {
    for model in [ANTHROPIC, GOOGLE] {
        let silent = json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": ""}, {"role": "user", "content": "b"}]});
        assert_eq!(names(model, &silent).0, ["messages"]);
        let named = json!({"messages": [{"role": "user", "content": "a", "name": "anna"}]});
        assert_eq!(names(model, &named).0, ["messages"]);
        let again = json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "refusal": null, "annotations": [], "audio": null, "reasoning_content": "hm"}]});
        assert_eq!(
            names(model, &again),
            (vec![], vec![]),
            "what a client sends back is known"
        );
        let refused = json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": null, "refusal": "I cannot."}, {"role": "user", "content": "b"}]});
        assert!(sent(&ask(model, refused)).to_string().contains("I cannot."));
        assert_eq!(
            try_send(&ask(
                model,
                json!({"messages": [{"role": "user", "content": ""}]})
            ))
            .err()
            .map(|refusal| refusal.param)
            .as_deref(),
            Some("messages[0].content")
        );
    }
    check(
        ANTHROPIC,
        &json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "It is \n"}]}),
        &[("/messages/1/content/0/text", json!("It is"))],
    );
}

#[test]
fn masked_signed_thoughts_are_not_returned() {
    let request = |thought: &str| {
        let thoughts = json!([
            {"type": "thinking", "thinking": thought, "signature": "c2lnbmVk"},
            {"type": "thinking", "thinking": "And a second one.", "signature": "c2lnbmVkIHRvbw=="},
        ]);
        ask(
            ANTHROPIC,
            json!({"messages": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello", "thinking_blocks": thoughts},
                {"role": "user", "content": "Go on"},
            ]}),
        )
    };
    let sent = send_masked(&request("About SSN 536-22-8741."));
    let body: serde_json::Value =
        serde_json::from_slice(&sent.body).expect("the provider gets JSON");
    assert_eq!(
        body["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "And a second one.", "signature": "c2lnbmVkIHRvbw=="},
            {"type": "text", "text": "Hello"},
        ])
    );
    assert_eq!(sent.adjusted, ["messages"]);
}
