//! Tokens that replace masked values, so that a reply can be given back whole.
//!
//! A token such as `[NAME_7K3QD]` is a keyed code of account, conversation, kind and value. Tokens are not stored:
//! the same value gets the same token in every turn and on every replica, and without the key a token says
//! nothing but which values of one conversation are equal.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use phi_detect::PhiKind;

use crate::json::{Document, Kind, NodeId, Value};
use crate::text::PhiText;

/// Crockford's base32: no letter that is taken for a digit.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Characters of a code, unless two values need more to differ.
const CODE_CHARACTERS: usize = 5;

/// Number of tokens to allocate room for at once.
const TOKENS_USUAL: usize = 56;

/// Makes the tokens of one request.
pub struct Mint<'k> {
    /// A keyed hash of these texts: kind and value. The key knows account and conversation.
    code_of: &'k dyn Fn(&str, &str) -> [u8; 16],
    /// Words of the caller's own text that read like tokens, in upper case.
    own: HashSet<String>,
    of_value: HashMap<(PhiKind, String), usize>,
    /// Beginnings of the tokens: their kinds and the shortest codes.
    beginnings: HashSet<(PhiKind, [u8; CODE_CHARACTERS])>,
    tokens: Vec<Token>,
}

/// One token and its value.
struct Token {
    /// Text in its brackets: `[NAME_7K3QD]`.
    text: String,
    /// The value as the caller first wrote it.
    value: PhiText,
}

impl Token {
    /// Without its brackets.
    fn name(&self) -> &str {
        &self.text[1..self.text.len() - 1]
    }
}

impl<'k> Mint<'k> {
    /// A mint for a request. `code_of` is a keyed hash of a kind's code and a value, different for every account and
    /// conversation; `request` is the body as the caller sent it.
    pub fn new(code_of: &'k dyn Fn(&str, &str) -> [u8; 16], request: &Document) -> Self {
        Self {
            code_of,
            own: token_like_words(request),
            of_value: HashMap::with_capacity(TOKENS_USUAL),
            beginnings: HashSet::with_capacity(TOKENS_USUAL),
            tokens: Vec::with_capacity(TOKENS_USUAL),
        }
    }

    /// The token of a value, in brackets.
    pub fn token(&mut self, kind: PhiKind, value: &str) -> String {
        let known = (kind, kind.normalise(value));
        let index = match self.of_value.get(&known) {
            Some(&index) => index,
            None => self.issue(known, value),
        };
        self.tokens[index].text.clone()
    }

    fn issue(&mut self, known: (PhiKind, String), value: &str) -> usize {
        let kind = known.0;
        let hash = (self.code_of)(kind.code(), &known.1);
        let shortest = std::array::from_fn(|position| digit(&hash, position));
        let mut text = String::with_capacity(kind.code().len() + CODE_CHARACTERS + 3);
        text.push('[');
        text.extend(
            kind.code()
                .chars()
                .map(|letter| letter.to_ascii_uppercase()),
        );
        text.push('_');
        text.extend(shortest.map(char::from));
        let is_free = self.beginnings.insert((kind, shortest));
        if !is_free || !self.own.is_empty() {
            // A code whose first characters are taken gets one more character, and the code that has them stays as it
            // is.
            let mut further = CODE_CHARACTERS..DIGITS;
            while self.is_taken(&text[1..]) {
                let Some(position) = further.next() else {
                    break;
                };
                text.push(char::from(digit(&hash, position)));
            }
        }
        text.push(']');
        self.tokens.push(Token {
            text,
            value: PhiText::new(value),
        });
        self.of_value.insert(known, self.tokens.len() - 1);
        self.tokens.len() - 1
    }

    fn is_taken(&self, name: &str) -> bool {
        self.own.contains(name) || self.tokens.iter().any(|token| token.name() == name)
    }

    /// The tokens issued, for giving the reply back whole.
    pub fn into_issued(self) -> Issued {
        let issued = self.tokens.into_iter().map(|token| {
            let Token { mut text, value } = token;
            text.pop();
            text.remove(0);
            (text, value)
        });
        Issued::new(issued)
    }
}

/// The digits of a hash, of five bits each; what is left at its end is too little for one.
const DIGITS: usize = 128 / 5;

/// Returns a digit of a hash.
fn digit(hash: &[u8; 16], position: usize) -> u8 {
    let (byte, shift) = (position * 5 / 8, position * 5 % 8);
    let next = hash.get(byte + 1).copied().unwrap_or(0);
    let pair = u16::from_be_bytes([hash[byte], next]);
    ALPHABET[usize::from(pair >> (11 - shift)) & 31]
}

/// Beginnings of the tokens of each kind (`NAME_`), and of all kinds that accounts define.
static HEADS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let head = |kind: PhiKind| format!("{}_", kind.code().to_ascii_uppercase());
    let own = PhiKind::OWN_PREFIX.to_ascii_uppercase();
    PhiKind::all().map(head).chain([own]).collect()
});

