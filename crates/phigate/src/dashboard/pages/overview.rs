//! What happened, and is anything wrong.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use jiff::{SignedDuration, Timestamp};
use phi_detect::PhiKind;
use phigate_core::protect::MODES;
use phigate_core::wire::FORMATS;
use phigate_store::{ApiKeyInfo, Bucket, Filter, RecordKind, RequestRow, Stats, Window};

use super::rows::{Row, request_row};
use crate::dashboard::Dash;
use crate::dashboard::chart::{Chart, Slot};
use crate::dashboard::chrome::Chrome;
use crate::dashboard::latency::added_ms;
use crate::dashboard::view::{Choice, choices, grouped, percent};
use crate::dashboard::visit::{Answer, SignedIn, page};

/// The first page.
#[derive(Template)]
#[template(path = "overview.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) headline: String,
    pub(crate) periods: Vec<Choice>,
    pub(crate) steps: Option<Vec<Step>>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) chart: Chart,
    pub(crate) attention: Vec<Line>,
    pub(crate) types: Vec<Bar>,
    pub(crate) modes: Vec<Bar>,
    pub(crate) mode_label: String,
    pub(crate) health: Vec<Health>,
    pub(crate) latest: Vec<Row>,
}

/// One step of the first run.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) title: &'static str,
    pub(crate) words: &'static str,
    pub(crate) href: &'static str,
    pub(crate) link: &'static str,
    pub(crate) done: bool,
    pub(crate) next: bool,
}

/// One number to read at a glance.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) unit: &'static str,
    pub(crate) note: String,
    pub(crate) href: String,
    pub(crate) tone: &'static str,
}

/// Something that needs attention.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) tone: &'static str,
    pub(crate) text: String,
    pub(crate) href: &'static str,
    pub(crate) link: &'static str,
}

/// One bar of a list of counts.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) percent: u64,
    pub(crate) count: String,
}

/// The state of one part of the system.
#[derive(Debug)]
pub(crate) struct Health {
    pub(crate) tone: &'static str,
    pub(crate) name: String,
    pub(crate) text: String,
}

/// How far back one looks.
struct Period {
    code: &'static str,
    label: &'static str,
    words: &'static str,
    span: &'static str,
    window: Window,
    by_day: bool,
}

static PERIODS: &[Period] = &[
    // The first is shown unless another is asked for.
    Period {
        code: "day",
        label: "24 hours",
        words: "in the last 24 hours",
        span: "last 24 hours, by hour",
        window: Window::Day,
        by_day: false,
    },
    Period {
        code: "week",
        label: "7 days",
        words: "in the last 7 days",
        span: "last 7 days, by hour",
        window: Window::Week,
        by_day: true,
    },
    Period {
        code: "month",
        label: "30 days",
        words: "in the last 30 days",
        span: "last 30 days, by day",
        window: Window::Month,
        by_day: true,
    },
];

/// How many of the newest requests tell about the health of the providers.
const RECENT: usize = 50;
/// How many requests with PHI are listed.
const LATEST: usize = 8;
/// Failed sign-ins within a day from which somebody should look.
const FAILED_LOGINS: usize = 5;
/// A key that stops within this time is worth a word.
const EXPIRES_SOON: SignedDuration = SignedDuration::from_hours(7 * 24);

