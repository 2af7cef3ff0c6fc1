//! Preview of changed words: past requests that they would have treated differently.

use std::collections::BTreeMap;
use std::time::Duration;

use askama::Template;
use jiff::{SignedDuration, Timestamp};
use phigate_gateway::{LevelChanges, TriedPolicy};
use phigate_store::{ApiKeyInfo, PolicyLevel, PolicyWords};
use phigate_types::Word;

use super::{ADDRESS, failed, kind_labels, label_of, tabs, word_label};
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, Tally, counted, grouped};
use crate::visit::{PageError, SignedIn};

/// Age of the oldest request that is tried.
const DAYS: i64 = 30;

/// Time for trying.
const TIME: Duration = Duration::from_secs(8);

/// The question before the save.
#[derive(Template)]
#[template(path = "settings/policy-preview.html")]
pub(crate) struct Preview {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) address: &'static str,
    /// Requests that would have been treated differently, by their treatment.
    pub(crate) answer: Vec<Tally>,
    /// Number of requests that were tried, in words.
    pub(crate) tried: String,
    pub(crate) changes: Vec<Change>,
    pub(crate) findings: Vec<Changed>,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) is_weaker: bool,
    pub(crate) reason: String,
}

/// One changed word.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) level: String,
    pub(crate) kind: String,
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
    pub(crate) is_weaker: bool,
}

/// Past findings of a kind that would have been treated differently.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) kind: String,
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
    pub(crate) findings: String,
    pub(crate) requests: String,
}

impl Preview {
    /// Tries the changes on past requests.
    pub(super) async fn of(
        dash: &Dash,
        visit: &SignedIn,
        changes: &LevelChanges,
        (before, after): (&PolicyWords, &PolicyWords),
        keys: &[ApiKeyInfo],
    ) -> Result<Self, PageError> {
        let since = Timestamp::now() - SignedDuration::from_hours(24 * DAYS);
        let tried = dash
            .gateway
            .try_policy(&visit.account, changes, (since, TIME), visit.actor())
            .await
            .map_err(failed)?;
        let form = visit.form();
        let labels: BTreeMap<&str, String> = kind_labels(visit).into_iter().collect();
        let changes = words_changed(changes, (before, after), (&labels, keys));
        let asked = form.is_ticked("confirmed");
        let is_weaker = changes.iter().any(|change| change.is_weaker);
        Ok(Self {
            layout: visit.layout("/settings"),
            tabs: tabs(ADDRESS),
            error: (asked && is_weaker).then(|| "Give a reason of 4 to 400 characters.".to_owned()),
            address: ADDRESS,
            answer: answer(&tried),
            tried: tried_words(&tried),
            findings: findings_changed(&tried, &labels),
            is_weaker,
            changes,
            fields: form.without(&["csrf", "confirmed", "why", "step"]),
            reason: form.get("why").to_owned(),
        })
    }
}

/// Requests whose strongest treatment would have been another, by that treatment.
fn answer(tried: &TriedPolicy) -> Vec<Tally> {
    let mut words: Vec<Word> = Word::all().collect();
    words.reverse();
    let tally = |word: Word| {
        let changed = tried.requests.iter();
        let changed = changed.filter(|((now, then), _)| now != then && *then == word.code());
        let count = changed.map(|(_, count)| *count).sum::<usize>();
        let count = u64::try_from(count).unwrap_or_default();
        let (label, tone) = match word {
            Word::Off => ("forwarded without a finding", "bad"),
            Word::Treat(mode) => (mode.action.label(), mode.action.tone().class()),
        };
        (count > 0).then_some(Tally { count, label, tone })
    };
    words.into_iter().filter_map(tally).collect()
}

fn tried_words(tried: &TriedPolicy) -> String {
    let count = u64::try_from(tried.tried()).unwrap_or_default();
    match (count, tried.is_whole) {
        (0, true) => format!(
            "There is no request with PHI from the last {DAYS} days whose content is still stored, so nothing could be tried."
        ),
        (count, true) => format!(
            "Tried on {} with PHI from the last {DAYS} days. Nothing was sent; the trail says that you tried.",
            counted(count, "request")
        ),
        (count, false) => format!(
            "Tried on the newest {} with PHI; then the time for a preview was over. phigate policy try has no such limit.",
            counted(count, "request")
        ),
    }
}

fn words_changed(
    changes: &LevelChanges,
    (before, after): (&PolicyWords, &PolicyWords),
    (labels, keys): (&BTreeMap<&str, String>, &[ApiKeyInfo]),
) -> Vec<Change> {
    let change = |level: PolicyLevel<'_>, kind: &str| {
        let [old, new] = [before, after].map(|words| words.own_word(level, kind));
        Change {
            level: label_of(level, keys),
            kind: labels.get(kind).cloned().unwrap_or_default(),
            before: said(before, level, kind),
            after: said(after, level, kind),
            is_weaker: new.strength() < old.strength(),
        }
    };
    let levels = changes.levels();
    let all = levels.flat_map(|(level, words)| words.keys().map(move |kind| (level, kind)));
    all.map(|(level, kind)| change(level, kind)).collect()
}

/// The word of a level for people. A group or key without a word leaves the kind to the account.
fn said(words: &PolicyWords, level: PolicyLevel<'_>, kind: &str) -> &'static str {
    let is_said = match level {
        PolicyLevel::Account => true,
        PolicyLevel::Group(name) => {
            let group = words.groups.get(name);
            group.is_some_and(|words| words.contains_key(kind))
        }
        PolicyLevel::Key(id) => {
            let key = words.keys.get(id);
            key.is_some_and(|key| key.policy.contains_key(kind))
        }
    };
    match is_said {
        true => word_label(words.own_word(level, kind)),
        false => "no word",
    }
}

fn findings_changed(tried: &TriedPolicy, labels: &BTreeMap<&str, String>) -> Vec<Changed> {
    let mut all: BTreeMap<(&str, &str, &str), (usize, usize)> = BTreeMap::new();
    for ((kind, now, then, _), found) in &tried.findings {
        if now != then {
            let (findings, requests) = all.entry((kind, now, then)).or_default();
            *findings += found.count;
            *requests += found.requests.len();
        }
    }
    let label = |code: &str| code.parse().map_or("", word_label);
    let number = |count: usize| grouped(u64::try_from(count).unwrap_or_default());
    let row =
        |((kind, now, then), (findings, requests)): ((&str, &str, &str), (usize, usize))| Changed {
            kind: labels
                .get(kind)
                .map_or_else(|| kind.to_owned(), Clone::clone),
            before: label(now),
            after: label(then),
            findings: number(findings),
            requests: number(requests),
        };
    all.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_counts_requests_treated_otherwise() {
        let tried = TriedPolicy {
            requests: [
                (("mask", "block"), 12),
                (("flag", "block"), 1),
                (("mask", "mask"), 50),
                (("flag", "mask"), 340),
            ]
            .into(),
            is_whole: true,
            ..TriedPolicy::default()
        };
        let told: Vec<_> = answer(&tried)
            .iter()
            .map(|tally| (tally.count, tally.label))
            .collect();
        assert_eq!(told, [(13, "Blocked"), (340, "Masked")]);
        assert!(tried_words(&tried).contains("403 requests"));
    }
}
