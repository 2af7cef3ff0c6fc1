//! The strict reader: its refusals, and the positions that it knows.

use std::ops::Range;

use phigate_core::json::{Bounds, Document, JsonProblem, Kind};
use proptest::prelude::*;

const BOUNDS: Bounds = Bounds {
    depth_max: 64,
    values_max: 1000,
};

fn parse(text: &str) -> Result<Document, JsonProblem> {
    Document::parse(text.as_bytes().to_vec(), BOUNDS).map_err(|error| error.problem)
}

#[test]
fn invalid_or_ambiguous_json_is_refused() {
    let rows = [
        ("", JsonProblem::Syntax),
        ("{", JsonProblem::Syntax),
        ("[1,]", JsonProblem::Syntax),
        ("{\"a\":1,}", JsonProblem::Syntax),
        ("01", JsonProblem::Syntax),
        ("1.", JsonProblem::Syntax),
        ("NaN", JsonProblem::Syntax),
        ("1e400", JsonProblem::Syntax),
        ("\"a\nb\"", JsonProblem::Syntax),
        ("\"\\x\"", JsonProblem::Syntax),
        ("\"\\ud800\"", JsonProblem::Syntax),
        ("\"\\ud800\\u0041\"", JsonProblem::Syntax),
        ("\"\\udc00\"", JsonProblem::Syntax),
        ("{} {}", JsonProblem::Syntax),
        ("\u{feff}{}", JsonProblem::Syntax),
        ("// note\n{}", JsonProblem::Syntax),
        ("{\"a\":1,\"a\":2}", JsonProblem::DuplicateKey),
        ("{\"a\":1,\"\\u0061\":2}", JsonProblem::DuplicateKey),
        (
            "[{\"x\":{\"y\":[{\"z\":1,\"z\":2}]}}]",
            JsonProblem::DuplicateKey,
        ),
    ];
    for (text, problem) in rows {
        assert_eq!(parse(text).err(), Some(problem), "{text:?}");
    }
}

#[test]
fn control_character_is_refused_at_its_position() {
    for before in [0, 1, 15, 16, 63, 64, 1000] {
        for control in ['\0', '\n', '\u{1f}'] {
            let text = format!("[\"{}{control}\\n{control}\"]", "é".repeat(before));
            let refused = Document::parse(text.into_bytes(), BOUNDS).unwrap_err();
            let position = 2 + before * 'é'.len_utf8();
            assert_eq!(
                (refused.problem, refused.position),
                (JsonProblem::Syntax, position)
            );
        }
        let text = format!("[\"{}\u{7f} ~\"]", "é".repeat(before));
        assert!(parse(&text).is_ok());
    }
}

#[test]
fn many_keys_are_compared_too() {
    let members: Vec<String> = (0..40).map(|index| format!("\"k{index}\":0")).collect();
    assert!(parse(&format!("{{{}}}", members.join(","))).is_ok());
    let again = format!("{{{},\"k7\":1}}", members.join(","));
    assert_eq!(parse(&again).err(), Some(JsonProblem::DuplicateKey));
}

#[test]
fn nesting_is_bounded_however_deep_it_goes() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(parse(&nested(64)).is_ok());
    assert_eq!(parse(&nested(65)).err(), Some(JsonProblem::TooDeep));
    assert_eq!(parse(&nested(200_000)).err(), Some(JsonProblem::TooDeep));
}

#[test]
fn invalid_utf8_is_refused_with_its_position() {
    let error = Document::parse(b"\"ab\xff\"".to_vec(), BOUNDS).unwrap_err();
    assert_eq!((error.problem, error.position), (JsonProblem::Syntax, 3));
}

