//! Is anything wrong: the health of the parts, and what needs attention.

use jiff::{SignedDuration, Timestamp};
use phigate_store::{
    Account, ApiKeyInfo, ExportInfo, ExportState, Filter, Provider, RecordKind, RequestRow, Stats,
};
use phigate_types::{Act, Action, ErrorCode, Mode, ProviderKind};

use super::figures::slot;
use crate::Dash;
use crate::pages::terms;
use crate::view::grouped;
use crate::visit::{PageError, SignedIn};

/// Something that needs attention.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) tone: &'static str,
    pub(crate) text: String,
    pub(crate) href: &'static str,
    pub(crate) link: &'static str,
}

/// The state of one part of the system.
#[derive(Debug)]
pub(crate) struct Health {
    pub(crate) tone: &'static str,
    pub(crate) name: String,
    pub(crate) text: String,
    /// Page for dealing with it.
    pub(crate) href: &'static str,
}

/// Failed sign-ins within a day that need attention.
const FAILED_LOGINS: usize = 5;
/// A key that stops within this time is worth a word.
const EXPIRES_SOON: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Age of a waiting record that needs attention, in seconds.
const EXPORT_LAG_S: u64 = 60;

const PROVIDERS: &str = "/providers";

/// The store and the providers, judged by the newest requests.
pub(super) async fn health(dash: &Dash, visit: &SignedIn, recent: &[RequestRow]) -> Vec<Health> {
    let (tone, text) = match dash.vault.health.ping().await {
        Ok(()) => ("ok", "writes records"),
        Err(_) => (
            "bad",
            "does not answer; requests are refused while this lasts",
        ),
    };
    let store = Health {
        tone,
        name: "Audit store".to_owned(),
        text: text.to_owned(),
        href: "",
    };
    let account = &visit.account;
    let unset = ProviderKind::all()
        .filter(|kind| kind.has_family() && !account.providers.contains_key(kind.code()))
        .map(|kind| Health {
            tone: "",
            name: kind.label().to_owned(),
            text: "no key set".to_owned(),
            href: PROVIDERS,
        });
    let providers = account.providers.iter();
    std::iter::once(store)
        .chain(providers.map(|(name, provider)| provider_health(name, provider, recent)))
        .chain(unset)
        .chain(exports(dash, visit).await)
        .collect()
}

/// The targets of exports. While the store does not answer, its own line says enough.
async fn exports(dash: &Dash, visit: &SignedIn) -> Vec<Health> {
    let mut targets = Vec::new();
    let exports = &dash.vault.exports;
    for info in exports.list(visit.account_id()).await.unwrap_or_default() {
        if let Ok(state) = exports.state(visit.account_id(), &info.name).await {
            targets.push(export_health(&info, &state));
        }
    }
    targets
}

fn export_health(info: &ExportInfo, state: &ExportState) -> Health {
    let waiting = format!("{} records wait", grouped(state.lag_records));
    let (tone, text) = match &state.problem {
        _ if info.is_paused => ("warn", format!("paused; {waiting}")),
        Some(problem) => ("bad", format!("fails: {problem}; {waiting}")),
        None if state.lag_s > EXPORT_LAG_S => (
            "warn",
            format!("is {} s behind; {waiting}", grouped(state.lag_s)),
        ),
        None => ("ok", "has every record".to_owned()),
    };
    Health {
        tone,
        name: format!("Export {}", info.name),
        text,
        href: "",
    }
}

fn provider_health(name: &str, provider: &Provider, recent: &[RequestRow]) -> Health {
    let last = recent.iter().find_map(|request| fare(name, request));
    let (tone, words) = match last.flatten().and_then(failure_words) {
        Some(failure) => failure,
        None if last.is_some() => ("ok", "answered the last request"),
        None => ("ok", "not asked lately"),
    };
    Health {
        tone,
        name: label(name, provider).to_owned(),
        text: with_key(words, &provider.last4),
        href: PROVIDERS,
    }
}

/// Returns a provider's result at a request: its error code, if any. `None` if the provider was not asked.
fn fare(name: &str, request: &RequestRow) -> Option<Option<ErrorCode>> {
    let outcome = request.outcome.as_ref()?;
    let mut attempts = outcome.attempts.iter();
    if let Some(own) = attempts.find(|attempt| attempt.provider == name) {
        return Some(own.error_code);
    }
    // Records of earlier versions name no attempts.
    let was_asked =
        outcome.attempts.is_empty() && request.decision.provider.as_deref() == Some(name);
    was_asked.then_some(outcome.error_code)
}

