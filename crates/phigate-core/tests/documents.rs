//! Documents inside requests: read as text beforehand, scanned with the request, and replaced by their changed text.

use std::sync::LazyLock;

use phi_detect::Detector;
use phigate_core::doors::{CHAT, COUNT_TOKENS, Door, MESSAGES, RESPONSES};
use phigate_core::egress;
use phigate_core::protect::{self, Outcome, Policy, Scanned, Scanner};
use phigate_core::request::{Request, RequestLimits};
use phigate_core::wire::{self, Site};
use phigate_types::{DocumentText, NoText, Passage, Place, ProviderKind, Unread};
use serde_json::{Value, json};

const SSN: &str = "SSN 536-22-8741";

/// Bytes of a document, which only its reader understands.
const BASE64: &str = "UEsDBBQAAAAIAHJlYWQtYnktaXRzLXJlYWRlcgAA";

fn scanner() -> &'static Scanner {
    static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(Detector::default()));
    &SCANNER
}

/// Returns a document with this text on its second page.
fn text(words: &str) -> Result<DocumentText, NoText> {
    let passages = ["The usual doses.", words].into_iter().zip(1..);
    let passages = passages.map(|(words, page)| Passage::at(Place::Page(page), words.to_owned()));
    Ok(DocumentText {
        passages: passages.collect(),
        ..DocumentText::default()
    })
}

/// Returns a body around parts.
type BodyAround = fn(Vec<Value>) -> Value;

/// Returns each door that takes documents, with a body around parts, and its part for a document.
fn doors() -> Vec<(&'static Door, BodyAround, Value, &'static str)> {
    let url = format!("data:application/pdf;base64,{BASE64}");
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": BASE64});
    let document = json!({"type": "document", "source": source, "title": "doses", "cache_control": {"type": "ephemeral"}});
    let messages = |parts| json!({"model": "claude-opus-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": parts}]});
    let chat = |parts| json!({"model": "gpt-4o", "messages": [{"role": "user", "content": parts}]});
    let responses = |parts| json!({"model": "gpt-4o", "store": false, "input": [{"role": "user", "content": parts}]});
    let file = json!({"type": "file", "file": {"filename": "doses.pdf", "file_data": url}});
    let input = json!({"type": "input_file", "filename": "doses.pdf", "file_data": url});
    vec![
        (&CHAT, chat, file, "messages"),
        (&MESSAGES, messages, document.clone(), "messages"),
        (&COUNT_TOKENS, messages, document, "messages"),
        (&RESPONSES, responses, input, "input"),
    ]
}

fn scanned(door: &Door, body: &Value, texts: Vec<Result<DocumentText, NoText>>) -> Scanned {
    let bytes = body.to_string().into_bytes();
    let request = Request::read(door.form, bytes, &RequestLimits::default()).unwrap();
    assert_eq!(request.inline_documents().len(), texts.len(), "{body}");
    protect::scan(scanner(), request.with_texts(texts))
}

fn outcome(mode: &str, scanned: Scanned) -> Outcome {
    protect::apply(&Policy::uniform(mode.parse().unwrap()), scanner(), scanned)
}

/// Returns what is forwarded, and the names of changed parameters.
fn forwarded(mode: &str, scanned: Scanned) -> (String, Vec<String>) {
    match outcome(mode, scanned) {
        Outcome::Forward(clean) => (
            clean.request().document().expose().to_owned(),
            clean.adjusted().to_vec(),
        ),
        other => panic!("not forwarded: {other:?}"),
    }
}

#[test]
fn document_with_phi_becomes_text_when_masked() {
    for (door, body, part, parameter) in doors() {
        let body = body(vec![part.clone()]);
        for (mode, wanted) in [("mask", "SSN [SSN]"), ("redact", "SSN ")] {
            let (sent, adjusted) = forwarded(mode, scanned(door, &body, vec![text(SSN)]));
            let sent: Value = serde_json::from_str(&sent).unwrap();
            let became = &sent[parameter][0]["content"][0];
            assert_eq!(became["text"], format!("The usual doses.\n\n{wanted}"));
            let kind = if door.id() == "responses" {
                "input_text"
            } else {
                "text"
            };
            assert_eq!(became["type"], kind);
            assert_eq!(became.get("cache_control"), part.get("cache_control"));
            assert_eq!(adjusted, [parameter]);
        }
        let flagged = scanned(door, &body, vec![text(SSN)]);
        let finding = &flagged.report().findings()[0];
        assert_eq!(
            finding.path,
            format!("{parameter}[0].content[0].file#page=2")
        );
        assert_eq!((finding.start, finding.end), (4, 15));
        assert!(flagged.report().unscannable().is_empty());
        assert_eq!(forwarded("flag", flagged), (body.to_string(), Vec::new()));
        let blocked = outcome("block", scanned(door, &body, vec![text(SSN)]));
        assert!(matches!(blocked, Outcome::Block(_)), "{}", door.id());
    }
}

#[test]
fn clean_document_is_forwarded_unchanged() {
    for (door, body, part, _) in doors() {
        // Found beside it, but not in it.
        let kind = if door.id() == "responses" {
            "input_text"
        } else {
            "text"
        };
        let body = body(vec![json!({"type": kind, "text": SSN}), part]);
        let (sent, adjusted) = forwarded("mask", scanned(door, &body, vec![text("One tablet.")]));
        assert_eq!(sent, body.to_string().replace(SSN, "SSN [SSN]"));
        assert_eq!(adjusted, [""; 0]);
    }
}

