//! Records as lines of a list.

use std::collections::{BTreeMap, BTreeSet};

use phi_detect::PhiKind;
use phigate_store::{AdminAct, Decision, Disclosure, Outcome, Record, RequestRow};
use phigate_types::{Act, Action, Mode, Tone};
use serde_json::Value;

use crate::fields::encode;
use crate::view::{KindChip, When, duration};

/// A request.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) href: String,
    pub(crate) time: When,
    pub(crate) action: &'static str,
    pub(crate) tone: Tone,
    /// Reason that it was not answered as asked; empty when it was.
    pub(crate) reason: String,
    pub(crate) types: Vec<KindChip>,
    /// Text shown if there are no types.
    pub(crate) no_types: &'static str,
    pub(crate) subject: String,
    /// The provider's name, if a provider was picked.
    pub(crate) provider: String,
    /// Time from the first byte of the request to the last of the answer.
    pub(crate) took: String,
    pub(crate) actor: String,
    pub(crate) mode: &'static str,
    pub(crate) status: String,
}

/// An act of administration.
#[derive(Debug)]
pub(crate) struct ActRow {
    pub(crate) time: When,
    pub(crate) act: &'static str,
    pub(crate) tone: Tone,
    pub(crate) actor: String,
    /// Log of the actor's other acts.
    pub(crate) by: String,
    pub(crate) target: String,
    pub(crate) href: String,
    pub(crate) words: String,
}

/// Returns the label and tone of a decision's action. PHI that went on unchanged is conspicuous.
pub(crate) fn action(decision: &Decision) -> (&'static str, Tone) {
    let tone = if decision.phi_detected {
        with_phi(decision.action)
    } else {
        decision.action.tone()
    };
    (decision.action.label(), tone)
}

/// The tone of an action on a request with PHI.
fn with_phi(action: Action) -> Tone {
    if action == Action::FORWARDED {
        Tone::Warn
    } else {
        action.tone()
    }
}

/// A request as a line.
pub(crate) fn request_row(request: &RequestRow, key_names: &BTreeMap<String, String>) -> Row {
    let decision = &request.decision;
    let (action, tone) = action(decision);
    Row {
        href: format!("/audit/{}", decision.request_id),
        time: When::at(decision.time),
        action,
        tone,
        reason: reason(request),
        types: kinds(&decision.types),
        no_types: no_types(decision),
        subject: decision.model.clone().unwrap_or_else(|| "–".to_owned()),
        provider: decision.provider.clone().unwrap_or_default(),
        took: took(request.outcome.as_ref()),
        actor: key_names
            .get(&decision.key_id)
            .filter(|name| !name.is_empty())
            .unwrap_or(&decision.key_id)
            .clone(),
        mode: decision.mode.label,
        status: status(request.outcome.as_ref()),
    }
}

/// Returns the error code, in words: the decision's, if nothing was sent, else the outcome's.
fn reason(request: &RequestRow) -> String {
    let outcome = request.outcome.as_ref();
    let code = request.decision.error_code;
    let code = code.or_else(|| outcome.and_then(|outcome| outcome.error_code));
    code.map_or_else(String::new, |code| code.code().replace('_', " "))
}

fn no_types(decision: &Decision) -> &'static str {
    match decision.was_scanned() {
        true => "none",
        false => "not scanned",
    }
}

/// A request in which an identifier was found, as a line.
pub(crate) fn disclosure_row(hit: &Disclosure) -> Row {
    Row {
        href: format!("/audit/{}", hit.request_id),
        time: When::at(hit.time),
        action: hit.action.map_or("Unknown", Action::label),
        tone: hit.action.map_or(Tone::Plain, with_phi),
        reason: recipients(hit),
        types: Vec::new(),
        no_types: "",
        subject: hit.model.clone().unwrap_or_else(|| "–".to_owned()),
        provider: String::new(),
        took: String::new(),
        actor: hit.key_id.clone().unwrap_or_default(),
        mode: "",
        status: hit
            .provider_status
            .map(|status| status.to_string())
            .unwrap_or_default(),
    }
}

/// Returns the recipients of a request, in order. Blocked and refused requests went nowhere.
fn recipients(hit: &Disclosure) -> String {
    let was_sent = hit
        .action
        .is_some_and(|action| action != Action::BLOCKED && action != Action::REFUSED);
    let first = hit.provider.as_deref().filter(|_| was_sent);
    let further = hit.attempts.iter().map(|attempt| attempt.provider.as_str());
    let names: Vec<&str> = first.into_iter().chain(further).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("to {}", names.join(", then ")),
    }
}

/// Returns an act of administration as a line; `None` for other records.
pub(crate) fn act_row(record: &Record) -> Option<ActRow> {
    let Record::Admin(act) = record else {
        return None;
    };
    Some(ActRow {
        time: When::at(act.time),
        act: act.act.words(),
        tone: act.act.tone(),
        actor: act.actor.clone(),
        by: format!("/audit/administration?person={}", encode(&act.actor)),
        target: act.target.clone().unwrap_or_default(),
        href: act
            .request_id
            .map(|id| format!("/audit/{id}"))
            .unwrap_or_default(),
        words: act_words(act),
    })
}

