//! Anthropic's Messages, and the counting of their tokens: for models of providers that speak this format themselves.

mod check;
mod form;
mod replies;
mod unscannable;
mod watch;

use phigate_types::ErrorFormat;

use super::silent::Silent;
use super::{Door, PassedHeader};

/// The door for messages.
pub static MESSAGES: Door = Door {
    form: &form::MessagesForm::MESSAGES,
    label: "Anthropic Messages",
    operation: "chat",
    path: "/v1/messages",
    errors: ErrorFormat::Anthropic,
    headers: HEADERS,
    queries: QUERIES,
    read_reply: watch::read_message,
    watch: || Box::<watch::MessageWatch>::default(),
    walk: || Box::<replies::MessageWalk>::default(),
};

/// The door for counting the tokens of messages.
pub static COUNT_TOKENS: Door = Door {
    form: &form::MessagesForm::COUNT_TOKENS,
    label: "Anthropic token counting",
    operation: "count_tokens",
    path: "/v1/messages/count_tokens",
    errors: ErrorFormat::Anthropic,
    headers: HEADERS,
    queries: QUERIES,
    read_reply: watch::read_count,
    watch: || Box::<Silent>::default(),
    walk: || Box::<Silent>::default(),
};

const HEADERS: &[PassedHeader] = &[
    // Alphabetical.
    PassedHeader {
        name: "anthropic-beta",
        is_valid: is_list_of_words,
    },
    PassedHeader {
        name: "anthropic-version",
        is_valid: is_date,
    },
];

/// The SDKs' beta calls and Claude Code send it.
const QUERIES: &[&str] = &["beta=true"];

/// Whether a text is a list of words (`interleaved-thinking-2025-05-14,context-management-2025-06-27`).
fn is_list_of_words(text: &str) -> bool {
    let is_word = |word: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        (1..=128).contains(&word.len()) && word.bytes().all(is_plain)
    };
    text.split(',').all(|word| is_word(word.trim_matches(' ')))
}

/// Whether a text is a date (`2023-06-01`).
fn is_date(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_protocol_words_are_forwarded() {
        for (text, expected) in [
            ("interleaved-thinking-2025-05-14", true),
            ("a-1, b-2", true),
            ("", false),
            ("a,,b", false),
            ("Jane Roe", false),
            ("a;b", false),
        ] {
            assert_eq!(is_list_of_words(text), expected, "{text}");
        }
        for (text, expected) in [
            ("2023-06-01", true),
            ("2023-6-1", false),
            ("yesterday!", false),
        ] {
            assert_eq!(is_date(text), expected, "{text}");
        }
    }
}
