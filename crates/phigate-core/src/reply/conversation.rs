//! Name of the conversation that a request belongs to.

/// Characters of a conversation's name, at most.
const NAME_CHARACTERS_MAX: usize = 128;

/// Whether this may name a conversation: visible ASCII characters, not too many.
pub fn is_conversation_name(name: &[u8]) -> bool {
    (1..=NAME_CHARACTERS_MAX).contains(&name.len()) && name.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

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