// Details of acts that people want to read, with the word before each; the rest is in exports.
static DETAILS: &[(&str, &str)] = &[
    // In the order of reading.
    ("name", ""),
    ("email", ""),
    ("role", "as"),
    ("type", ""),
    ("found", "found in requests:"),
    ("format", "as"),
    ("filter", "of"),
    ("records", "records:"),
    ("rows", "rows:"),
    ("count", "requests:"),
    ("error_code", "because of"),
    ("minute", "in the minute"),
    ("left", "codes left:"),
    ("last4", "key ending in"),
    ("asked_by", "asked for by"),
    ("approved_by", "approved by"),
    ("emergency", "emergency:"),
    ("protection", "protection"),
    ("changes", ""),
    ("phi", "PHI"),
    ("agreement", "agreement"),
    ("agreement_expires", "until"),
    ("factor", "wrong"),
    ("origin", ""),
    ("address", "from"),
    ("cause", "because:"),
];

/// Returns the change, its reason, and what else is worth reading.
fn act_words(act: &AdminAct) -> String {
    let mut words: Vec<String> = change_words(act).into_iter().collect();
    words.extend(act.reason.clone());
    for (name, before) in DETAILS {
        let value = act.details.get(*name).filter(|value| !value.is_empty());
        words.extend(value.map(|value| format!("{before} {value}").trim().to_owned()));
    }
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

fn change_words(act: &AdminAct) -> Option<String> {
    let (from, to) = act.from.as_ref().zip(act.to.as_ref())?;
    let arrow = |from: &str, to: &str| format!("{from} → {to}");
    Some(match act.act {
        Act::ModeSet => arrow(mode_label(from), mode_label(to)),
        Act::SettingsSet => changed_settings(from, to).join(", "),
        _ if from.is_empty() => format!("→ {to}"),
        _ if to.is_empty() => format!("{from} removed"),
        _ => arrow(from, to),
    })
}

/// The settings that differ, by name.
fn changed_settings(from: &str, to: &str) -> Vec<String> {
    let read = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    flatten(&read(from), "", &mut before);
    flatten(&read(to), "", &mut after);
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let shown = |values: &BTreeMap<String, String>, name: &String| {
        values
            .get(name)
            .map_or("default", String::as_str)
            .to_owned()
    };
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| format!("{name} {} → {}", shown(&before, name), shown(&after, name)))
        .collect()
}

/// The values of nested settings by their own names; `retention.legal_hold` is `legal_hold`.
fn flatten(value: &Value, name: &str, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                flatten(value, name, into);
            }
        }
        Value::String(text) => {
            into.insert(name.to_owned(), text.clone());
        }
        other => {
            into.insert(name.to_owned(), other.to_string());
        }
    }
}

/// Kinds of PHI with their counts, in the order of the table of kinds.
pub(crate) fn kinds(types: &BTreeMap<String, u32>) -> Vec<KindChip> {
    let known = PhiKind::all().filter_map(|kind| types.get_key_value(kind.code()));
    let further = types
        .iter()
        .filter(|(code, _)| PhiKind::from_code(code).is_none());
    known
        .chain(further)
        .map(|(code, count)| KindChip::new(code, u64::from(*count)))
        .collect()
}

/// The name of a mode by its code, as acts have it.
fn mode_label(code: &str) -> &str {
    code.parse::<Mode>().map_or(code, |mode| mode.label)
}

fn took(outcome: Option<&Outcome>) -> String {
    let ms = outcome.and_then(|outcome| outcome.total_ms);
    ms.map(duration).unwrap_or_default()
}

fn status(outcome: Option<&Outcome>) -> String {
    match outcome {
        None => "open".to_owned(),
        Some(outcome) => match (outcome.status, outcome.error_code) {
            (Some(status), _) => status.to_string(),
            (None, Some(code)) => code.to_string(),
            (None, None) => "–".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn act(act: Act) -> AdminAct {
        AdminAct::new(
            Timestamp::UNIX_EPOCH,
            "default",
            "morgan@clinic.example",
            act,
        )
    }

    #[test]
    fn acts_describe_changes_in_words() {
        let from = r#"{"thresholds":{},"retention":{"content_days":2192,"legal_hold":false}}"#;
        let to =
            r#"{"thresholds":{"name":0.4},"retention":{"content_days":2192,"legal_hold":true}}"#;
        let invitation = act(Act::LinkCreate).detail("email", "sam@clinic.example");
        for (act, words) in [
            (
                act(Act::ModeSet).change(Mode::FLAG.code(), Mode::MASK.code()),
                "Flag / Audit → Mask",
            ),
            (
                act(Act::SettingsSet).change(from, to),
                "legal_hold false → true, name default → 0.4",
            ),
            (
                act(Act::KeyCreate).detail("name", "intake form"),
                "intake form",
            ),
            (
                invitation.detail("role", "auditor"),
                "sam@clinic.example, as auditor",
            ),
            (act(Act::AliasSet).change("gpt-4o", ""), "gpt-4o removed"),
            (
                act(Act::LoginFailed).detail("origin", "192.0.2.1"),
                "192.0.2.1",
            ),
            (act(Act::SessionEnd), ""),
            (
                act(Act::PolicySet)
                    .change("ssn=block", "ssn=mask")
                    .detail("protection", "reduced"),
                "ssn=block → ssn=mask, protection reduced",
            ),
            (
                act(Act::ProviderSet)
                    .change("default", "http://127.0.0.1:9190")
                    .detail("phi", "masked")
                    .detail("agreement", "BAA 2026-114")
                    .detail("agreement_expires", "2027-12-31"),
                "default → http://127.0.0.1:9190, PHI masked, agreement BAA 2026-114, until 2027-12-31",
            ),
        ] {
            assert_eq!(act_words(&act), words);
        }
    }
}
