//! Changes that weaken protection: what they are, whom they concern, and the question asked before they are saved.
//!
//! A new way to weaken something is a variant of [`Weaker`], its words, and what counts whom it concerns.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use phi_detect::PhiKind;
use phigate_store::{By, Filter, RecordKind, Settings, Window};
use phigate_types::{Action, Effect, ErrorCode, Mode, Replies};

use crate::Dash;
use crate::layout::Layout;
use crate::view::{counted, grouped};
use crate::visit::{PageError, SignedIn, page};
use phigate_store::reason;

/// One thing that protects less than before.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Weaker {
    /// PHI goes on unchanged.
    Mode(Mode),
    /// What cannot be scanned goes on.
    Attachments,
    /// Fewer findings of a kind count.
    Threshold(PhiKind),
    /// Medical record numbers of the site's own formats are found no more.
    MrnFormats,
    /// Content is deleted sooner.
    ContentDays(u32),
    /// Records are deleted sooner.
    RecordDays(u32),
    /// What is due may be deleted.
    LegalHold(u32),
    /// Less is done about PHI in replies.
    Replies(Replies),
    /// A password alone opens the dashboard.
    SecondFactor,
}

/// What another mode weakens.
pub(super) fn of_mode(before: Mode, after: Mode) -> Vec<Weaker> {
    let keeps = |mode: Mode| matches!(mode.effect, Effect::Keep);
    match keeps(after) && !keeps(before) {
        true => vec![Weaker::Mode(before)],
        false => Vec::new(),
    }
}

/// What other settings weaken.
pub(super) fn of_settings(before: &Settings, after: &Settings) -> Vec<Weaker> {
    let mut weaker = Vec::new();
    let mut add = |is_weaker: bool, what: Weaker| {
        if is_weaker {
            weaker.push(what);
        }
    };
    add(
        after.allow_unscannable && !before.allow_unscannable,
        Weaker::Attachments,
    );
    for kind in PhiKind::all() {
        let of = |settings: &Settings| effective(settings, kind);
        add(of(after) > of(before), Weaker::Threshold(kind));
    }
    let is_kept = |format: &String| after.detection.mrn_formats.contains(format);
    add(
        !before.detection.mrn_formats.iter().all(is_kept),
        Weaker::MrnFormats,
    );
    let (old, new) = (before.retention, after.retention);
    add(
        new.content_days < old.content_days,
        Weaker::ContentDays(new.content_days),
    );
    add(
        new.metadata_days < old.metadata_days,
        Weaker::RecordDays(new.metadata_days),
    );
    add(
        old.legal_hold && !new.legal_hold,
        Weaker::LegalHold(new.metadata_days),
    );
    add(
        rank(after.replies) < rank(before.replies),
        Weaker::Replies(after.replies),
    );
    add(
        before.require_second_factor && !after.require_second_factor,
        Weaker::SecondFactor,
    );
    weaker
}

/// The score from which a kind counts. A kind that is off counts never.
fn effective(settings: &Settings, kind: PhiKind) -> f64 {
    let default = if kind.rule().is_on_by_default {
        f64::from(kind.default_threshold(phi_detect::Depth::Careful))
    } else {
        f64::INFINITY
    };
    settings
        .detection
        .thresholds
        .get(kind.code())
        .copied()
        .unwrap_or(default)
}

/// How much is done about PHI in replies.
fn rank(replies: Replies) -> u8 {
    match replies {
        Replies::Off => 0,
        Replies::Flag => 1,
        Replies::Mask | Replies::Redact => 2,
        Replies::Block => 3,
    }
}

/// The question.
#[derive(Template)]
#[template(path = "settings/confirm.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) error: Option<String>,
    pub(crate) address: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) changes: Vec<Change>,
    pub(crate) reason: String,
}

/// One thing that protects less, and whom it concerns.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) what: String,
    pub(crate) concerns: String,
}

/// What came of asking.
pub(super) enum Asked<'a> {
    /// Nothing had to be asked, or a reason was given.
    Given(By<'a>),
    /// It is asked now; nothing was saved.
    First(Box<Response>),
}

/// Asks before protection is weakened: once, with what it means and how much it concerns. The reason goes into the trail.
pub(super) async fn ask<'v>(
    dash: &Dash,
    visit: &'v SignedIn,
    address: &str,
    weaker: &[Weaker],
) -> Result<Asked<'v>, PageError> {
    let form = visit.form();
    let (is_asked, given) = (form.is_ticked("confirmed"), form.get("why"));
    let why = reason(given).filter(|_| is_asked);
    if weaker.is_empty() || why.is_some() {
        return Ok(Asked::Given(By {
            actor: visit.actor(),
            reason: why,
        }));
    }
    let mut changes = Vec::new();
    for what in weaker {
        changes.push(Change {
            what: words(what),
            concerns: concerns(dash, visit, what).await?,
        });
    }
    let error = is_asked.then(|| "Give a reason of 4 to 400 characters.".to_owned());
    let question = page(&Page {
        layout: visit.layout("/settings"),
        error,
        address: address.to_owned(),
        fields: form.without(&["csrf", "confirmed", "why"]),
        changes,
        reason: given.to_owned(),
    })?;
    Ok(Asked::First(Box::new(question)))
}

