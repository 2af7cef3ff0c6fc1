//! The audit log: filter, page, follow, find an identifier, verify.

use std::collections::BTreeMap;
use std::str::FromStr;

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use phi_detect::PhiKind;
use phigate_core::doors::DOORS;
use phigate_core::protect::identifier;
use phigate_store::{ApiKeyInfo, Cursor, Filter, RecordKind, SecretString};
use phigate_types::{Action, Mode, UnknownCode};
use uuid::Uuid;

use super::rows::{ActRow, Row, act_row, request_row};
use super::verify::{self, Chain};
use crate::dashboard::Dash;
use crate::dashboard::chrome::Chrome;
use crate::dashboard::fields::Fields;
use crate::dashboard::view::{Choice, choices, in_sentence};
use crate::dashboard::visit::{Answer, PageError, SignedIn, page_with};

/// The log.
#[derive(Template)]
#[template(path = "audit.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) base_url: String,
    pub(crate) is_tail: bool,
    pub(crate) is_filtered: bool,
    pub(crate) has_custom_range: bool,
    pub(crate) chain: Chain,
    pub(crate) ranges: Vec<Choice>,
    pub(crate) records: Vec<Choice>,
    pub(crate) types: Vec<Choice>,
    pub(crate) actions: Vec<Choice>,
    pub(crate) modes: Vec<Choice>,
    pub(crate) keys: Vec<Choice>,
    pub(crate) doors: Vec<Choice>,
    pub(crate) model: String,
    pub(crate) request: String,
    pub(crate) since: String,
    pub(crate) until: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) acts: Vec<ActRow>,
    pub(crate) newer: String,
    pub(crate) older: String,
    pub(crate) find_types: Vec<Choice>,
    pub(crate) find_error: Option<String>,
    pub(crate) found: Option<Found>,
}

/// Where an identifier was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) words: String,
    pub(crate) rows: Vec<Row>,
}

static RANGES: &[(&str, &str, Option<i64>)] = &[
    // Code, label, hours back.
    ("", "All time", None),
    ("hour", "Last hour", Some(1)),
    ("day", "Last 24 hours", Some(24)),
    ("week", "Last 7 days", Some(7 * 24)),
    ("month", "Last 30 days", Some(30 * 24)),
];

static RECORDS: &[(&str, &str)] = &[
    // Code, label.
    ("", "All requests"),
    ("phi", "Requests with PHI"),
    ("clean", "Requests without PHI"),
    ("admin", "Administration"),
];

const ROWS: usize = 50;
const FOUND: usize = 50;

/// `GET /audit`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, Search::default()).await
}

/// What the look-up of an identifier has to say.
#[derive(Default)]
struct Search {
    error: Option<String>,
    found: Option<Found>,
}

impl Search {
    fn refused(words: &str) -> Self {
        Self {
            error: Some(words.to_owned()),
            found: None,
        }
    }
}

/// `POST /audit/find`
pub(crate) async fn find(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let (code, value) = (visit.form().get("type"), visit.form().get("value"));
    let (Some(kind), false) = (PhiKind::from_code(code), value.is_empty()) else {
        let search = Search::refused("Choose a type and enter the whole value.");
        return draw(&dash, &visit, search).await;
    };
    let question = match identifier::question(kind, value) {
        Ok(question) => question,
        Err(misfit) => {
            let search = Search::refused(&in_sentence(&misfit.to_string()));
            return draw(&dash, &visit, search).await;
        }
    };
    let forms = question.forms().iter().map(|form| form.as_str().into());
    let forms: Vec<SecretString> = forms.collect();
    let (account_id, actor) = (visit.account_id(), visit.actor());
    let vault = &dash.app.vault;
    let hits = vault
        .trail
        .find_identifier(account_id, kind.code(), &forms, actor)
        .await?;
    let sent = hits
        .iter()
        .filter(|hit| hit.action == Some(Action::FORWARDED))
        .count();
    let words = format!(
        "{} Tried: {}.",
        found_words(hits.len(), sent),
        question.ways()
    );
    let rows = hits
        .iter()
        .take(FOUND)
        .map(super::rows::disclosure_row)
        .collect();
    let search = Search {
        error: None,
        found: Some(Found { words, rows }),
    };
    draw(&dash, &visit, search).await
}