#[test]
fn members_and_items_are_found_in_order() {
    let document = parse(r#" {"a":[1,{"b":"x"},[]],"c":null} "#).unwrap();
    let root = document.root();
    let list = root.get("a").unwrap();
    let kinds: Vec<Kind> = list.values().map(|value| value.kind()).collect();
    assert_eq!(kinds, [Kind::Number, Kind::Object, Kind::Array]);
    let inner = list.values().nth(1).unwrap().get("b").unwrap();
    assert_eq!(inner.string().unwrap(), "x");
    assert_eq!(inner.parent().unwrap().position(), 1);
    assert_eq!(root.get("c").unwrap().kind(), Kind::Null);
    assert!(root.get("d").is_none());
}

#[test]
fn space_may_stand_between_all_tokens() {
    let spaced = " \t{ \n\"a\" \r: [ 1 , 2 ,\t[ ] ] , \"b\" : { } } \n";
    let (spaced, dense) = (
        parse(spaced).unwrap(),
        parse(r#"{"a":[1,2,[]],"b":{}}"#).unwrap(),
    );
    let leaves = |document: &Document| -> Vec<String> {
        let leaves = document.nodes().filter(|one| one.values().next().is_none());
        leaves.map(|one| one.raw().replace(' ', "")).collect()
    };
    assert_eq!(leaves(&spaced), leaves(&dense));
}

#[test]
fn json_value_reads_only_as_its_type() {
    let text = r#"{"yes":true,"no":false,"word":"true","number":1.5,"list":["x",{"k":null}]}"#;
    let document = parse(text).unwrap();
    let get = |key: &str| document.root().get(key).unwrap();
    let bools = ["yes", "no", "word", "number"].map(|key| get(key).bool());
    assert_eq!(bools, [Some(true), Some(false), None, None]);
    assert_eq!(
        (get("number").number(), get("yes").number()),
        (Some(1.5), None)
    );
    let held: Vec<&str> = get("list").descendants().map(|one| one.raw()).collect();
    assert_eq!(held, [r#""x""#, r#"{"k":null}"#, r#""k""#, "null"]);
    assert_eq!(document.clone().into_bytes(), text.as_bytes());
}

#[test]
fn spliced_string_may_contain_escapes() {
    let document = parse(r#"["one","t\u0077o",3]"#).unwrap();
    let read = |document: &Document| -> Vec<_> {
        let values = document.root().values();
        values
            .map(|one| (one.span(), one.string().map(String::from)))
            .collect()
    };
    let no_edits: [(Range<usize>, &str); 0] = [];
    assert_eq!(read(&document.splice(&no_edits)), read(&document));
    let first = document.root().values().next().unwrap().span();
    let spliced = document.splice(&[(first, r#""say \"1\"""#)]);
    assert_eq!(spliced.expose(), r#"["say \"1\"","t\u0077o",3]"#);
    assert_eq!(read(&spliced), read(&parse(spliced.expose()).unwrap()));
}

#[test]
fn splicing_a_decoded_span_replaces_its_escapes() {
    let document = parse(r#"{"t":"caf\u00e9 \"5\u00336\" \ud83d\ude00 end"}"#).unwrap();
    let value = document.root().get("t").unwrap();
    let text = value.decoded();
    assert_eq!(text.expose(), "café \"536\" 😀 end");
    let start = text.expose().find("536").unwrap();
    let span = text.span_in_document(start..start + 3);
    let out = document.splice(&[(span, "[X]")]);
    let masked = r#"{"t":"caf\u00e9 \"[X]\" \ud83d\ude00 end"}"#;
    assert_eq!(out.expose(), masked);
}

proptest! {
    /// Splices a document and compares it with reading its bytes.
    #[test]
    fn spliced_document_matches_reparsed_text(
        texts in proptest::collection::vec(r#"[a-z"é\\]{0,8}"#, 1..6),
        replacements in proptest::collection::vec(r"[A-Z\[\]]{0,9}", 6),
    ) {
        let body = serde_json::json!({"a": texts, "b": {"c": [1, null, "x"]}}).to_string();
        let document = parse(&body).unwrap();
        let strings = document.nodes().filter(|one| one.kind() == Kind::String && !one.is_key());
        let spans = strings.map(|one| one.span().start + 1..one.span().end - 1);
        let edits: Vec<_> = spans.step_by(2).zip(&replacements).collect();
        let spliced = document.splice(&edits);
        let read = parse(spliced.expose()).unwrap();
        let seen = |document: &Document| -> Vec<_> {
            let nodes = document.nodes();
            nodes.map(|one| (one.kind(), one.span(), one.string().map(String::from))).collect()
        };
        prop_assert_eq!(seen(&spliced), seen(&read));
    }
}

proptest! {
    /// Accepts only text that serde_json accepts, and reads it equally.
    #[test]
    fn serde_json_accepts_all_we_accept(text in r#"[\[\]{}:,"\\ut0-9a-f.eE+\- ]{0,40}"#) {
        if let Ok(document) = parse(&text) {
            let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
            if let Some(ours) = document.root().string() {
                prop_assert_eq!(theirs.as_str().unwrap(), ours.as_ref());
            }
        }
    }

    /// Every offset of a decoded string leads back to the bytes that spell it.
    #[test]
    fn decoded_offsets_lead_back(content in "\\PC{0,20}", ascii in any::<bool>()) {
        let plain = serde_json::to_string(&content).unwrap();
        let written: String = if ascii {
            plain.chars().flat_map(|c| if c.is_ascii() { vec![c.to_string()] } else {
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
            }).collect()
        } else { plain };
        let document = parse(&written).unwrap();
        let text = document.root().decoded();
        prop_assert_eq!(text.expose(), content.as_str());
        for (start, character) in content.char_indices() {
            let span = text.span_in_document(start..start + character.len_utf8());
            let piece = format!("\"{}\"", &document.expose()[span]);
            prop_assert_eq!(serde_json::from_str::<String>(&piece).unwrap(), character.to_string());
        }
    }
}

#[test]
fn document_with_too_many_values_is_refused() {
    let document = |values: usize| format!("[{}]", vec!["1"; values].join(","));
    assert!(parse(&document(999)).is_ok());
    assert_eq!(parse(&document(1000)).err(), Some(JsonProblem::TooMany));
}