/// `GET /`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let asked = visit.head.query.get("period");
    let period = PERIODS
        .iter()
        .find(|period| period.code == asked)
        .unwrap_or(&PERIODS[0]);
    let account_id = visit.account_id();
    let stats = dash.app.vault.stats(account_id, period.window).await?;
    let with_phi = Filter {
        phi_detected: Some(true),
        ..Filter::default()
    };
    let latest = dash
        .app
        .vault
        .request_list(account_id, &with_phi, None, LATEST)
        .await?
        .items;
    let recent = dash
        .app
        .vault
        .request_list(account_id, &Filter::default(), None, RECENT)
        .await?
        .items;
    let keys = dash.app.vault.api_keys(account_id).await?;
    let mode = MODES.iter().find(|mode| mode.id == visit.account.mode);
    let names = super::keys::names(&keys);
    let health = health(&dash, &visit, &recent).await;
    let attention = attention(&dash, &visit, &stats, &keys, &health).await?;
    page(&Page {
        chrome: visit.chrome("/"),
        headline: headline(&stats, period.words),
        periods: choices(
            PERIODS.iter().map(|period| (period.code, period.label)),
            period.code,
        ),
        steps: (visit.is_owner() && recent.is_empty()).then(|| steps(&visit, &keys)),
        figures: figures(&stats, added_ms(&dash.app.metrics.text()), period),
        chart: Chart::new(
            &stats.buckets.iter().map(slot).collect::<Vec<_>>(),
            period.span,
            period.by_day,
        ),
        attention,
        types: bars(
            &stats.by_type,
            PhiKind::all().map(|kind| (kind.code(), kind.label())),
        ),
        modes: bars(
            &stats.by_mode,
            MODES.iter().map(|mode| (mode.id, mode.label)),
        ),
        mode_label: mode.map_or_else(|| visit.account.mode.clone(), |mode| mode.label.to_owned()),
        health,
        latest: latest
            .iter()
            .map(|request| request_row(request, &names))
            .collect(),
    })
}

fn headline(stats: &Stats, words: &str) -> String {
    let requests = match stats.requests {
        0 => return format!("No requests {words}."),
        1 => "1 request".to_owned(),
        many => format!("{} requests", grouped(many)),
    };
    let blocked = count(&stats.by_action, "blocked");
    let found = match stats.with_phi {
        0 => "No PHI was found.".to_owned(),
        found => format!("PHI was found in {}.", grouped(found)),
    };
    match blocked {
        0 => format!("{requests} {words}. {found} None was blocked."),
        1 => format!("{requests} {words}. {found} One was blocked."),
        many => format!(
            "{requests} {words}. {found} {} were blocked.",
            grouped(many)
        ),
    }
}

fn steps(visit: &SignedIn, keys: &[ApiKeyInfo]) -> Vec<Step> {
    let has_provider = !visit.account.providers.is_empty();
    let has_key = keys.iter().any(|key| key.revoked.is_none());
    vec![
        Step {
            title: "Set a provider key",
            words: "So that phigate can ask a model on your behalf.",
            href: "/providers",
            link: "Set a key",
            done: has_provider,
            next: !has_provider,
        },
        Step {
            title: "Create an API key",
            words: "Your program sends it instead of the provider’s key.",
            href: "/keys",
            link: "Create a key",
            done: has_key,
            next: has_provider && !has_key,
        },
        Step {
            title: "Send the first request",
            words: "From the playground, or with the curl line that comes with the key.",
            href: "/playground",
            link: "Open the playground",
            done: false,
            next: has_provider && has_key,
        },
    ]
}

fn figures(stats: &Stats, added_ms: Option<[f64; 2]>, period: &Period) -> Vec<Figure> {
    let blocked = count(&stats.by_action, "blocked");
    let refused = count(&stats.by_action, "refused");
    let [middle, most, _] = stats.total_ms;
    let answers = match (middle, most) {
        (Some(middle), Some(most)) => format!(
            "answers took {}, 95% within {}",
            duration(middle),
            duration(most)
        ),
        _ => "no answers yet".to_owned(),
    };
    let figure = |label, value, note, href: &str| Figure {
        label,
        value,
        unit: "",
        note,
        href: format!("/audit?range={}{href}", period.code),
        tone: "",
    };
    vec![
        figure(
            "Requests",
            grouped(stats.requests),
            format!("{} tokens", grouped(stats.tokens)),
            "",
        ),
        figure(
            "With PHI",
            percent(stats.with_phi, stats.requests),
            format!("{} requests", grouped(stats.with_phi)),
            "&phi=yes",
        ),
        figure(
            "Blocked",
            grouped(blocked),
            format!("{} refused for other reasons", grouped(refused)),
            "&action=blocked",
        ),
        match added_ms {
            Some([half, _]) => Figure {
                unit: "ms",
                ..figure("Added by phigate", format!("≤ {half}"), answers, "")
            },
            None => figure(
                "Answer time",
                middle.map_or_else(|| "–".to_owned(), duration),
                answers,
                "",
            ),
        },
    ]
}

