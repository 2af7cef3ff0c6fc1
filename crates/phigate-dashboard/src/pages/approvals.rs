//! Looks at content that take two people: who asks, and the form by which another one approves.

use askama::Template;
use axum::extract::{Path, State};
use phigate_store::{RevealRequest, RevealSubject, StoreError};
use phigate_types::{Approvals, Right, Role};
use uuid::Uuid;

use super::account;
use super::log::tabs;
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, When};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};

const ADDRESS: &str = "/audit/looks";

/// Open requests to reveal content.
#[derive(Template)]
#[template(path = "audit/approvals.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) takes_two: bool,
    pub(crate) asks_password: bool,
    pub(crate) asked: Vec<Asked>,
    /// Roles that may approve, in words.
    pub(crate) approvers: String,
}

/// A request to reveal content, as its card shows it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) id: String,
    /// Request id, or token.
    pub(crate) what: String,
    /// Address of the record; empty for a token.
    pub(crate) href: String,
    pub(crate) actor: String,
    pub(crate) reason: String,
    pub(crate) asked: When,
    pub(crate) approved_by: Option<String>,
    pub(crate) expires: When,
    /// Whether the viewer asked.
    pub(crate) is_own: bool,
}

impl Asked {
    fn new(request: RevealRequest, viewer: &str) -> Self {
        let (what, href) = match &request.subject {
            RevealSubject::Request(id) => (format!("Request {id}"), format!("/audit/{id}#content")),
            RevealSubject::Token(name) => (format!("Token [{name}]"), String::new()),
        };
        Self {
            is_own: request.actor == viewer,
            id: request.id,
            what,
            href,
            actor: request.actor,
            reason: request.reason,
            asked: When::at(request.asked),
            approved_by: request.approved_by,
            expires: When::at(request.expires),
        }
    }
}

/// Open requests to reveal the content of one request, if the viewer may see them.
pub(super) async fn of_request(
    dash: &Dash,
    visit: &SignedIn,
    request_id: Uuid,
    is_reader: bool,
) -> Result<Vec<Asked>, PageError> {
    if !is_reader || visit.account.settings.reveal_approvals == Approvals::One {
        return Ok(Vec::new());
    }
    let subject = RevealSubject::Request(request_id);
    let open = dash.vault.reveals.open(visit.account_id()).await?;
    let here = open.into_iter().filter(|open| open.subject == subject);
    Ok(here.map(|open| Asked::new(open, visit.actor())).collect())
}

/// `GET /audit/looks`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None).await
}

/// `POST /audit/looks/{id}/approve`
pub(crate) async fn approve(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    let reveals = &dash.vault.reveals;
    // Whether it is there is said first: no password is asked for nothing.
    let open = reveals.open(visit.account_id()).await?;
    if open.iter().all(|open| open.id != id) {
        return Err(PageError::NotFound);
    }
    if let Some(refusal) = account::confirm_lately(&dash, &visit).await? {
        return draw(&dash, &visit, Some(refusal)).await;
    }
    match reveals
        .approve(visit.account_id(), &id, visit.actor())
        .await
    {
        Ok(approved) => Ok(back(&approved, "approved")),
        Err(StoreError::Invalid { .. }) => {
            let error = "Another person approves what you asked for, and each request once.";
            draw(&dash, &visit, Some(error.to_owned())).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /audit/looks/{id}/decline`
pub(crate) async fn decline(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    let reveals = &dash.vault.reveals;
    let declined = reveals.decline(visit.account_id(), &id, visit.actor());
    let declined = declined.await?;
    let is_own = declined.actor == visit.actor();
    Ok(back(
        &declined,
        if is_own { "withdrawn" } else { "declined" },
    ))
}

/// Leads to the record, or for a token to the list.
fn back(request: &RevealRequest, done: &str) -> axum::response::Response {
    match &request.subject {
        RevealSubject::Request(id) => redirect(&format!("/audit/{id}?done={done}")),
        RevealSubject::Token(_) => redirect(&format!("{ADDRESS}?done={done}")),
    }
}

async fn draw(dash: &Dash, visit: &SignedIn, error: Option<String>) -> Answer {
    let open = dash.vault.reveals.open(visit.account_id()).await?;
    let asked = open.into_iter().map(|open| Asked::new(open, visit.actor()));
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/audit"),
            tabs: tabs(ADDRESS),
            error,
            takes_two: visit.account.settings.reveal_approvals == Approvals::Two,
            asks_password: account::asks_password(visit),
            asked: asked.collect(),
            approvers: format!("an {}", Role::labels_with(Right::Reveal)),
        },
    )
}
