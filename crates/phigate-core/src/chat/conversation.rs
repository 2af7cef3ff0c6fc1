//! What is read together: the text parts of one message, and one message after another.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use crate::json::{Document, Kind, NodeId, Value};

/// Texts that a model reads as one: the text parts of one message, in order. Only groups of two or more.
pub fn text_groups(document: &Document) -> Vec<Vec<NodeId>> {
    let lists = document.nodes().filter(|value| value.kind() == Kind::Array);
    let groups = lists.map(|list| part_texts(&list));
    groups.filter(|texts| texts.len() > 1).collect()
}

fn part_texts(list: &Value<'_>) -> Vec<NodeId> {
    let texts = list
        .values()
        .filter_map(|part| part.get("text").or_else(|| part.get("refusal")));
    let strings = texts.filter(|text| text.kind() == Kind::String);
    strings.map(|text| text.id()).collect()
}

/// The texts of one message, in order.
pub(crate) type Turn = Vec<NodeId>;

/// Every conversation of a document, whichever API it is written for: lists of messages, each with a role.
pub(crate) fn conversations(document: &Document) -> Vec<Vec<Turn>> {
    let lists = document.nodes().filter(|value| value.kind() == Kind::Array);
    let conversations = lists.filter(|list| {
        let mut messages = list.values();
        messages.nth(1).is_some_and(|one| one.get("role").is_some())
    });
    conversations
        .map(|list| list.values().map(|message| turn(&message)).collect())
        .collect()
}

fn turn(message: &Value<'_>) -> Turn {
    let content = message.get("content").or_else(|| message.get("parts"));
    match content {
        Some(text) if text.kind() == Kind::String => vec![text.id()],
        Some(list) if list.kind() == Kind::Array => part_texts(&list),
        _ => Vec::new(),
    }
}

/// The functions whose results a request carries: `get_ssn` says what the bare number is that it returned.
pub(crate) struct Calls<'d> {
    document: &'d Document,
    /// Names of functions by the ids of their calls. Gathered when first asked for: most requests have none.
    names: OnceCell<HashMap<Cow<'d, str>, Cow<'d, str>>>,
}

impl<'d> Calls<'d> {
    pub(crate) fn of(document: &'d Document) -> Self {
        Self {
            document,
            names: OnceCell::new(),
        }
    }

    /// What the result in this message is, by the name of the function that was called: `date_of_birth`.
    pub(crate) fn label(&self, message: &Value<'d>) -> Option<String> {
        let role = message.get("role")?.string()?;
        let name = match role.as_ref() {
            "function" => message.get("name")?.string()?,
            "tool" => {
                let id = message.get("tool_call_id")?.string()?;
                self.names.get_or_init(|| self.gather()).get(&id)?.clone()
            }
            _ => return None,
        };
        Some(without_verbs(&name))
    }

    fn gather(&self) -> HashMap<Cow<'d, str>, Cow<'d, str>> {
        let messages = self.document.root().get("messages");
        let calls = messages
            .iter()
            .flat_map(Value::values)
            .filter_map(|message| message.get("tool_calls"))
            .flat_map(|calls| calls.values());
        let named = calls.filter_map(|call| {
            let called = call.get("function").or_else(|| call.get("custom"))?;
            Some((call.get("id")?.string()?, called.get("name")?.string()?))
        });
        named.collect()
    }
}

/// What a function is about: `get_ssn_by_patient`, `ssnLookup` and `fetch-ssn` all say `ssn`.
fn without_verbs(name: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    for character in name.chars() {
        let starts = character.is_uppercase() && was_lower;
        if words.is_empty() || starts || !character.is_alphanumeric() {
            words.push(String::new());
        }
        was_lower = character.is_lowercase() || character.is_numeric();
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    if let Some(cut) = words.iter().skip(1).position(|word| is_one(word, LINKS)) {
        words.truncate(cut + 1);
    }
    let is_verb = |word: &String| is_one(word, VERBS);
    while words.len() > 1 && words.last().is_some_and(is_verb) {
        words.pop();
    }
    let verbs = words.iter().take_while(|word| is_verb(word)).count();
    words[verbs.min(words.len().saturating_sub(1))..].join("_")
}

fn is_one(word: &str, list: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// What comes after these words says where a function looks, not what it returns.
const LINKS: &str = "by for from with using in";

/// What functions do, and what they are called.
const VERBS: &str = "ask api call collect fetch find function get getter load lookup obtain query read request resolve \
    retrieve return returns search select service show tool";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_about_what_it_returns() {
        for (name, about) in [
            ("get_ssn", "ssn"),
            ("getDateOfBirth", "date_of_birth"),
            ("lookup-mrn", "mrn"),
            ("mrn_lookup", "mrn"),
            ("fetch_phone_by_patient_id", "phone"),
            ("search", "search"),
            ("patient_name", "patient_name"),
            ("", ""),
        ] {
            assert_eq!(without_verbs(name), about, "{name}");
        }
    }
}