fn found_words(all: usize, sent: usize) -> String {
    match (all, sent) {
        (0, _) => "Not found in the requests that the log still holds. Records past their retention, text that the detector did not recognise and attachments are not covered.".to_owned(),
        (1, 0) => "Found in 1 request. It was not forwarded.".to_owned(),
        (1, _) => "Found in 1 request, and forwarded to a provider.".to_owned(),
        (all, 0) => format!("Found in {all} requests. In none of them was it forwarded."),
        (all, sent) => {
            format!("Found in {all} requests, and forwarded to a provider in {sent} of them.")
        }
    }
}

/// What the address asks for; a value that cannot be read is an error for the viewer, not a wider search.
pub(crate) fn read_filter(query: &Fields, now: Timestamp) -> Result<Filter, String> {
    let text = |name: &str| {
        Some(query.get(name))
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
    };
    let hours = RANGES
        .iter()
        .find(|(code, ..)| *code == query.get("range"))
        .and_then(|(_, _, hours)| *hours);
    let since = hours.and_then(|hours| now.checked_sub(SignedDuration::from_hours(hours)).ok());
    let request_id = match text("request") {
        Some(id) => Some(
            Uuid::try_parse(&id)
                .map_err(|_| "A request id looks like 01890000-0000-7000-8000-000000000000.")?,
        ),
        None => None,
    };
    let (record, phi_detected) = match query.get("record") {
        "admin" => (Some(RecordKind::Admin), None),
        "phi" => (None, Some(true)),
        "clean" => (None, Some(false)),
        _ => (None, None),
    };
    Ok(Filter {
        since: moment(query.get("since"))?.or(since),
        until: moment(query.get("until"))?,
        record,
        phi_type: text("type"),
        action: coded(query.get("action"))?,
        mode: coded(query.get("mode"))?,
        key_id: text("key"),
        model: text("model"),
        door: text("door"),
        request_id,
        act: None,
        phi_detected,
    })
}

/// The row of a table whose code a field names; none when it is empty.
fn coded<T: FromStr<Err = UnknownCode>>(text: &str) -> Result<Option<T>, String> {
    match text {
        "" => Ok(None),
        code => code
            .parse()
            .map(Some)
            .map_err(|error: UnknownCode| in_sentence(&error.to_string())),
    }
}

fn moment(text: &str) -> Result<Option<Timestamp>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let read = text
        .parse::<DateTime>()
        .ok()
        .and_then(|time| time.to_zoned(TimeZone::UTC).ok());
    read.map(|time| Some(time.timestamp()))
        .ok_or_else(|| "Write times as 2026-11-15T04:20, in UTC.".to_owned())
}

/// The choice of no filter, before those of one.
fn any(label: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    std::iter::once(("", label))
}

async fn draw(dash: &Dash, visit: &SignedIn, search: Search) -> Answer {
    let query = &visit.head.query;
    let keys = dash.app.vault.access.api_keys(visit.account_id()).await?;
    let before = Cursor::decode(query.get("before"));
    let filter = read_filter(query, Timestamp::now());
    let (rows, acts, next) = match &filter {
        Ok(filter) => list(dash, visit, filter, before, &super::keys::names(&keys)).await?,
        Err(_) => Default::default(),
    };
    let is_filtered = filter
        .as_ref()
        .is_ok_and(|filter| *filter != Filter::default());
    let error = filter.err();
    let has_custom_range = !query.get("since").is_empty() || !query.get("until").is_empty();
    let status = if error.is_some() || search.error.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    let kinds = || PhiKind::all().map(|kind| (kind.code(), kind.label()));
    page_with(
        status,
        &Page {
            chrome: visit.chrome("/audit"),
            error,
            base_url: visit.head.base_url(),
            is_tail: before.is_none() && search.found.is_none(),
            is_filtered,
            has_custom_range,
            chain: verify::known(dash, visit.account_id()),
            ranges: choices(
                RANGES.iter().map(|(code, label, _)| (*code, *label)),
                query.get("range"),
            ),
            records: choices(RECORDS.iter().copied(), query.get("record")),
            types: choices(any("Any").chain(kinds()), query.get("type")),
            actions: choices(
                any("Anything").chain(Action::all().map(|action| (action.code(), action.label()))),
                query.get("action"),
            ),
            modes: choices(
                any("Any").chain(Mode::all().map(|mode| (mode.code, mode.label))),
                query.get("mode"),
            ),
            keys: key_choices(&keys, query.get("key")),
            doors: choices(
                any("Any").chain(DOORS.iter().map(|door| (door.id(), door.label))),
                query.get("door"),
            ),
            model: query.get("model").to_owned(),
            request: query.get("request").to_owned(),
            since: query.get("since").to_owned(),
            until: query.get("until").to_owned(),
            rows,
            acts,
            newer: before.map(|_| address(query, "")).unwrap_or_default(),
            older: next
                .map(|next| address(query, &next.encode()))
                .unwrap_or_default(),
            find_types: choices(kinds(), visit.form().get("type")),
            find_error: search.error,
            found: search.found,
        },
    )
}

