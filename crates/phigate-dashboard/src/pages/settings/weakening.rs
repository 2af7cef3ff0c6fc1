//! Changes that weaken protection: the records and requests that they concern, and the question asked before a save.
//!
//! [`Weaker`] lists the weakening changes; this module counts what each of them concerns.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use phi_detect::PhiKind;
use phigate_gateway::Weaker;
use phigate_store::{By, Filter, RecordKind, Window};
use phigate_types::{Act, Action, ErrorCode};

use crate::Dash;
use crate::layout::Layout;
use crate::view::{counted, grouped};
use crate::visit::{PageError, SignedIn, page};
use phigate_store::reason;

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

/// One change that protects less, and the records or requests that it concerns.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) what: String,
    pub(crate) concerns: String,
}

/// Result of asking.
pub(in crate::pages) enum Asked<'a> {
    /// Nothing had to be asked, or a reason was given.
    Given(By<'a>),
    /// The question is asked now; nothing was saved.
    First(Box<Response>),
}

/// Asks before protection is weakened: once, with what it means and how much it concerns. The reason goes into the trail.
pub(in crate::pages) async fn ask<'v>(
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
            what: what.words(),
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

/// Returns the number of records or requests that a change concerns, in words.
async fn concerns(dash: &Dash, visit: &SignedIn, weaker: &Weaker) -> Result<String, PageError> {
    let stats = || dash.vault.figures.stats(visit.account_id(), Window::Month);
    Ok(match weaker {
        Weaker::Mode(_) => kept_back(&stats().await?.phi_by_action),
        Weaker::Attachments => {
            let refused = refused_parts();
            let refused = count(dash, visit, &refused, "request").await?;
            format!(
                "In the last 30 days, such parts led to the refusal of {refused}. Requests like these will be forwarded."
            )
        }
        Weaker::Threshold(kind) | Weaker::Kind { kind, .. } | Weaker::Recognizer(kind) => {
            found(&stats().await?.by_type, kind.code())
        }
        Weaker::KindsOff(kinds) => each_found(&stats().await?.by_type, kinds),
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
        Weaker::Approvals => {
            let times = count(dash, visit, &recent_reveals(), "time").await?;
            format!("In the last 30 days, content was revealed {times}.")
        }
        Weaker::Replies(_) | Weaker::Depth => format!(
            "The present setting applied to {} in the last 30 days.",
            counted(stats().await?.requests, "request")
        ),
        // The provider page asks for the reason, so that no secret is sent twice. Keys move by command.
        Weaker::Agreement(_) | Weaker::Allowed(_) | Weaker::Roster | Weaker::LeavesGroup(_) => {
            String::new()
        }
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

/// Reveals of content in the last 30 days.
fn recent_reveals() -> Filter {
    Filter {
        record: Some(RecordKind::Admin),
        act: Some(Act::ContentReveal),
        since: days_ago(30),
        ..Filter::default()
    }
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

fn each_found(by_type: &BTreeMap<String, u64>, kinds: &[PhiKind]) -> String {
    let codes = kinds.iter().map(|kind| kind.code());
    let counts = codes.filter_map(|code| by_type.get(code)).copied();
    format!(
        "In the last 30 days, each of these types was found in up to {}.",
        counted(counts.max().unwrap_or(0), "request")
    )
}

/// Requests that were refused because of parts that cannot be scanned.
fn refused_parts() -> Filter {
    Filter {
        error: Some(ErrorCode::UnscannableContent),
        since: days_ago(30),
        requests: true,
        ..Filter::default()
    }
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
