//! Records as lines of a list.

use std::collections::BTreeMap;

use phi_detect::PhiKind;
use phigate_core::protect::mode;
use phigate_store::{Decision, Disclosure, Outcome, Record, RequestRow};

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
    let change = act
        .from
        .as_ref()
        .zip(act.to.as_ref())
        .filter(|_| act.act == "mode.set");
    let change = change.map(|(from, to)| format!("{} → {}", mode_label(from), mode_label(to)));
    let reason = act.reason.clone().filter(|reason| !reason.is_empty());
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
        words: change.or(reason).unwrap_or_default(),
    })
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