/// What changes, in words.
fn words(weaker: &Weaker) -> String {
    match weaker {
        Weaker::Mode(before) => format!(
            "PHI will be forwarded unchanged. The mode is {} now.",
            before.label
        ),
        Weaker::Attachments => {
            "Images, audio and files are forwarded without being scanned, in every mode.".to_owned()
        }
        Weaker::Threshold(kind) => {
            format!("Fewer findings of the type {} count.", kind.label())
        }
        Weaker::MrnFormats => {
            "Medical record numbers of a removed format are no longer looked for.".to_owned()
        }
        Weaker::ContentDays(days) => {
            format!(
                "Originals and sent content are deleted after {}, for good.",
                counted(u64::from(*days), "day")
            )
        }
        Weaker::RecordDays(days) => {
            format!(
                "Records are deleted after {}, for good.",
                counted(u64::from(*days), "day")
            )
        }
        Weaker::LegalHold(_) => {
            "The legal hold ends: whatever is past its retention time is deleted from now on, for good."
                .to_owned()
        }
        Weaker::Replies(after) => format!("Less is done about PHI in replies: {}.", after.label()),
        Weaker::SecondFactor => "A password alone is enough to sign in.".to_owned(),
    }
}

/// How many records or requests it concerns, in words.
async fn concerns(dash: &Dash, visit: &SignedIn, weaker: &Weaker) -> Result<String, PageError> {
    let stats = || dash.vault.figures.stats(visit.account_id(), Window::Month);
    Ok(match weaker {
        Weaker::Mode(_) => kept_back(&stats().await?.phi_by_action),
        Weaker::Attachments => {
            let filter = Filter {
                error: Some(ErrorCode::UnscannableContent),
                since: days_ago(30),
                requests: true,
                ..Filter::default()
            };
            let refused = count(dash, visit, &filter, "request").await?;
            format!(
                "In the last 30 days, such parts led to the refusal of {refused}. Requests like these will be forwarded."
            )
        }
        Weaker::Threshold(kind) => found(&stats().await?.by_type, kind.code()),
        Weaker::MrnFormats => found(&stats().await?.by_type, "mrn"),
        Weaker::ContentDays(days) => {
            let filter = Filter {
                phi_detected: Some(true),
                until: days_ago(*days),
                ..Filter::default()
            };
            format!(
                "The content of {} is older than that today.",
                count(dash, visit, &filter, "request").await?
            )
        }
        Weaker::RecordDays(days) | Weaker::LegalHold(days) => {
            let filter = Filter {
                record: Some(RecordKind::Decision),
                until: days_ago(*days),
                ..Filter::default()
            };
            format!(
                "The records of {} are older than that today.",
                count(dash, visit, &filter, "request").await?
            )
        }
        Weaker::Replies(_) => format!(
            "The present setting applied to {} in the last 30 days.",
            counted(stats().await?.requests, "request")
        ),
        Weaker::SecondFactor => {
            let users = dash.vault.people.users(visit.account_id()).await?;
            let with = users.iter().filter(|user| user.has_totp).count();
            format!(
                "{with} of {} logins have a second factor now, and may turn it off.",
                users.len()
            )
        }
    })
}

fn kept_back(phi_by_action: &BTreeMap<String, u64>) -> String {
    let kept = phi_by_action.iter();
    let kept = kept.filter(|(action, _)| *action != Action::FORWARDED.code());
    format!(
        "In the last 30 days, phigate changed or held back {} with PHI. Requests like these will be forwarded unchanged.",
        counted(kept.map(|(_, count)| count).sum(), "request")
    )
}

fn found(by_type: &BTreeMap<String, u64>, code: &str) -> String {
    let found = by_type.get(code).copied().unwrap_or(0);
    format!(
        "In the last 30 days, this type was found in {}.",
        counted(found, "request")
    )
}

fn days_ago(days: u32) -> Option<Timestamp> {
    let hours = i64::from(days).saturating_mul(24);
    let ago = Timestamp::now().checked_sub(SignedDuration::from_hours(hours));
    Some(ago.unwrap_or(Timestamp::MIN))
}

/// Counts, no further than a page can wait for.
async fn count(
    dash: &Dash,
    visit: &SignedIn,
    filter: &Filter,
    thing: &str,
) -> Result<String, PageError> {
    const MOST: usize = 100_000;
    let figures = &dash.vault.figures;
    let count = figures.count(visit.account_id(), filter, MOST).await?;
    Ok(match count.is_least {
        true => format!("{} {thing}s or more", grouped(count.number)),
        false => counted(count.number, thing),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use phigate_store::{Detection, Retention};

    #[test]
    fn only_a_mode_that_lets_phi_pass_is_weaker() {
        for before in Mode::all() {
            for after in Mode::all() {
                let asks = !of_mode(before, after).is_empty();
                assert_eq!(asks, after == Mode::FLAG && before != Mode::FLAG);
            }
        }
    }

    #[test]
    fn every_way_to_weaken_settings_is_seen_and_none_to_strengthen_them() {
        let strict = Settings {
            detection: Detection {
                mrn_formats: vec!["MR-9999999".to_owned()],
                ..Detection::default()
            },
            retention: Retention {
                legal_hold: true,
                ..Retention::default()
            },
            replies: Replies::Block,
            require_second_factor: true,
            ..Settings::default()
        };
        let loose = Settings {
            allow_unscannable: true,
            detection: Detection {
                thresholds: [("ssn".to_owned(), 0.9)].into(),
                ..Detection::default()
            },
            retention: Retention {
                content_days: 1,
                metadata_days: 2,
                legal_hold: false,
            },
            ..Settings::default()
        };
        let ssn = PhiKind::from_code("ssn").unwrap();
        assert_eq!(
            of_settings(&strict, &loose),
            [
                Weaker::Attachments,
                Weaker::Threshold(ssn),
                Weaker::MrnFormats,
                Weaker::ContentDays(1),
                Weaker::RecordDays(2),
                Weaker::LegalHold(2),
                Weaker::Replies(Replies::Off),
                Weaker::SecondFactor,
            ]
        );
        assert_eq!(of_settings(&loose, &strict), []);
        assert_eq!(of_settings(&strict, &strict), []);
    }
}