/// The words of a request that read like tokens, in upper case and without escapes. A token among them would be the
/// caller's own word, and must not be taken for a value when the model repeats it. In what a model or a tool said
/// before, a token is one of ours that was sent again: it still denotes its value.
fn token_like_words(request: &Document) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut word = String::new();
    let sent_again = said_before(request);
    for value in request.nodes().filter(|node| node.kind() == Kind::String) {
        let next = sent_again.partition_point(|message| message.end <= value.id());
        if sent_again
            .get(next)
            .is_some_and(|message| message.contains(&value.id()))
        {
            continue;
        }
        // An underscore, or an escape that may be one.
        let may_hold_one = value.raw().contains('_') || value.raw().contains("\\u");
        let Some(text) = may_hold_one.then(|| value.string()).flatten() else {
            continue;
        };
        // The blank at the end closes the last word.
        for character in text.chars().chain([' ']) {
            match character {
                '\\' => {}
                _ if character.is_ascii_alphanumeric() || character == '_' => {
                    word.push(character.to_ascii_uppercase());
                }
                _ => {
                    let heads = HEADS.iter().filter_map(|head| word.find(head.as_str()));
                    found.extend(heads.map(|at| word[at..].to_owned()));
                    word.clear();
                }
            }
        }
    }
    found
}

/// Returns the text of the model and of tools, in order: whole turns, and results of tools inside a turn of the user.
fn said_before(request: &Document) -> Vec<Range<NodeId>> {
    let root = request.root();
    let turns: Vec<Value<'_>> = ["messages", "input"]
        .into_iter()
        .filter_map(|key| root.get(key))
        .flat_map(|turns| turns.values().collect::<Vec<_>>())
        .collect();
    let mut said = Vec::new();
    for turn in turns {
        if is_reply(&turn) {
            said.push(turn.nodes());
        } else if let Some(content) = turn.get("content") {
            let results = content.values().filter(is_reply);
            said.extend(results.map(|result| result.nodes()));
        }
    }
    said.sort_unstable_by_key(|nodes| nodes.start);
    said
}

/// Whether a turn, or a part of one, comes from the model or a tool: by its role, or by its type at the doors whose
/// turns have none.
fn is_reply(turn: &Value<'_>) -> bool {
    let is = |key: &str, matches: fn(&str) -> bool| {
        let word = turn.get(key).and_then(|word| word.string());
        word.is_some_and(|word| matches(&word))
    };
    is("role", |role| {
        matches!(role, "assistant" | "tool" | "function")
    }) || is("type", |kind| {
        kind.ends_with("_call")
            || kind.ends_with("_call_output")
            || matches!(kind, "tool_result" | "reasoning")
    })
}

/// The tokens of one request with their values, ready to be looked for in a reply.
#[derive(Default)]
pub struct Issued {
    /// Names in upper case without brackets, in order, so that a beginning is a range.
    names: Vec<String>,
    values: Vec<PhiText>,
    /// The letters that tokens begin with.
    initials: [bool; 26],
}

/// Shows the number of values, and not the values.
impl std::fmt::Debug for Issued {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Issued({} tokens)", self.names.len())
    }
}

impl Issued {
    /// Tokens by their names without brackets.
    pub fn new(tokens: impl IntoIterator<Item = (String, PhiText)>) -> Self {
        let mut tokens: Vec<(String, PhiText)> = tokens.into_iter().collect();
        tokens.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let mut initials = [false; 26];
        for (name, _) in &tokens {
            if let Some(letter) = name.bytes().next().filter(u8::is_ascii_uppercase) {
                initials[usize::from(letter - b'A')] = true;
            }
        }
        let (names, values) = tokens.into_iter().unzip();
        Self {
            names,
            values,
            initials,
        }
    }

    /// Whether none was issued.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The tokens, in brackets, with their values.
    pub fn iter(&self) -> impl Iterator<Item = (String, &PhiText)> {
        let tokens = self.names().map(|name| format!("[{name}]"));
        tokens.zip(&self.values)
    }

    /// The tokens without their brackets.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether a token may begin with this character, in any letter case.
    pub(super) fn may_begin_with(&self, character: char) -> bool {
        let letter = character.to_ascii_uppercase();
        letter.is_ascii_uppercase() && self.initials[letter as usize - 'A' as usize]
    }

    /// Returns the value of a token.
    pub(super) fn value(&self, index: usize) -> &PhiText {
        &self.values[index]
    }

    /// All tokens: nothing of a name was read yet.
    pub(super) fn beginning(&self) -> Beginning {
        Beginning {
            from: 0,
            to: self.names.len(),
            length: 0,
        }
    }