fn duration(ms: u64) -> String {
    if ms < 1000 {
        format!("{ms} ms")
    } else {
        format!("{:.1} s", ms as f64 / 1000.0)
    }
}

fn count(counts: &BTreeMap<String, u64>, code: &str) -> u64 {
    counts.get(code).copied().unwrap_or(0)
}

/// Splits what was forwarded into clean and flagged; the rest is counted by action.
fn slot(bucket: &Bucket) -> Slot {
    let [masked, redacted, blocked, refused, forwarded] =
        ["masked", "redacted", "blocked", "refused", "forwarded"]
            .map(|action| count(&bucket.by_action, action));
    let flagged = bucket
        .with_phi
        .saturating_sub(masked + redacted + blocked)
        .min(forwarded);
    Slot {
        start: bucket.start,
        counts: [
            forwarded - flagged,
            flagged,
            masked,
            redacted,
            blocked,
            refused,
        ],
    }
}

fn bars<'a>(
    counts: &BTreeMap<String, u64>,
    names: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<Bar> {
    let most = counts.values().copied().max().unwrap_or(0).max(1);
    let mut rows: Vec<(u64, &str, &str)> = names
        .map(|(code, label)| (count(counts, code), code, label))
        .filter(|(count, ..)| *count > 0)
        .collect();
    rows.sort_by(|one, other| other.0.cmp(&one.0));
    rows.into_iter()
        .map(|(count, code, label)| Bar {
            code: code.to_owned(),
            label: label.to_owned(),
            percent: (count * 100 / most).max(1),
            count: grouped(count),
        })
        .collect()
}

async fn health(dash: &Dash, visit: &SignedIn, recent: &[RequestRow]) -> Vec<Health> {
    let store = match dash.app.vault.ping().await {
        Ok(()) => Health {
            tone: "ok",
            name: "Audit store".to_owned(),
            text: "writes records".to_owned(),
        },
        Err(_) => Health {
            tone: "bad",
            name: "Audit store".to_owned(),
            text: "does not answer; requests are refused while this lasts".to_owned(),
        },
    };
    let providers = FORMATS.iter().map(|format| {
        let name = format.label().to_owned();
        let Some(provider) = visit.account.providers.get(format.id()) else {
            return Health {
                tone: "",
                name,
                text: "no key set".to_owned(),
            };
        };
        let last = recent
            .iter()
            .filter(|request| request.decision.family.as_deref() == Some(format.id()))
            .find_map(|request| request.outcome.as_ref());
        let failure = last
            .and_then(|outcome| outcome.error_code.as_deref())
            .and_then(failure_words);
        match failure {
            Some((tone, words)) => Health {
                tone,
                name,
                text: format!("{words}; key ends in {}", provider.last4),
            },
            None => {
                let words = if last.is_some() {
                    "answered the last request"
                } else {
                    "not asked lately"
                };
                Health {
                    tone: "ok",
                    name,
                    text: format!("{words}; key ends in {}", provider.last4),
                }
            }
        }
    });
    std::iter::once(store).chain(providers).collect()
}

/// What an error code says about a provider; none when it says nothing about it.
fn failure_words(code: &str) -> Option<(&'static str, &'static str)> {
    match code {
        "provider_auth_failed" => Some(("bad", "refused its key at the last request")),
        "provider_unreachable" => Some(("bad", "could not be reached at the last request")),
        "provider_timeout" => Some(("warn", "did not answer the last request in time")),
        "provider_rate_limited" => Some(("warn", "limited the rate at the last request")),
        "provider_overloaded" => Some(("warn", "was overloaded at the last request")),
        "provider_error" => Some(("warn", "failed at the last request")),
        _ => None,
    }
}

