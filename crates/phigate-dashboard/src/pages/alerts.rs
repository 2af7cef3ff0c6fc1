//! Alerts: what a person should look at, and the acknowledgement.

use askama::Template;
use axum::extract::State;
use phigate_store::{AlertState, By};
use phigate_types::AlertCode;

use super::log::tabs;
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, When};
use crate::visit::{Answer, PageError, SignedIn, page, redirect};

const ADDRESS: &str = "/audit/alerts";

/// The alerts of the account.
#[derive(Template)]
#[template(path = "audit/alerts.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) open: Vec<Row>,
    pub(crate) acknowledged: Vec<Row>,
}

/// The latest alert of a cause and subject.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) time: When,
    pub(crate) code: &'static str,
    pub(crate) words: &'static str,
    pub(crate) subject: String,
    pub(crate) details: String,
    /// The person who acknowledged it; empty while it is open.
    pub(crate) by: String,
    pub(crate) requests: Vec<String>,
}

/// Most requests that a line links to.
const LINKED: usize = 5;

/// `GET /audit/alerts`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let states = dash.vault.alerts.list(visit.account_id()).await?;
    let (open, acknowledged): (Vec<_>, Vec<_>) = states
        .iter()
        .partition(|state| state.acknowledged.is_none());
    page(&Page {
        layout: visit.layout("/audit"),
        tabs: tabs(ADDRESS),
        open: open.into_iter().map(row).collect(),
        acknowledged: acknowledged.into_iter().map(row).collect(),
    })
}

/// `POST /audit/alerts`
pub(crate) async fn acknowledge(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    let code: AlertCode = form.get("alert").parse().map_err(|_| PageError::NotFound)?;
    let by = By::from(visit.actor());
    let alerts = &dash.vault.alerts;
    alerts
        .acknowledge(visit.account_id(), code, form.exact("subject"), by)
        .await?;
    Ok(redirect("/audit/alerts?done=alert"))
}

fn row(state: &AlertState) -> Row {
    let alert = &state.alert;
    let by = state.acknowledged.as_ref().map(|one| one.by.clone());
    let requests = alert.requests.iter().take(LINKED);
    Row {
        time: When::at(alert.time),
        code: alert.alert.code(),
        words: alert.alert.summary(),
        subject: alert.subject.clone().unwrap_or_default(),
        details: alert.details_in_words(),
        by: by.unwrap_or_default(),
        requests: requests.map(ToString::to_string).collect(),
    }
}