type Listed = (Vec<Row>, Vec<ActRow>, Option<Cursor>);

async fn list(
    dash: &Dash,
    visit: &SignedIn,
    filter: &Filter,
    before: Option<Cursor>,
    names: &BTreeMap<String, String>,
) -> Result<Listed, PageError> {
    if filter.record == Some(RecordKind::Admin) {
        let page = dash
            .app
            .vault
            .trail
            .audit_list(visit.account_id(), filter, before, ROWS)
            .await?;
        return Ok((
            Vec::new(),
            page.items.iter().filter_map(act_row).collect(),
            page.next,
        ));
    }
    let page = dash
        .app
        .vault
        .trail
        .request_list(visit.account_id(), filter, before, ROWS)
        .await?;
    Ok((
        page.items
            .iter()
            .map(|request| request_row(request, names))
            .collect(),
        Vec::new(),
        page.next,
    ))
}

fn address(query: &Fields, before: &str) -> String {
    format!("/audit?{}", query.query_with("before", before))
}

fn key_choices(keys: &[ApiKeyInfo], chosen: &str) -> Vec<Choice> {
    let labels: Vec<(&str, String)> = keys
        .iter()
        .map(|key| (key.id.as_str(), format!("{} ({})", key.name, key.id)))
        .collect();
    let mut all = choices(
        [("", "Any")]
            .into_iter()
            .chain(labels.iter().map(|(id, label)| (*id, label.as_str()))),
        chosen,
    );
    if !chosen.is_empty() && !all.iter().any(|choice| choice.chosen) {
        all.push(Choice {
            code: chosen.to_owned(),
            label: chosen.to_owned(),
            chosen: true,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        Fields::new(
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn filters_are_read_from_the_address() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let filter = read_filter(
            &fields(&[("range", "day"), ("type", "ssn"), ("record", "phi")]),
            now,
        )
        .unwrap();
        assert_eq!(filter.since.unwrap().as_second(), 1_000_000 - 86_400);
        assert_eq!(filter.phi_type.as_deref(), Some("ssn"));
        assert_eq!(filter.phi_detected, Some(true));
        let filter = read_filter(
            &fields(&[("range", "day"), ("since", "2026-11-15T04:20")]),
            now,
        )
        .unwrap();
        assert_eq!(filter.since.unwrap().to_string(), "2026-11-15T04:20:00Z");
        assert_eq!(read_filter(&fields(&[]), now).unwrap(), Filter::default());
    }

    #[test]
    fn one_request_is_not_spoken_of_as_many() {
        for (all, sent, words) in [
            (
                0,
                0,
                "Not found in the requests that the log still holds. Records past their retention, text that the detector did not recognise and attachments are not covered.",
            ),
            (1, 0, "Found in 1 request. It was not forwarded."),
            (1, 1, "Found in 1 request, and forwarded to a provider."),
            (
                3,
                1,
                "Found in 3 requests, and forwarded to a provider in 1 of them.",
            ),
        ] {
            assert_eq!(found_words(all, sent), words);
        }
    }

    #[test]
    fn a_filter_that_cannot_be_read_is_not_a_wider_search() {
        for (name, value) in [
            ("request", "12"),
            ("since", "yesterday"),
            ("until", "2026-13-01T00:00"),
        ] {
            assert!(
                read_filter(&fields(&[(name, value)]), Timestamp::now()).is_err(),
                "{name}"
            );
        }
    }
}
