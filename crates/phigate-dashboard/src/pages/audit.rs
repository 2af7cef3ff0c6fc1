//! The requests tab of the audit log: filtered, counted, paged and followed.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;
use phigate_core::doors::DOORS;
use phigate_gateway::Kinds;
use phigate_store::{ApiKeyInfo, Filter, RequestRow};
use phigate_types::{Action, ErrorCode, Mode};

use super::log::{Listed, Listing, ROWS, chosen, tabs, total};
use super::log_filter;
use super::rows::{Row, request_row};
use super::verify::{self, Chain};
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, choices};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};

const ADDRESS: &str = "/audit";

/// The requests.
#[derive(Template)]
#[template(path = "audit/requests.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) base_url: String,
    pub(crate) listing: Listing,
    pub(crate) shows_more: bool,
    pub(crate) chain: Chain,
    pub(crate) records: Vec<Choice>,
    pub(crate) types: Vec<Choice>,
    pub(crate) actions: Vec<Choice>,
    pub(crate) modes: Vec<Choice>,
    pub(crate) keys: Vec<Choice>,
    pub(crate) providers: Vec<Choice>,
    pub(crate) errors: Vec<Choice>,
    pub(crate) statuses: Vec<Choice>,
    pub(crate) doors: Vec<Choice>,
    pub(crate) model: String,
    pub(crate) request: String,
    pub(crate) rows: Vec<Row>,
}

static RECORDS: &[(&str, &str)] = &[
    // Code, label.
    ("", "With or without PHI"),
    ("phi", "With PHI"),
    ("clean", "Without PHI"),
];

static STATUSES: &[(&str, &str)] = &[
    // Code, label.
    ("", "Any"),
    ("2xx", "Answered (2xx)"),
    ("4xx", "Refused (4xx)"),
    ("5xx", "Failed (5xx)"),
];

/// Filters behind "More filters".
const MORE: &[&str] = &[
    "mode", "key", "provider", "door", "error", "status", "request", "since", "until",
];

/// `GET /audit`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let query = &visit.context.query;
    // As this was asked for before there were tabs.
    if query.get("record") == "admin" {
        let rest = query.query_with("record", "");
        return Ok(redirect(&format!("/audit/administration?{rest}")));
    }
    let keys = dash.vault.access.api_keys(visit.account_id()).await?;
    let filter = log_filter::requests(query, Timestamp::now());
    let listed = match &filter {
        Ok(filter) => list(&dash, &visit, filter, &super::keys::names(&keys)).await?,
        Err(_) => Listed::none(),
    };
    let everything = Filter {
        requests: true,
        ..Filter::default()
    };
    let listing = Listing {
        is_filtered: filter.as_ref().is_ok_and(|filter| *filter != everything),
        ..Listing::new(ADDRESS, query)
    };
    let error = filter.err();
    let status = form_status(error.is_some());
    let drawn = Drawn {
        listing: listing.read(query, &listed),
        rows: listed.rows,
        error,
    };
    page_with(status, &draw(&dash, &visit, &keys, drawn))
}

/// Content of the page besides its choices.
struct Drawn {
    listing: Listing,
    rows: Vec<Row>,
    error: Option<String>,
}

fn draw(dash: &Dash, visit: &SignedIn, keys: &[ApiKeyInfo], drawn: Drawn) -> Page {
    let query = &visit.context.query;
    let of_account = Kinds::of(&visit.account.recognizers);
    let kinds = of_account.all().map(|(kind, label)| (kind.code(), label));
    let actions = Action::all().map(|action| (action.code(), action.label()));
    let modes = Mode::all().map(|mode| (mode.code, mode.label));
    let doors = DOORS.iter().map(|door| (door.id(), door.label));
    let providers = visit.account.providers.keys();
    let providers = providers.map(|name| (name.as_str(), name.as_str()));
    let errors = ErrorCode::all().map(|code| (code.code(), code.code()));
    let text = |name: &str| query.get(name).to_owned();
    Page {
        layout: visit.layout("/audit"),
        tabs: tabs(ADDRESS),
        error: drawn.error,
        base_url: visit.context.base_url(),
        listing: drawn.listing,
        shows_more: MORE.iter().any(|name| !query.get(name).is_empty()),
        chain: verify::known(dash, visit.account_id()),
        records: choices(RECORDS.iter().copied(), query.get("record")),
        types: chosen("Any", kinds, query.get("type")),
        actions: chosen("Anything", actions, query.get("action")),
        modes: chosen("Any", modes, query.get("mode")),
        keys: key_choices(keys, query.get("key")),
        providers: chosen("Any", providers, query.get("provider")),
        errors: chosen("Any or none", errors, query.get("error")),
        statuses: choices(STATUSES.iter().copied(), query.get("status")),
        doors: chosen("Any", doors, query.get("door")),
        model: text("model"),
        request: text("request"),
        rows: drawn.rows,
    }
}

async fn list(
    dash: &Dash,
    visit: &SignedIn,
    filter: &Filter,
    names: &BTreeMap<String, String>,
) -> Result<Listed<Row>, PageError> {
    let (trail, account) = (&dash.vault.trail, visit.account_id());
    let before = Listing::before(&visit.context.query);
    let page = trail.request_list(account, filter, before, ROWS).await?;
    let total = total(dash, visit, filter, "request").await?;
    let row = |request: &RequestRow| Some(request_row(request, names));
    Ok(Listed::new(&page, row, total))
}

fn key_choices(keys: &[ApiKeyInfo], code: &str) -> Vec<Choice> {
    let label = |key: &ApiKeyInfo| (key.id.clone(), format!("{} ({})", key.name, key.id));
    let labels: Vec<(String, String)> = keys.iter().map(label).collect();
    let pairs = labels
        .iter()
        .map(|(id, label)| (id.as_str(), label.as_str()));
    chosen("Any", pairs, code)
}
