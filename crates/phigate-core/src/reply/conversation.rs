//! Which conversation a request belongs to.

use crate::json::{Document, Kind, Value};

/// Characters of a conversation's name, at most.
const NAME_CHARACTERS_MAX: usize = 128;

/// Whether this may name a conversation: visible ASCII characters, not too many.
pub fn is_conversation_name(name: &[u8]) -> bool {
    (1..=NAME_CHARACTERS_MAX).contains(&name.len()) && name.iter().all(u8::is_ascii_graphic)
}

/// The text that a conversation begins with: its first user message. A chat resends it in every turn, so it tells
/// conversations apart where the caller does not name them. Where nobody speaks as a user, the first message does.
pub fn opening(request: &Document) -> String {
    let messages = request.root().get("messages");
    let messages = || messages.iter().flat_map(Value::values);
    let is_user = |message: &Value<'_>| {
        let role = message.get("role").and_then(|role| role.string());
        role.is_some_and(|role| role == "user")
    };
    let Some(content) = messages()
        .find(is_user)
        .or_else(|| messages().next())
        .and_then(|message| message.get("content"))
    else {
        return String::new();
    };
    match content.string() {
        Some(text) => text.into_owned(),
        None => texts_in(&content),
    }
}

/// The texts of parts. A text says the same as a string and as the only part of a list.
fn texts_in(content: &Value<'_>) -> String {
    let mut out = String::new();
    for part in content.values() {
        match part.get("text").and_then(|text| text.string()) {
            Some(text) => out.push_str(&text),
            None if part.kind() == Kind::Null => {}
            None => out.push_str(part.raw()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Bounds;

    #[test]
    fn a_conversation_is_known_by_its_first_user_message() {
        for (messages, expected) in [
            (r#"[{"role":"user","content":"a\u0062"}]"#, "ab"),
            (
                r#"[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]"#,
                "ab",
            ),
            (r#"[{"role":"system","content":"s"}]"#, "s"),
            (r#"[{"role":"user","content":null}]"#, ""),
            ("[]", ""),
        ] {
            let body = format!(r#"{{"messages":{messages}}}"#);
            let document = Document::parse(body.into_bytes(), Bounds::NONE).expect("it is JSON");
            assert_eq!(opening(&document), expected);
        }
    }

    #[test]
    fn a_name_is_short_and_visible() {
        for (name, expected) in [
            ("visit-17", true),
            ("!", true),
            ("", false),
            ("two words", false),
            ("café", false),
            ("a\tb", false),
        ] {
            assert_eq!(is_conversation_name(name.as_bytes()), expected, "{name}");
        }
        assert!(is_conversation_name(&[b'~'; 128]));
        assert!(!is_conversation_name(&[b'~'; 129]));
    }
}
