//! The tables of the wire formats keep what they say.

use crate::wire_support::*;
use phigate_core::wire::{
    Treatment, WireFormat, format_for_model, format_of_family, parameters_page,
};
use phigate_types::Mode;
use serde_json::{Value, json};

#[test]
fn parameter_treatment_matches_table_row() {
    for format in all_formats().filter(|format| format.id() != "openai") {
        let model = format.listed_models()[5];
        for parameter in format.parameters() {
            let place = format!("{} {}", format.id(), parameter.name);
            let example: Value =
                serde_json::from_str(parameter.example).expect("examples are JSON");
            let mut request = ask(model, json!({}));
            if parameter.name != "model" {
                request[parameter.name] = example;
            }
            let result = try_send(&request);
            match parameter.treatment {
                Treatment::Refused => assert_eq!(
                    result.err().map(|refusal| refusal.param).as_deref(),
                    Some(parameter.name),
                    "{place}"
                ),
                Treatment::Dropped => assert_eq!(
                    result.ok().map(|sent| sent.dropped),
                    Some(vec![parameter.name.to_owned()]),
                    "{place}"
                ),
                Treatment::Mapped | Treatment::MappedOrNamed | Treatment::Forwarded => {
                    let sent = result.unwrap_or_else(|refusal| panic!("{place}: {refusal:?}"));
                    assert!(
                        sent.dropped.is_empty() && sent.adjusted.is_empty(),
                        "{place}"
                    );
                }
            }
        }
    }
}

#[test]
fn mapped_parameters_change_provider_request() {
    // These have an effect that needs a second parameter, or none on the body.
    let elsewhere = [
        "model",
        "messages",
        "stream_options",
        "tool_choice",
        "parallel_tool_calls",
    ];
    for format in all_formats().filter(|format| format.id() != "openai") {
        let model = format.listed_models()[5];
        let plain = try_send(&ask(model, json!({}))).expect("a plain request can be sent");
        let mapped = |parameter: &&phigate_core::wire::Parameter| {
            matches!(
                parameter.treatment,
                Treatment::Mapped | Treatment::MappedOrNamed
            ) && !elsewhere.contains(&parameter.name)
        };
        for parameter in format.parameters().iter().filter(mapped) {
            let example: Value =
                serde_json::from_str(parameter.example).expect("examples are JSON");
            let sent = try_send(&ask(model, json!({parameter.name: example})))
                .expect("a mapped parameter can be sent");
            assert!(
                sent.body != plain.body || sent.path != plain.path,
                "{} {}",
                format.id(),
                parameter.name
            );
        }
    }
}

#[test]
fn neutral_values_are_accepted_silently() {
    for format in all_formats().filter(|format| format.id() != "openai") {
        let model = format.listed_models()[5];
        for parameter in format
            .parameters()
            .iter()
            .filter(|parameter| parameter.name != "model" && parameter.name != "messages")
        {
            for neutral in parameter.neutral.iter().chain(&["null"]) {
                let value: Value = serde_json::from_str(neutral).expect("neutral values are JSON");
                let sent = try_send(&ask(model, json!({parameter.name: value})));
                let is_silent =
                    sent.is_ok_and(|sent| sent.dropped.is_empty() && sent.adjusted.is_empty());
                assert!(is_silent, "{} {} {neutral}", format.id(), parameter.name);
            }
        }
    }
}

#[test]
fn unknown_parameters_are_dropped_and_named_safely() {
    for model in [ANTHROPIC, GOOGLE, BEDROCK] {
        let sent = try_send(&ask(model, json!({"x_new": 1, "a,b\r\nx: 1": 2})))
            .expect("unknown fields are no reason to refuse");
        let mut names = sent.dropped.clone();
        names.sort();
        assert!(
            names.contains(&"x_new".to_owned())
                && names.iter().all(|name| !name.contains([',', '\r', ' '])),
            "{names:?}"
        );
        assert_eq!(names.len(), 2);
    }
}

#[test]
fn openai_body_is_unchanged_except_alias() {
    let body = "{ \"x_new\" : 1.50,\r\n\"model\":\"gpt-4o\" ,\"messages\":[{\"role\":\"user\",\"content\":\"h\\u00e9\"}]}";
    let sent = send_bytes("gpt-4o", body.as_bytes(), Mode::FLAG).expect("it can be sent");
    assert_eq!(sent.body, body.as_bytes());
    let aliased = send_bytes("gpt-5.2", body.as_bytes(), Mode::FLAG).expect("it can be sent");
    assert_eq!(aliased.body, body.replace("gpt-4o", "gpt-5.2").as_bytes());
}

#[test]
fn each_model_belongs_to_one_family() {
    for (model, family) in [
        ("gpt-4", Some("openai")),
        ("gpt-5.2-2026-01-31", Some("openai")),
        ("chatgpt-4o-latest", Some("openai")),
        ("o3-mini", Some("openai")),
        ("ft:gpt-4o:acme::abc", Some("openai")),
        ("claude-opus-4-5", Some("anthropic")),
        ("gemini-2.5-flash-lite", Some("google")),
        ("models/gemini-pro", Some("google")),
        ("llama-3", None),
        // A provider must say that it speaks Bedrock's format: no name leads there.
        ("amazon.nova-lite-v1:0", None),
        ("o2", None),
        ("gpt-4 ", None),
        ("claude-../../x", None),
        ("gemini-pro:generateContent", None),
        ("models/models/gemini-pro", None),
        ("", None),
    ] {
        assert_eq!(
            format_for_model(model).map(<dyn WireFormat>::id),
            family,
            "{model}"
        );
    }
    let long = format!("gpt-{}", "4".repeat(125));
    assert!(format_for_model(&long).is_none());
}

#[test]
fn listed_models_are_served_by_their_family() {
    for format in all_formats() {
        assert!(format_of_family(format.family()).is_some_and(|found| found.id() == format.id()));
        for model in format.listed_models() {
            assert!(format.serves(model), "{model}");
        }
        for (alias, model) in format.default_aliases() {
            assert!(format.serves(alias) && format.serves(model), "{alias}");
        }
    }
}

#[test]
fn parameters_page_matches_parameter_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/parameters.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, parameters_page()).expect("the page can be written");
    }
    let page = std::fs::read_to_string(path).expect("the page is there");
    assert!(
        page == parameters_page(),
        "docs/parameters.md is old; write it with: make docs"
    );
}
