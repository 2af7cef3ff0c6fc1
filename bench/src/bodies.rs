//! Requests to send: prose without any identifier, and no two alike.
//!
//! A gateway may remember texts that it has scanned; here every text is new.

use bytes::Bytes;

/// Plain words of the kind that fill clinical questions.
const WORDS: &[&str] = &[
    "the",
    "patient",
    "reports",
    "mild",
    "pain",
    "after",
    "exercise",
    "and",
    "asks",
    "whether",
    "a",
    "lower",
    "dose",
    "of",
    "the",
    "medication",
    "would",
    "help",
    "with",
    "sleep",
    "because",
    "symptoms",
    "return",
    "at",
    "night",
    "please",
    "summarise",
    "what",
    "guidelines",
    "say",
    "about",
    "long",
    "term",
    "treatment",
    "in",
    "adults",
    "who",
    "also",
    "have",
    "high",
    "blood",
    "pressure",
    "or",
    "diabetes",
    "and",
    "list",
    "common",
    "side",
    "effects",
    "first",
];

/// How a request looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    bytes: usize,
    stream: bool,
}

impl Body {
    pub(crate) const fn text(bytes: usize) -> Self {
        Self {
            bytes,
            stream: false,
        }
    }

    pub(crate) const fn stream(bytes: usize) -> Self {
        Self {
            bytes,
            stream: true,
        }
    }

    /// Request number `number` of this look.
    pub(crate) fn make(self, number: u64) -> Bytes {
        let mut text = String::with_capacity(self.bytes + 16);
        // A small generator of our own: the same words on every machine and in every run.
        let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut words_left = 0;
        while text.len() < self.bytes {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let word = WORDS[usize::try_from(state % WORDS.len() as u64).unwrap_or(0)];
            if words_left == 0 {
                text.push_str(if text.is_empty() { "" } else { ". " });
                words_left = 8 + state % 12;
            } else {
                text.push(' ');
            }
            text.push_str(word);
            words_left -= 1;
        }
        let stream = if self.stream { r#","stream":true"# } else { "" };
        Bytes::from(format!(
            r#"{{"model":"gpt-4o","messages":[{{"role":"user","content":"{text}"}}]{stream}}}"#
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_their_size_and_are_all_different() {
        let bodies: Vec<Bytes> = (0..200)
            .map(|number| Body::text(4096).make(number))
            .collect();
        for (number, body) in bodies.iter().enumerate() {
            assert!((4096..4300).contains(&body.len()));
            assert!(serde_json::from_slice::<serde_json::Value>(body).is_ok());
            assert!(!bodies[..number].contains(body));
        }
    }
}