/// Short keys have no last four characters that could be shown.
fn with_key(words: &str, last4: &str) -> String {
    if last4.is_empty() {
        words.to_owned()
    } else {
        format!("{words}; key ends in {last4}")
    }
}

/// Returns the meaning of an error code for a provider; `None` if the code says nothing about the provider.
fn failure_words(code: ErrorCode) -> Option<(&'static str, &'static str)> {
    match code {
        ErrorCode::ProviderAuthFailed => Some(("bad", "refused its key at the last request")),
        ErrorCode::ProviderUnreachable => Some(("bad", "could not be reached at the last request")),
        ErrorCode::ProviderTimeout => Some(("warn", "did not answer the last request in time")),
        ErrorCode::ProviderRateLimited => Some(("warn", "rate-limited the last request")),
        ErrorCode::ProviderOverloaded => Some(("warn", "was overloaded at the last request")),
        ErrorCode::ProviderError => Some(("warn", "failed at the last request")),
        _ => None,
    }
}

/// Returns everything that needs attention, the worst first.
pub(super) async fn attention(
    dash: &Dash,
    visit: &SignedIn,
    stats: &Stats,
    keys: &[ApiKeyInfo],
    health: &[Health],
) -> Result<Vec<Line>, PageError> {
    let now = Timestamp::now();
    let mut lines: Vec<Line> = waiting_alerts(dash, visit).await?.into_iter().collect();
    lines.extend(failing_parts(health));
    lines.extend(waiting_reveals(visit.waiting));
    lines.extend(missing_parts(visit, keys, now));
    lines.extend(ending_agreements(&visit.account, now));
    lines.extend(forwarded_phi(stats, visit.account.mode));
    lines.extend(failed_sign_ins(dash, visit, now).await?);
    lines.extend(keys.iter().filter_map(|key| ending_key(key, now)));
    for line in &mut lines {
        if !visit.opens(line.href) {
            (line.href, line.link) = ("", "");
        }
    }
    Ok(lines)
}

/// The alerts that no person has acknowledged.
async fn waiting_alerts(dash: &Dash, visit: &SignedIn) -> Result<Option<Line>, PageError> {
    let states = dash.vault.alerts.list(visit.account_id()).await?;
    let waiting = states.iter().filter(|state| state.acknowledged.is_none());
    let waiting: Vec<&str> = waiting.map(|state| state.alert.alert.summary()).collect();
    let text = match waiting.as_slice() {
        [] => return Ok(None),
        [only] => format!("Alert: {only}"),
        [newest, older @ ..] => format!(
            "{} alerts wait. The newest: {newest}",
            grouped(older.len() as u64 + 1)
        ),
    };
    Ok(Some(Line {
        tone: "bad",
        text,
        href: "/audit/alerts",
        link: "Look at the alerts",
    }))
}

fn failing_parts(health: &[Health]) -> Vec<Line> {
    let is_failing = |part: &&Health| matches!(part.tone, "bad" | "warn");
    let line = |part: &Health| Line {
        tone: part.tone,
        text: format!("{}: {}.", part.name, part.text),
        href: part.href,
        link: "Look at the providers",
    };
    health.iter().filter(is_failing).map(line).collect()
}

/// Returns the steps that are missing before any request can be answered.
fn missing_parts(visit: &SignedIn, keys: &[ApiKeyInfo], now: Timestamp) -> Vec<Line> {
    let has_key = keys
        .iter()
        .any(|key| key.revoked.is_none() && key.expires.is_none_or(|expires| expires > now));
    let mut lines = Vec::new();
    if visit.account.providers.is_empty() {
        lines.push(Line {
            tone: "warn",
            text: "No provider is set up, so no request can be forwarded.".to_owned(),
            href: PROVIDERS,
            link: "Set up a provider",
        });
    }
    if !has_key {
        lines.push(Line {
            tone: "warn",
            text: "There is no API key that works, so no request can be sent.".to_owned(),
            href: "/keys",
            link: "Create an API key",
        });
    }
    lines
}

/// Agreements that end soon or have ended: afterwards requests with PHI are turned away.
fn ending_agreements(account: &Account, now: Timestamp) -> Vec<Line> {
    let line = |(name, provider): (&String, &Provider)| {
        let (tone, words) = terms::warning(&provider.config, now)?;
        Some(Line {
            tone,
            text: format!("{}: {words}", label(name, provider)),
            href: PROVIDERS,
            link: "Look at the agreement",
        })
    };
    account.providers.iter().filter_map(line).collect()
}