    /// Returns the tokens that go on with this character, in any letter case; `None` if there are none.
    pub(super) fn step(&self, beginning: Beginning, character: char) -> Option<Beginning> {
        let wanted = u8::try_from(character).ok()?.to_ascii_uppercase();
        let range = &self.names[beginning.from..beginning.to];
        let at = |name: &String| name.as_bytes().get(beginning.length).copied();
        let from = range.partition_point(|name| at(name) < Some(wanted));
        let to = from + range[from..].partition_point(|name| at(name) == Some(wanted));
        (from < to).then_some(Beginning {
            from: beginning.from + from,
            to: beginning.from + to,
            length: beginning.length + 1,
        })
    }

    /// The token that ends here, if one does. It sorts before all that it begins.
    pub(super) fn complete(&self, beginning: Beginning) -> Option<usize> {
        let name = self.names.get(beginning.from)?;
        (beginning.length > 0 && name.len() == beginning.length).then_some(beginning.from)
    }
}

/// The tokens that begin with what was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    from: usize,
    to: usize,
    length: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Bounds;

    /// A code that depends on the value's first character alone, so that values collide at will.
    fn code_of(_kind: &str, value: &str) -> [u8; 16] {
        [value.as_bytes()[0]; 16]
    }

    fn tokens(messages: &str, values: &[&str]) -> Vec<String> {
        let body = format!(r#"{{"messages":[{messages}]}}"#);
        let request = Document::parse(body.into_bytes(), Bounds::NONE).expect("it is JSON");
        let mut mint = Mint::new(&code_of, &request);
        let kind = PhiKind::from_code("name").expect("the kind is in the table");
        values.iter().map(|value| mint.token(kind, value)).collect()
    }

    #[test]
    fn token_digits_take_five_hash_bits_each() {
        let mut hash = [0xff; 16];
        hash[..5].copy_from_slice(&[0x00, 0x44, 0x32, 0x14, 0xc7]);
        let digits: Vec<u8> = (0..DIGITS).map(|position| digit(&hash, position)).collect();
        assert_eq!(digits, format!("01234567{}", "Z".repeat(17)).as_bytes());
    }

    #[test]
    fn distinct_values_get_distinct_tokens() {
        let made = tokens(
            "",
            &["Jane Roe", "JANE  ROE", "Jack Roe", "Jane Roe", "Ann Roe"],
        );
        assert_eq!(made[0], made[1]);
        assert_eq!(made[0], made[3]);
        assert_eq!(made[2].len(), made[0].len() + 1, "{made:?}");
        assert!(made[2].starts_with(made[0].trim_end_matches(']')));
        assert_eq!(made[4].len(), made[0].len());
    }

    #[test]
    fn resent_token_is_kept_at_every_door() {
        let kind = PhiKind::from_code("name").expect("the kind is in the table");
        let plain = tokens("", &["Jane Roe"]).remove(0);
        for (turns, is_longer) in [
            (
                r#""input":[{"role":"assistant","content":[{"type":"output_text","text":"T"}]}]"#,
                false,
            ),
            (
                r#""input":[{"type":"function_call","arguments":"T"},{"role":"user","content":"Hi."}]"#,
                false,
            ),
            (
                r#""input":[{"type":"function_call_output","output":"T"}]"#,
                false,
            ),
            (
                r#""messages":[{"role":"user","content":[{"type":"tool_result","content":"T"}]}]"#,
                false,
            ),
            (
                r#""messages":[{"role":"user","content":[{"type":"text","text":"T"}]}]"#,
                true,
            ),
            (r#""input":[{"role":"user","content":"T"}]"#, true),
            (r#""input":"T""#, true),
        ] {
            let body = format!("{{{}}}", turns.replace('T', &plain));
            let request = Document::parse(body.into_bytes(), Bounds::NONE).expect("it is JSON");
            let made = Mint::new(&code_of, &request).token(kind, "Jane Roe");
            assert_eq!(made != plain, is_longer, "{turns}: {made}");
        }
    }

    #[test]
    fn caller_written_token_is_never_issued() {
        let plain = tokens("", &["Jane Roe"]).remove(0);
        let name = plain.trim_matches(['[', ']']);
        for (role, text, is_longer) in [
            ("user", plain.clone(), true),
            ("system", plain.to_lowercase(), true),
            ("user", format!("x {name}, y"), true),
            (
                "user",
                format!(r"\\[{}\\]", name.replace('_', r"\\_")),
                true,
            ),
            ("user", format!("{name}Q"), false),
            ("user", name[..name.len() - 1].to_owned(), false),
            ("assistant", plain.clone(), false),
            ("tool", plain.clone(), false),
        ] {
            let message = format!(
                r#"{{"role":"{role}","content":"{text}"}},{{"role":"user","content":"Hi."}}"#
            );
            let made = tokens(&message, &["Jane Roe"]).remove(0);
            assert_eq!(made != plain, is_longer, "{role}: {text} and {made}");
        }
    }
}
