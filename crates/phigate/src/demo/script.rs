//! The answers of the simulated model: the received text, a requested tool call, or a value that fits a schema.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::sample;

/// A request of any family.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// System content, if the family has a field for it.
    pub(super) system: String,
    /// The user's last message.
    pub(super) said: String,
    /// The last part of that message. Agents put instructions before the user's text, so commands are read from this
    /// part only.
    pub(super) wish: String,
    /// All text of the request, for counting.
    pub(super) prompt_chars: usize,
    /// Number of attached pictures and files.
    pub(super) attachments: usize,
    /// The tools on offer.
    pub(super) tools: Vec<Offer>,
    /// Whether a tool must or must not be called.
    pub(super) choice: Choice,
    /// Results of earlier tool calls, if they come last.
    pub(super) results: Vec<(String, String)>,
    /// The form of the answer.
    pub(super) form: Form,
    /// The limit of words.
    pub(super) limit: Option<u64>,
    /// Stop sequences.
    pub(super) stops: Vec<String>,
    /// Whether to include reasoning.
    pub(super) thinks: bool,
}

/// A tool on offer.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) schema: Value,
}

/// Whether a tool must or must not be called.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Choice {
    #[default]
    Free,
    Never,
    Any,
    Named(String),
}

/// The form of the answer.
#[derive(Debug, Default)]
pub(super) enum Form {
    #[default]
    Text,
    Object,
    Schema(Value),
}

/// The answer of the model.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) thought: Option<String>,
    pub(super) text: String,
    pub(super) calls: Vec<(String, Value)>,
    pub(super) end: End,
    pub(super) prompt_tokens: u64,
    pub(super) answer_tokens: u64,
    pub(super) thought_tokens: u64,
}

/// The reason why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Said,
    Limit,
    Calls,
}

/// A failure requested by the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Status(u16),
    Cut,
    Slow,
}

impl Asked {
    /// The failure requested by the prompt, if any.
    pub(super) fn fault(&self) -> Option<Fault> {
        let (_, wish) = self.wish.split_once("simulate ")?;
        let word: String = wish
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        match word.as_str() {
            "cut" => Some(Fault::Cut),
            "slow" => Some(Fault::Slow),
            number => number
                .parse()
                .ok()
                .filter(|status| (400..600).contains(status))
                .map(Fault::Status),
        }
    }

    /// The tools to call now.
    fn wanted_tools(&self) -> Vec<&Offer> {
        let said = self.wish.to_lowercase();
        let is_about = |offer: &&Offer| {
            let words = offer
                .name
                .split(|letter: char| !letter.is_ascii_alphanumeric());
            words
                .filter(|word| word.len() > 3)
                .any(|word| said.contains(&word.to_lowercase()))
        };
        let about: Vec<&Offer> = self.tools.iter().filter(is_about).collect();
        let must = match &self.choice {
            Choice::Never => return Vec::new(),
            Choice::Named(name) => {
                return self
                    .tools
                    .iter()
                    .filter(|offer| offer.name == *name)
                    .collect();
            }
            Choice::Any => true,
            Choice::Free => said.contains("tool"),
        };
        // After a tool has answered, the model answers in text.
        if !self.results.is_empty() {
            return Vec::new();
        }
        if about.is_empty() && must {
            self.tools.first().into_iter().collect()
        } else {
            about
        }
    }

    fn words(&self) -> String {
        if !self.results.is_empty() {
            let told: Vec<String> = self
                .results
                .iter()
                .map(|(tool, result)| format!("{tool} answered: {result}"))
                .collect();
            return told.join("\n");
        }
        match &self.form {
            Form::Object => return self.object().to_string(),
            Form::Schema(schema) => return sample::value(schema, &self.said).to_string(),
            Form::Text => {}
        }
        let mut text = format!("You said: {}", excerpt(&self.said));
        if !self.system.is_empty() {
            let system = excerpt(&self.system);
            text.push_str(&format!("\n\nYour instructions to me: {system}"));
        }
        if self.attachments > 0 {
            text.push_str(&format!(
                "\n\nAttachments I received: {}.",
                self.attachments
            ));
        }
        text.push_str("\n\n(I am a simulated model: this is exactly what left the gateway, and nothing left this machine.)");
        text
    }
}

