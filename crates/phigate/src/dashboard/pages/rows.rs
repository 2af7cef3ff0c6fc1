//! Records as lines of a list.

use std::collections::{BTreeMap, BTreeSet};

use phi_detect::PhiKind;
use phigate_core::protect::mode;
use phigate_store::{AdminAct, Decision, Disclosure, Outcome, Record, RequestRow};
use serde_json::Value;

use crate::dashboard::view::{KindChip, When};

/// A request.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) href: String,
    pub(crate) time: When,
    pub(crate) action: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) types: Vec<KindChip>,
    pub(crate) subject: String,
    pub(crate) actor: String,
    pub(crate) mode: String,
    pub(crate) status: String,
}

/// An act of administration.
#[derive(Debug)]
pub(crate) struct Act {
    pub(crate) time: When,
    pub(crate) act: String,
    pub(crate) tone: &'static str,
    pub(crate) actor: String,
    pub(crate) target: String,
    pub(crate) href: String,
    pub(crate) words: String,
}

/// What can be done with a request.
pub(crate) struct Action {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    tone: &'static str,
}

/// The actions of decisions.
pub(crate) static ACTIONS: &[Action] = &[
    // As a filter lists them.
    Action {
        code: "forwarded",
        label: "Forwarded",
        tone: "",
    },
    Action {
        code: "blocked",
        label: "Blocked",
        tone: "blocked",
    },
    Action {
        code: "redacted",
        label: "Redacted",
        tone: "redacted",
    },
    Action {
        code: "masked",
        label: "Masked",
        tone: "masked",
    },
    Action {
        code: "refused",
        label: "Refused",
        tone: "refused",
    },
];

// Words for acts of administration, by group and act; an act without words keeps its code.
static ACTS: &[(&str, &str, &str)] = &[
    // Alphabetical: act, words, tone.
    ("account.create", "Account created", ""),
    ("account.delete", "Account deleted", "warn"),
    ("alias.set", "Alias changed", ""),
    ("audit.export", "Log exported", "warn"),
    ("audit.find", "Identifier looked up", "warn"),
    ("content.reveal", "Content revealed", "warn"),
    ("key.create", "API key created", ""),
    ("key.refused", "Bad key refused", "bad"),
    ("key.revoke", "API key revoked", ""),
    ("key.rotate", "API key rotated", ""),
    ("link.create", "Invitation made", ""),
    ("link.remove", "Invitation withdrawn", ""),
    ("login", "Signed in", ""),
    ("login.failed", "Sign-in failed", "bad"),
    ("master_key.rotate", "Master key rotated", "info"),
    ("mode.set", "Mode changed", "info"),
    ("provider.remove", "Provider key removed", ""),
    ("provider.set", "Provider set", ""),
    ("retention.content", "Content deleted by age", ""),
    ("retention.records", "Records deleted by age", ""),
    ("session.end", "Session ended", ""),
    ("session.end_all", "Sessions ended", ""),
    ("settings.set", "Settings changed", "info"),
    ("user.create", "User added", ""),
    ("user.password", "Password changed", ""),
    ("user.remove", "User removed", ""),
    ("user.totp.remove", "Second factor turned off", "warn"),
    ("user.totp.set", "Second factor turned on", ""),
];

/// The label and tone of a decision's action. PHI that went on unchanged stands out.
pub(crate) fn action(decision: &Decision) -> (&'static str, &'static str) {
    match ACTIONS.iter().find(|action| action.code == decision.action) {
        Some(action) if action.tone.is_empty() && decision.phi_detected => (action.label, "flag"),
        Some(action) => (action.label, action.tone),
        None => ("Unknown", ""),
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
        types: kinds(&decision.types),
        subject: decision.model.clone().unwrap_or_else(|| "–".to_owned()),
        actor: key_names
            .get(&decision.key_id)
            .filter(|name| !name.is_empty())
            .unwrap_or(&decision.key_id)
            .clone(),
        mode: mode_label(&decision.mode),
        status: status(request.outcome.as_ref()),
    }
}

/// A request in which an identifier was found, as a line.
pub(crate) fn disclosure_row(hit: &Disclosure) -> Row {
    let code = hit.action.as_deref().unwrap_or_default();
    let known = ACTIONS.iter().find(|action| action.code == code);
    Row {
        href: format!("/audit/{}", hit.request_id),
        time: When::at(hit.time),
        action: known.map_or("Unknown", |action| action.label),
        // The identifier itself went out: that is what was asked.
        tone: known.map_or("", |action| {
            if action.tone.is_empty() {
                "flag"
            } else {
                action.tone
            }
        }),
        types: Vec::new(),
        subject: hit.model.clone().unwrap_or_else(|| "–".to_owned()),
        actor: hit.key_id.clone().unwrap_or_default(),
        mode: String::new(),
        status: hit
            .provider_status
            .map(|status| status.to_string())
            .unwrap_or_default(),
    }
}

/// An act of administration as a line; none for other records.
pub(crate) fn act_row(record: &Record) -> Option<Act> {
    let Record::Admin(act) = record else {
        return None;
    };
    let known = ACTS.iter().find(|(code, ..)| *code == act.act);
    Some(Act {
        time: When::at(act.time),
        act: known.map_or_else(|| act.act.clone(), |(_, words, _)| (*words).to_owned()),
        tone: known.map_or("", |(_, _, tone)| tone),
        actor: act.actor.clone(),
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
    ("records", "records:"),
    ("last4", "key ending in"),
    ("factor", "wrong"),
    ("origin", ""),
    ("address", "from"),
];

/// What changed, why, and what else is worth reading.
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
    Some(match act.act.as_str() {
        "mode.set" => arrow(&mode_label(from), &mode_label(to)),
        "settings.set" => changed_settings(from, to).join(", "),
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

/// The name of a mode, or its code when this version does not know it.
pub(crate) fn mode_label(code: &str) -> String {
    mode(code).map_or_else(|| code.to_owned(), |mode| mode.label.to_owned())
}

fn status(outcome: Option<&Outcome>) -> String {
    match outcome {
        None => "open".to_owned(),
        Some(outcome) => match (outcome.status, outcome.error_code.as_deref()) {
            (Some(status), _) => status.to_string(),
            (None, Some(code)) => code.to_owned(),
            (None, None) => "–".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn act(code: &str) -> AdminAct {
        AdminAct::new(
            Timestamp::UNIX_EPOCH,
            "default",
            "morgan@clinic.example",
            code,
        )
    }

    #[test]
    fn acts_say_what_changed_in_words() {
        let from = r#"{"thresholds":{},"retention":{"content_days":2192,"legal_hold":false}}"#;
        let to =
            r#"{"thresholds":{"name":0.4},"retention":{"content_days":2192,"legal_hold":true}}"#;
        let invitation = act("link.create").detail("email", "sam@clinic.example");
        for (act, words) in [
            (
                act("mode.set").change("flag", "mask"),
                "Flag / Audit → Mask",
            ),
            (
                act("settings.set").change(from, to),
                "legal_hold false → true, name default → 0.4",
            ),
            (
                act("key.create").detail("name", "intake form"),
                "intake form",
            ),
            (
                invitation.detail("role", "auditor"),
                "sam@clinic.example, as auditor",
            ),
            (act("alias.set").change("gpt-4o", ""), "gpt-4o removed"),
            (
                act("login.failed").detail("origin", "192.0.2.1"),
                "192.0.2.1",
            ),
            (act("session.end"), ""),
        ] {
            assert_eq!(act_words(&act), words);
        }
    }
}
