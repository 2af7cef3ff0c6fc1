//! Texts that are read together: the text parts of one message, and one message after another.

use crate::json::{Document, Kind, NodeId, Value};

use super::form::Turn;

/// Texts that a model reads as one: the text parts of one message, in order. Only groups of two or more.
pub fn text_groups(document: &Document) -> Vec<Vec<NodeId>> {
    let lists = document.nodes().filter(|value| value.kind() == Kind::Array);
    let groups = lists.map(|list| part_texts(&list));
    groups.filter(|texts| texts.len() > 1).collect()
}

/// The texts of the parts in a list.
pub(crate) fn part_texts(list: &Value<'_>) -> Vec<NodeId> {
    let texts = list
        .values()
        .filter_map(|part| part.get("text").or_else(|| part.get("refusal")));
    let strings = texts.filter(|text| text.kind() == Kind::String);
    strings.map(|text| text.id()).collect()
}

/// The conversations of a document: lists of messages, each with a role.
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
    content.map_or_else(Vec::new, |content| texts(&content))
}

/// The texts of a content: itself, or those of its parts.
pub(crate) fn texts(content: &Value<'_>) -> Vec<NodeId> {
    match content.kind() {
        Kind::String => vec![content.id()],
        Kind::Array => part_texts(content),
        _ => Vec::new(),
    }
}

/// Returns the text of the first message from a user, or else of the first message. A string and a list of one part
/// give equal text.
pub(crate) fn opening(messages: &[Value<'_>]) -> String {
    let is_user = |message: &Value<'_>| {
        let role = message.get("role").and_then(|role| role.string());
        role.is_some_and(|role| role == "user")
    };
    let first = messages.iter().find(|message| is_user(message));
    let content = first
        .or_else(|| messages.first())
        .and_then(|message| message.get("content"));
    let Some(content) = content else {
        return String::new();
    };
    match content.string() {
        Some(text) => text.into_owned(),
        None => joined(&content),
    }
}

fn joined(content: &Value<'_>) -> String {
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

/// Returns the subject of a function: `get_ssn_by_patient`, `ssnLookup` and `fetch-ssn` all give `ssn`.
pub(crate) fn without_verbs(name: &str) -> String {
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

/// Words that introduce where a function looks, not what it returns.
const LINKS: &str = "by for from with using in";

/// Verbs in names of functions, and words for functions.
const VERBS: &str = "ask api call collect fetch find function get getter load lookup obtain query read request resolve \
    retrieve return returns search select service show tool";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_topic_is_name_without_verbs() {
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