impl Asked {
    /// An object for the answer. A request for any object often has a JSON schema in its instructions.
    fn object(&self) -> Value {
        let described = [&self.system, &self.said]
            .into_iter()
            .find_map(|text| schema_in(text));
        match described {
            Some(schema) => sample::value(&schema, &self.said),
            None => json!({"you_said": self.said}),
        }
    }
}

/// The first JSON schema of an object that a text contains.
fn schema_in(text: &str) -> Option<Value> {
    text.match_indices('{').find_map(|(start, _)| {
        let mut read = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let object = read.next()?.ok()?;
        object["properties"].is_object().then_some(object)
    })
}

/// Characters of a long text that are repeated at either end. Agents send pages of instructions, which would make
/// answers long.
const REPEATED: usize = 600;

/// The text, or its beginning and its end.
fn excerpt(text: &str) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= 2 * REPEATED {
        return Cow::Borrowed(text);
    }
    let head: String = text.chars().take(REPEATED).collect();
    let tail: String = text.chars().skip(length - REPEATED).collect();
    let left_out = length - 2 * REPEATED;
    Cow::Owned(format!("{head}\n(… {left_out} characters …)\n{tail}"))
}

/// Composes an answer.
pub(super) fn answer(asked: &Asked) -> Answer {
    let offers = asked.wanted_tools();
    let calls: Vec<(String, Value)> = offers
        .into_iter()
        .map(|offer| {
            (
                offer.name.clone(),
                sample::value(&offer.schema, &asked.said),
            )
        })
        .collect();
    let thought = asked
        .thinks
        .then(|| "The user sent me something. I will show what reached me.".to_owned());
    let (text, end) = if calls.is_empty() {
        shorten(asked.words(), asked)
    } else {
        (String::new(), End::Calls)
    };
    let said_chars = text.len()
        + calls
            .iter()
            .map(|(name, arguments)| name.len() + arguments.to_string().len())
            .sum::<usize>();
    Answer {
        thought_tokens: thought
            .as_deref()
            .map_or(0, |thought| tokens(thought.len())),
        thought,
        prompt_tokens: tokens(asked.prompt_chars),
        answer_tokens: tokens(said_chars),
        text,
        calls,
        end,
    }
}

/// The text in pieces, as a model would stream it.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n'])
}

/// About four letters per token.
fn tokens(chars: usize) -> u64 {
    (chars as u64).div_ceil(4).max(1)
}

fn shorten(mut text: String, asked: &Asked) -> (String, End) {
    if let Some(stop) = asked
        .stops
        .iter()
        .filter(|stop| !stop.is_empty())
        .filter_map(|stop| text.find(stop.as_str()))
        .min()
    {
        text.truncate(stop);
    }
    let limit = usize::try_from(asked.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let length: usize = pieces(&text).take(limit).map(str::len).sum();
    if length < text.len() {
        text.truncate(length);
        return (text, End::Limit);
    }
    (text, End::Said)
}

/// The number of characters in all strings of a request.
pub(super) fn count_chars(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(count_chars).sum(),
        Value::Object(members) => members.values().map(count_chars).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The text of a content: a string, or the text parts of a list.
pub(super) fn text(content: &Value) -> String {
    texts(content).join("\n")
}

/// The last text of a content.
pub(super) fn last_text(content: &Value) -> String {
    texts(content).pop().unwrap_or_default().to_owned()
}

fn texts(content: &Value) -> Vec<&str> {
    let parts = content.as_array().into_iter().flatten();
    let parts = parts.filter_map(|part| part["text"].as_str());
    content
        .as_str()
        .map_or_else(|| parts.collect(), |text| vec![text])
}

/// A string, or a list of strings.
pub(super) fn strings(value: &Value) -> Vec<String> {
    let items = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    items
        .iter()
        .filter_map(|item| Some(item.as_str()?.to_owned()))
        .collect()
}
