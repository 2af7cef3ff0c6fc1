//! The JSON reader: accepted text is JSON with the same meaning for every parser.

use phigate_core::json::{Bounds, Document, Kind, Value};
use serde::de::IgnoredAny;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "json",
    run,
    seeds: &[
        br#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi \u00e9 \ud83d\ude00"}],"n":1.5e3,"x":[true,null,-0]}"#,
        br#"[1,"a",{"a":{"b":[]}},"\n\"\\\/"]"#,
        br#"{"a":1,"a":2}"#,
        b"\"\xed\xa0\x80\"",
        br#""\ud800""#,
    ],
};

fn run(bytes: &[u8]) {
    let bounds = Bounds {
        depth_max: 64,
        values_max: 10_000,
    };
    let Ok(document) = Document::parse(bytes.to_vec(), bounds) else {
        return;
    };
    let is_json = serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
    assert!(is_json, "accepted what is not JSON");
    // Numbers beyond the range of machine types are fine as text; the other reader rejects them.
    if let Ok(theirs) = serde_json::from_slice(bytes) {
        assert!(is_same(&document.root(), &theirs), "read differently");
    }
    for value in document.nodes() {
        assert!(document.expose().get(value.span()).is_some());
    }
    assert_eq!(document.into_bytes(), bytes);
}

fn is_same(ours: &Value<'_>, theirs: &serde_json::Value) -> bool {
    match (ours.kind(), theirs) {
        (Kind::Null, serde_json::Value::Null) => true,
        (Kind::Bool, serde_json::Value::Bool(truth)) => ours.bool() == Some(*truth),
        (Kind::Number, serde_json::Value::Number(_)) => ours.number().is_some(),
        (Kind::String, serde_json::Value::String(text)) => ours.string().as_deref() == Some(text),
        (Kind::Array, serde_json::Value::Array(items)) => {
            ours.values().count() == items.len()
                && ours
                    .values()
                    .zip(items)
                    .all(|(one, other)| is_same(&one, other))
        }
        (Kind::Object, serde_json::Value::Object(members)) => {
            let same = |value: Value<'_>| {
                let key = value.key().and_then(|key| key.string());
                let other = key.and_then(|key| members.get(key.as_ref()));
                other.is_some_and(|other| is_same(&value, other))
            };
            // Compares the number of members too, because the other reader merges duplicate keys.
            ours.values().count() == members.len() && ours.values().all(same)
        }
        _ => false,
    }
}