/// The provider of a family is called by the family, any other by its name.
fn label<'a>(name: &'a str, provider: &Provider) -> &'a str {
    let kind = provider.config.kind;
    match kind.code() == name {
        true => kind.label(),
        false => name,
    }
}

/// Advice fits what is in force now: a mode that was chosen already is not asked for again.
fn forwarded_phi(stats: &Stats, mode: Mode) -> Option<Line> {
    let flagged: u64 = stats
        .buckets
        .iter()
        .map(|bucket| slot(bucket).flagged)
        .sum();
    let what = match flagged {
        0 => return None,
        1 => "1 request with PHI was forwarded unchanged".to_owned(),
        many => format!(
            "{} requests with PHI were forwarded unchanged",
            grouped(many)
        ),
    };
    let (text, href, link) = if mode.action == Action::FORWARDED {
        (format!("{what}."), "/settings", "Choose another mode")
    } else {
        (
            format!(
                "{what} earlier in this period. The mode is {} now.",
                mode.label
            ),
            "/audit?record=phi&action=forwarded",
            "Show them",
        )
    };
    Some(Line {
        tone: "warn",
        text,
        href,
        link,
    })
}

/// Requests to reveal content that the viewer may approve.
fn waiting_reveals(waiting: usize) -> Option<Line> {
    let text = match waiting {
        0 => return None,
        1 => "A person waits for your approval to see content.".to_owned(),
        many => format!("{many} requests to see content wait for your approval."),
    };
    Some(Line {
        tone: "warn",
        text,
        href: "/audit/looks",
        link: "Look and decide",
    })
}

async fn failed_sign_ins(
    dash: &Dash,
    visit: &SignedIn,
    now: Timestamp,
) -> Result<Option<Line>, PageError> {
    let filter = Filter {
        record: Some(RecordKind::Admin),
        act: Some(Act::LoginFailed),
        since: now.checked_sub(SignedDuration::from_hours(24)).ok(),
        ..Filter::default()
    };
    let page = dash
        .vault
        .trail
        .audit_list(visit.account_id(), &filter, None, 50)
        .await?;
    let (failed, more) = (
        page.items.len(),
        if page.next.is_some() { " or more" } else { "" },
    );
    Ok((failed >= FAILED_LOGINS).then(|| Line {
        tone: "warn",
        text: format!("{failed}{more} sign-ins failed in the last 24 hours."),
        href: "/audit/administration?range=day&act=login.failed",
        link: "Show them",
    }))
}

fn ending_key(key: &ApiKeyInfo, now: Timestamp) -> Option<Line> {
    let left = key.expires?.duration_since(now);
    // A key that was rotated ends on purpose: its successor works already.
    let is_wanted = key.revoked.is_none() && key.rotated_to.is_none();
    let is_soon = is_wanted && left.is_positive() && left < EXPIRES_SOON;
    let when = match left.as_hours() / 24 {
        0 => "today".to_owned(),
        1 => "tomorrow".to_owned(),
        days => format!("in {days} days"),
    };
    is_soon.then(|| Line {
        tone: "warn",
        text: format!("The API key “{}” stops working {when}.", key.name),
        href: "/keys",
        link: "Rotate it",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_fits_the_mode_in_force() {
        let bucket = phigate_store::Bucket {
            start: Timestamp::UNIX_EPOCH,
            requests: 1,
            with_phi: 1,
            by_action: [(Action::FORWARDED.to_string(), 1)].into(),
            phi_by_action: [(Action::FORWARDED.to_string(), 1)].into(),
        };
        let stats = Stats {
            buckets: vec![bucket],
            ..Stats::default()
        };
        for mode in Mode::all() {
            let line = forwarded_phi(&stats, mode).unwrap();
            let advises = line.link == "Choose another mode";
            assert_eq!(advises, mode == Mode::FLAG, "{mode}");
        }
        assert!(forwarded_phi(&Stats::default(), Mode::FLAG).is_none());
    }

    #[test]
    fn short_key_shows_no_ending() {
        assert_eq!(with_key("not asked lately", ""), "not asked lately");
        assert_eq!(
            with_key("not asked lately", "4f2a"),
            "not asked lately; key ends in 4f2a"
        );
    }
}