async fn attention(
    dash: &Dash,
    visit: &SignedIn,
    stats: &Stats,
    keys: &[ApiKeyInfo],
    health: &[Health],
) -> Result<Vec<Line>, crate::dashboard::visit::PageError> {
    let now = Timestamp::now();
    let is_owner = visit.is_owner();
    let mut lines = Vec::new();
    let mut say = |tone, text: String, href: &'static str, link: &'static str| {
        // Auditors cannot follow links to settings.
        let (href, link) = if is_owner || href.starts_with("/audit") {
            (href, link)
        } else {
            ("", "")
        };
        lines.push(Line {
            tone,
            text,
            href,
            link,
        });
    };
    for part in health
        .iter()
        .filter(|part| matches!(part.tone, "bad" | "warn"))
    {
        say(
            part.tone,
            format!("{}: {}.", part.name, part.text),
            "/providers",
            "Look at the provider",
        );
    }
    let flagged = stats
        .buckets
        .iter()
        .map(|bucket| slot(bucket).counts[1])
        .sum::<u64>();
    if flagged > 0 {
        let text = format!(
            "{} requests with PHI were forwarded unchanged.",
            grouped(flagged)
        );
        say("warn", text, "/settings#mode", "Choose another mode");
    }
    for key in keys.iter().filter(|key| key.revoked.is_none()) {
        let left = key.expires.map(|expires| expires.duration_since(now));
        if left.is_some_and(|left| left.is_positive() && left < EXPIRES_SOON) {
            let days = left.map_or(0, |left| left.as_hours() / 24);
            say(
                "warn",
                format!("The API key “{}” stops working in {days} days.", key.name),
                "/keys",
                "Rotate it",
            );
        }
    }
    let failed = Filter {
        record: Some(RecordKind::Admin),
        act: Some("login.failed".to_owned()),
        since: now.checked_sub(SignedDuration::from_hours(24)).ok(),
        ..Filter::default()
    };
    let failed = dash
        .app
        .vault
        .audit_list(visit.account_id(), &failed, None, 50)
        .await?
        .items
        .len();
    if failed >= FAILED_LOGINS {
        say(
            "warn",
            format!("{failed} sign-ins failed in the last 24 hours."),
            "/audit?record=admin",
            "Show them",
        );
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(requests: u64, with_phi: u64, actions: &[(&str, u64)]) -> Bucket {
        Bucket {
            start: Timestamp::UNIX_EPOCH,
            requests,
            with_phi,
            by_action: actions
                .iter()
                .map(|(action, count)| ((*action).to_owned(), *count))
                .collect(),
        }
    }

    #[test]
    fn what_was_forwarded_is_split_into_clean_and_flagged() {
        for (bucket, counts) in [
            (bucket(10, 3, &[("forwarded", 10)]), [7, 3, 0, 0, 0, 0]),
            (
                bucket(10, 4, &[("forwarded", 6), ("masked", 4)]),
                [6, 0, 4, 0, 0, 0],
            ),
            (
                bucket(
                    9,
                    5,
                    &[
                        ("forwarded", 5),
                        ("blocked", 2),
                        ("redacted", 1),
                        ("refused", 1),
                    ],
                ),
                [3, 2, 0, 1, 2, 1],
            ),
        ] {
            assert_eq!(slot(&bucket).counts, counts);
        }
    }

    #[test]
    fn the_headline_reads_as_a_sentence() {
        let mut stats = Stats {
            requests: 1,
            ..Stats::default()
        };
        assert_eq!(
            headline(&stats, "today"),
            "1 request today. No PHI was found. None was blocked."
        );
        stats = Stats {
            requests: 1200,
            with_phi: 30,
            ..Stats::default()
        };
        stats.by_action.insert("blocked".to_owned(), 2);
        assert_eq!(
            headline(&stats, "today"),
            "1,200 requests today. PHI was found in 30. 2 were blocked."
        );
        assert_eq!(headline(&Stats::default(), "today"), "No requests today.");
    }
}