#[test]
fn only_document_with_phi_is_replaced() {
    let (door, body, part, _) = doors().swap_remove(0);
    let body = body(vec![part.clone(), part.clone(), part.clone()]);
    let texts = vec![text("One."), text(SSN), text("Three.")];
    let (sent, _) = forwarded("mask", scanned(door, &body, texts));
    let sent: Value = serde_json::from_str(&sent).unwrap();
    let parts = &sent["messages"][0]["content"];
    assert_eq!([&parts[0], &parts[2]], [&part, &part]);
    assert_eq!(parts[1]["type"], "text");
}

#[test]
fn unread_document_is_refused_with_reason() {
    for (door, body, part, parameter) in doors() {
        let body = body(vec![part]);
        for reason in Unread::all() {
            let texts = || vec![Err(NoText::Unread(reason))];
            let Outcome::Refuse(error, report) = outcome("mask", scanned(door, &body, texts()))
            else {
                panic!("not refused")
            };
            assert_eq!(error.code.code(), "unscannable_content");
            assert!(error.message.contains(reason.words()), "{}", error.message);
            let path = format!("{parameter}[0].content[0]");
            assert_eq!(error.param, Some(path.clone()));
            assert_eq!(report.unscannable()[0].path, path);
            assert_eq!(report.unscannable()[0].kind, reason.code());
            let (sent, _) = forwarded("flag", scanned(door, &body, texts()));
            assert_eq!(sent, body.to_string());
        }
        let no_reader = outcome("mask", scanned(door, &body, vec![Err(NoText::NoReader)]));
        assert!(matches!(no_reader, Outcome::Unfinished(_)));
    }
}

#[test]
fn bytes_of_documents_are_not_text() {
    for (door, body, part, _) in doors() {
        // Base64 of an SSN, as chance might give it.
        let part = part.to_string().replace(BASE64, "U1NOIDUzNi0yMi04NzQx");
        let body = body(vec![serde_json::from_str(&part).unwrap()]);
        for read in [text("One tablet."), Err(NoText::Unread(Unread::Image))] {
            let found = scanned(door, &body, vec![read]);
            assert!(!found.report().has_phi(), "{}", door.id());
        }
    }
}

#[test]
fn names_of_parts_with_phi_are_numbered() {
    let (door, body, part, _) = doors().swap_remove(0);
    let named = |sheet: &str| {
        let place = Place::Cell {
            sheet: 0,
            row: 6,
            column: 1,
        };
        let text = DocumentText {
            passages: vec![Passage::at(place, SSN.to_owned())],
            sheets: vec![sheet.to_owned()],
            parts: Vec::new(),
        };
        let found = scanned(door, &body(vec![part.clone()]), vec![Ok(text)]);
        found.report().findings()[0].path.to_string()
    };
    let file = "messages[0].content[0].file";
    assert_eq!(named("Doses"), format!("{file}#sheet=Doses!B7"));
    assert_eq!(named("SSN 402-61-7784"), format!("{file}#sheet={{0}}!B7"));
}

#[test]
fn text_of_background_is_sent_if_changed() {
    let (door, body, part, _) = doors().swap_remove(0);
    let mut document = text(SSN).unwrap();
    for words in ["Heading 1", "SSN 402-61-7784"] {
        let mut passage = Passage::at(Place::Page(1), words.to_owned());
        passage.background = true;
        document.passages.push(passage);
    }
    let (sent, _) = forwarded("mask", scanned(door, &body(vec![part]), vec![Ok(document)]));
    assert!(
        sent.contains("SSN [SSN]\\n\\nSSN [SSN]") && !sent.contains("Heading"),
        "{sent}"
    );
}

#[test]
fn part_with_more_than_document_is_refused() {
    let url = format!("data:application/pdf;base64,{BASE64}");
    for part in [
        json!({"type": "file", "file": {"file_id": "file-1"}}),
        json!({"type": "file", "file": {"file_id": "file-1", "file_data": url}}),
        json!({"type": "file", "file": {"file_data": url}, "image_url": {"url": url}}),
        json!({"type": "file", "file": {"file_data": {"url": url}}}),
        json!({"type": "image_url", "image_url": {"url": url}}),
        json!({"type": "text", "text": "a", "file": {"file_data": url}}),
    ] {
        let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": [part]}]});
        let refused = outcome("mask", scanned(&CHAT, &body, Vec::new()));
        assert!(matches!(refused, Outcome::Refuse(..)), "{body}");
    }
}

#[test]
fn clean_document_is_translated_for_other_providers() {
    let (door, body, part, _) = doors().swap_remove(0);
    // Base64 that would read as PHI if it were scanned as a text.
    let part = part.to_string().replace(BASE64, "U1NOIDUzNi0yMi04NzQx");
    let part: Value = serde_json::from_str(&part).unwrap();
    for (model, kind) in [
        ("claude-opus-4-5", ProviderKind::Anthropic),
        ("gemini-2.5-flash", ProviderKind::Google),
    ] {
        let mut body = body(vec![
            json!({"type": "text", "text": "Which doses?"}),
            part.clone(),
        ]);
        body["model"] = model.into();
        let scanned = scanned(door, &body, vec![text("One tablet.")]);
        let Outcome::Forward(clean) = outcome("mask", scanned) else {
            panic!("not forwarded")
        };
        let format = wire::format_for_model(model).unwrap();
        let request = format.write_request(&clean, &Site::new(kind, model), &|_| String::new());
        let cleared = egress::clear(scanner(), request.unwrap()).unwrap();
        let sent = String::from_utf8(cleared.into_body()).unwrap();
        assert!(sent.contains("U1NOIDUzNi0yMi04NzQx"), "{sent}");
    }
}
