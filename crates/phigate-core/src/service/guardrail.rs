//! LiteLLM's generic guardrail: its proxy asks for a verdict on a request or on a reply.
//!
//! LiteLLM replaces its `texts` and `tools` with those it gets back. PHI in any other field cannot be given back
//! changed, so it is refused if the policy would change it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use phi_detect::PhiKind;
use serde_json::json;

use crate::doors::CHAT;
use crate::json::{Bounds, Document, Kind, Value};
use crate::protect::{NotRewritten, Policy, Report, ScannedDocument, ruling, scan_plain};
use crate::request::RequestError;
use crate::text::PhiText;

use super::fields::{given, object, of_kind, strings};
use super::{Answer, Answered, Refused, ServiceContext};

/// Fields about the request that no model reads. Every other field, known or not, is content.
const ABOUT: &[&str] = &[
    // Alphabetical.
    "additional_provider_specific_params",
    "input_type",
    "litellm_call_id",
    "litellm_trace_id",
    "litellm_version",
    "model",
    "request_data",
    "request_headers",
];

/// The field of the conversation's messages, and its name in the chat API, under which it is scanned.
const MESSAGES: (&str, &str) = ("structured_messages", "messages");

/// Fields that LiteLLM takes back.
const TAKEN_BACK: [&str; 2] = ["texts", "tools"];

/// The verdict on a request or reply.
enum Verdict {
    Pass,
    Block(String),
    /// Changed `texts` and `tools`, as JSON.
    Change(Vec<(&'static str, String)>),
}

/// Answers a request of LiteLLM.
pub fn guard(context: &ServiceContext<'_>, body: Vec<u8>) -> Answered {
    let asked = object(body, context.bounds)?;
    let root = asked.root();
    check(&root)?;
    let repeated = Repeated::of(&root);
    let scanned = scan_plain(context.scanner, CHAT.form, content(&root, &repeated)?);
    let report = scanned.report().clone();
    let answer = match verdict(context, &scanned, &repeated)? {
        Verdict::Pass => json!({ "action": "NONE" }).to_string(),
        Verdict::Block(reason) => {
            json!({ "action": "BLOCKED", "blocked_reason": reason }).to_string()
        }
        Verdict::Change(changed) => intervene(&changed),
    };
    let body = PhiText::new(answer);
    Ok(Answer { body, report })
}

/// The texts, and the strings of the messages. A text that a message repeats is scanned only in the message, in its
/// context there.
struct Repeated<'d> {
    texts: Vec<Value<'d>>,
    in_messages: HashSet<Cow<'d, str>>,
}

impl<'d> Repeated<'d> {
    fn of(root: &Value<'d>) -> Self {
        let messages = given(root, MESSAGES.0);
        let strings = messages.iter().flat_map(Value::descendants);
        let strings = strings.filter(|value| !value.is_key());
        Self {
            texts: given(root, "texts")
                .iter()
                .flat_map(Value::values)
                .collect(),
            in_messages: strings.filter_map(|value| value.string()).collect(),
        }
    }

    fn holds(&self, text: &Value<'_>) -> bool {
        text.string()
            .is_some_and(|text| self.in_messages.contains(&text))
    }
}

fn check(root: &Value<'_>) -> Result<(), RequestError> {
    for name in ["texts", "images"] {
        if let Some(list) = given(root, name) {
            strings(&list, name)?;
        }
    }
    for name in [MESSAGES.0, "tools", "tool_calls"] {
        if let Some(list) = given(root, name) {
            of_kind(&list, Kind::Array, name, "an array")?;
        }
    }
    Ok(())
}

/// The content of a request as a document: every field that is not in `ABOUT`, with repeated texts left empty.
fn content(root: &Value<'_>, repeated: &Repeated<'_>) -> Result<Document, RequestError> {
    let mut out = String::with_capacity(root.raw().len());
    for value in root.values().filter(|value| !is_empty(value)) {
        let Some(key) = value.key() else { continue };
        let name = key.string().unwrap_or_default();
        if ABOUT.contains(&name.as_ref()) {
            continue;
        }
        out.push(if out.is_empty() { '{' } else { ',' });
        if name == MESSAGES.0 {
            out.push_str(&format!("\"{}\":", MESSAGES.1));
        } else {
            out.push_str(key.raw());
            out.push(':');
        }
        if name == "texts" {
            let text = |text: &Value<'_>| {
                if repeated.holds(text) {
                    "\"\""
                } else {
                    text.raw()
                }
                .to_owned()
            };
            out.push_str(&list(repeated.texts.iter().map(text)));
        } else {
            out.push_str(value.raw());
        }
    }
    out.push_str(if out.is_empty() { "{}" } else { "}" });
    // The source was within the bounds; the only new error is a duplicate of the renamed field.
    object(out.into_bytes(), Bounds::NONE)
}

