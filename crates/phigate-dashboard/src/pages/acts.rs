//! The administration tab of the log: who did what, filtered by person, act and time.

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;
use phigate_store::Filter;
use phigate_types::Act;

use super::log::{Listed, Listing, ROWS, chosen, tabs, total};
use super::log_filter;
use super::rows::{ActRow, act_row};
use crate::Dash;
use crate::layout::Layout;
use crate::view::Choice;
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with};

const ADDRESS: &str = "/audit/administration";

/// Acts of administration.
#[derive(Template)]
#[template(path = "audit/administration.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) listing: Listing,
    pub(crate) people: Vec<Choice>,
    pub(crate) kinds: Vec<Choice>,
    pub(crate) acts: Vec<ActRow>,
}

/// `GET /audit/administration`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let query = &visit.context.query;
    let filter = log_filter::acts(query, Timestamp::now());
    let listed = match &filter {
        Ok(filter) => list(&dash, &visit, filter).await?,
        Err(_) => Listed::none(),
    };
    let names = ["range", "person", "act", "since", "until"];
    let listing = Listing {
        is_filtered: names.iter().any(|name| !query.get(name).is_empty()),
        ..Listing::new(ADDRESS, query)
    };
    let error = filter.err();
    let status = form_status(error.is_some());
    let mut kinds: Vec<(&str, &str)> = Act::all().map(|act| (act.code(), act.words())).collect();
    kinds.sort_by_key(|(_, words)| *words);
    page_with(
        status,
        &Page {
            layout: visit.layout("/audit"),
            tabs: tabs(ADDRESS),
            error,
            listing: listing.read(query, &listed),
            people: people(&dash, &visit).await?,
            kinds: chosen("Anything", kinds.into_iter(), query.get("act")),
            acts: listed.rows,
        },
    )
}

/// Returns the possible actors: the people of the account, and the actors that are not people.
async fn people(dash: &Dash, visit: &SignedIn) -> Result<Vec<Choice>, PageError> {
    let users = dash.vault.people.users(visit.account_id()).await?;
    let users = users
        .iter()
        .map(|user| (user.email.as_str(), user.email.as_str()));
    let others = [
        ("cli", "Command line"),
        ("caller", "Callers"),
        ("anonymous", "Not signed in"),
        ("system", "The system itself"),
    ];
    let asked = visit.context.query.get("person");
    Ok(chosen("Anybody", users.chain(others), asked))
}

async fn list(dash: &Dash, visit: &SignedIn, filter: &Filter) -> Result<Listed<ActRow>, PageError> {
    let (trail, account) = (&dash.vault.trail, visit.account_id());
    let before = Listing::before(&visit.context.query);
    let page = trail.audit_list(account, filter, before, ROWS).await?;
    let total = total(dash, visit, filter, "act").await?;
    Ok(Listed::new(&page, act_row, total))
}