/// A JSON array of these items.
fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    format!("[{}]", items.join(","))
}

fn is_empty(value: &Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => true,
        Kind::Array | Kind::Object => value.values().next().is_none(),
        Kind::Bool | Kind::Number | Kind::String => false,
    }
}

fn verdict(
    context: &ServiceContext<'_>,
    scanned: &ScannedDocument,
    repeated: &Repeated<'_>,
) -> Result<Verdict, Refused> {
    let (report, policy) = (scanned.report(), &context.policy);
    if scanned.is_blocked(policy) {
        return Ok(Verdict::Block(found(report)));
    }
    if policy.forwards_unscanned() {
        return Ok(Verdict::Pass);
    }
    if !report.is_complete() {
        return Err(Refused::unfinished(report));
    }
    match scanned.rewrite(context.scanner, policy) {
        Ok(_) if !scanned.is_changed(policy) => Ok(Verdict::Pass),
        Ok(rewritten) => Ok(given_back(scanned, policy, &rewritten, repeated)),
        Err(NotRewritten::Refused(refusal)) => Ok(Verdict::Block(refusal.message)),
        Err(NotRewritten::Unfinished) => Err(Refused::unfinished(report)),
    }
}

/// The kinds of the findings, as a message.
fn found(report: &Report) -> String {
    let codes: Vec<&str> = report.kinds().map(PhiKind::code).collect();
    format!(
        "protected health information was detected in the content: {}",
        codes.join(", ")
    )
}

/// The verdict with the changes, if every change is in a field that LiteLLM takes back.
fn given_back(
    scanned: &ScannedDocument,
    policy: &Policy,
    rewritten: &Document,
    repeated: &Repeated<'_>,
) -> Verdict {
    let (before, root) = (scanned.document(), scanned.document().root());
    let texts: HashSet<Cow<'_, str>> = repeated.texts.iter().filter_map(Value::string).collect();
    let mut in_messages: HashMap<Cow<'_, str>, &str> = HashMap::new();
    for member in root.values() {
        let name = member
            .key()
            .and_then(|key| key.string())
            .unwrap_or_default();
        if TAKEN_BACK.contains(&name.as_ref()) {
            continue;
        }
        for found in scanned.found_in(&member) {
            if ruling(policy, found.finding).mode().forwards_unscanned() {
                continue;
            }
            let holder = before.value(found.node);
            let is_message = name == MESSAGES.1 && !holder.is_key();
            let text = holder.string().filter(|_| is_message);
            let Some(text) = text.filter(|text| texts.contains(text)) else {
                return Verdict::Block(misplaced(scanned.report()));
            };
            in_messages.insert(text, rewritten.value(found.node).raw());
        }
    }
    let rewritten_texts = rewritten.root().get("texts");
    let alone = rewritten_texts.iter().flat_map(Value::values);
    let texts = repeated.texts.iter().zip(alone).map(|(sent, alone)| {
        let in_message = sent
            .string()
            .and_then(|text| in_messages.get(&text).copied());
        let as_it_is = if repeated.holds(sent) {
            sent.raw()
        } else {
            alone.raw()
        };
        in_message.unwrap_or(as_it_is).to_owned()
    });
    let texts = rewritten_texts.map(|_| ("texts", list(texts)));
    let tools = rewritten.root().get("tools");
    let tools = tools.map(|tools| ("tools", tools.raw().to_owned()));
    Verdict::Change(texts.into_iter().chain(tools).collect())
}

/// The reason why PHI that the policy would replace is refused.
fn misplaced(report: &Report) -> String {
    format!(
        "{}; it stands where it cannot be given back changed",
        found(report)
    )
}

/// The answer with the changed content.
fn intervene(changed: &[(&str, String)]) -> String {
    let mut out = String::from(r#"{"action":"GUARDRAIL_INTERVENED""#);
    for (name, value) in changed {
        out.push_str(&format!(r#","{name}":{value}"#));
    }
    out.push('}');
    out
}
