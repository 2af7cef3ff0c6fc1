//! Allow list: values that do not count as PHI. Their values are sealed, so the page shows where each came from.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use phigate_gateway::{Kinds, Weaker, read_entry};
use phigate_store::{AllowInfo, StoreError};

use super::tabs;
use super::weakening::{Asked, ask};
use crate::Dash;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::{Choice, When, choices, grouped, in_sentence};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};

const ADDRESS: &str = "/settings/allow";

/// The allow list.
#[derive(Template)]
#[template(path = "settings/allow.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    /// Values that the entries let through, in all.
    pub(crate) hits: String,
    pub(crate) entries: Vec<Entry>,
    pub(crate) kinds: Vec<Choice>,
    /// Labels of kinds whose values are always PHI.
    pub(crate) never: String,
    pub(crate) value: String,
    pub(crate) reason: String,
}

/// One entry, without its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) reason: String,
    pub(crate) hits: String,
    pub(crate) last_used: Option<When>,
    pub(crate) added: When,
    pub(crate) added_by: String,
}

/// `GET /settings/allow`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None, Typed::default()).await
}

/// Kind, value and reason, as typed or as picked on another page.
#[derive(Default)]
struct Typed<'f> {
    kind: &'f str,
    value: &'f str,
    reason: &'f str,
}

impl<'f> Typed<'f> {
    /// Reads the form. A finding of the playground comes as its kind, a space, and its text.
    fn of(form: &'f Fields) -> Self {
        let picked = form.exact("pick").split_once(' ');
        let (kind, value) = picked.unwrap_or_else(|| (form.get("kind"), form.exact("value")));
        Self {
            kind,
            value,
            reason: form.get("why"),
        }
    }
}

/// `POST /settings/allow`: adds an entry, or fills in the form with a finding of the playground.
pub(crate) async fn add(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    let typed = Typed::of(form);
    if !form.exact("pick").is_empty() {
        return draw(&dash, &visit, None, typed).await;
    }
    match stored(&dash, &visit, (typed.kind, typed.value), ADDRESS).await? {
        Stored::Done => Ok(redirect(&format!("{ADDRESS}?done=value-allowed"))),
        Stored::Asked(question) => Ok(*question),
        Stored::Refused(error) => draw(&dash, &visit, Some(error), typed).await,
    }
}

/// Result of storing an entry.
pub(in crate::pages) enum Stored {
    Done,
    /// A reason is asked for; nothing was stored.
    Asked(Box<Response>),
    Refused(String),
}

/// Stores an entry, once a reason was given.
pub(in crate::pages) async fn stored(
    dash: &Dash,
    visit: &SignedIn,
    (kind, value): (&str, &str),
    address: &str,
) -> Result<Stored, PageError> {
    let kinds = Kinds::of(&visit.account.recognizers);
    let (kind, form) = match read_entry(&kinds, kind, value) {
        Ok(read) => read,
        Err(error) => return Ok(Stored::Refused(in_sentence(&error.to_string()))),
    };
    let by = match ask(dash, visit, address, &[Weaker::Allowed(kind)]).await? {
        Asked::Given(by) => by,
        Asked::First(question) => return Ok(Stored::Asked(question)),
    };
    let allow_lists = &dash.vault.allow_lists;
    let added = allow_lists.add(visit.account_id(), kind.code(), &form, by);
    match added.await {
        Ok(_) => Ok(Stored::Done),
        Err(StoreError::Invalid { why, .. }) => Ok(Stored::Refused(in_sentence(why))),
        Err(error) => Err(error.into()),
    }
}

/// `POST /settings/allow/{entry}/remove`
pub(crate) async fn remove(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(entry): Path<String>,
) -> Answer {
    let allow_lists = &dash.vault.allow_lists;
    let removed = allow_lists.remove(visit.account_id(), &entry, visit.actor());
    removed.await?;
    Ok(redirect(&format!("{ADDRESS}?done=allow-removed")))
}

async fn draw(dash: &Dash, visit: &SignedIn, error: Option<String>, typed: Typed<'_>) -> Answer {
    let entries = dash.vault.allow_lists.entries(visit.account_id()).await?;
    let kinds = Kinds::of(&visit.account.recognizers);
    let (may, never): (Vec<_>, Vec<_>) = kinds.all().partition(|(kind, _)| kind.may_be_allowed());
    let never: Vec<&str> = never.into_iter().map(|(_, label)| label).collect();
    let hits = entries.iter().map(|entry| entry.hits).sum();
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/settings"),
            tabs: tabs(ADDRESS),
            error,
            hits: grouped(hits),
            entries: entries.into_iter().map(|one| line(one, &kinds)).collect(),
            kinds: choices(
                may.iter().map(|(kind, label)| (kind.code(), *label)),
                typed.kind,
            ),
            never: never.join(", "),
            value: typed.value.to_owned(),
            reason: typed.reason.to_owned(),
        },
    )
}

fn line(entry: AllowInfo, kinds: &Kinds) -> Entry {
    let mut named = kinds.all();
    let label = named.find(|(kind, _)| kind.code() == entry.kind);
    Entry {
        id: entry.id.to_string(),
        kind: label.map_or_else(|| entry.kind.to_string(), |(_, label)| label.to_owned()),
        reason: entry.reason,
        hits: grouped(entry.hits),
        last_used: entry.last_used.map(When::at),
        added: When::on(entry.added),
        added_by: entry.added_by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picked_finding_fills_the_form() {
        let form = Fields::of(&[("text", "Order for Jane Roe."), ("pick", "name Jane Roe")]);
        let typed = Typed::of(&form);
        assert_eq!((typed.kind, typed.value), ("name", "Jane Roe"));
        let form = Fields::of(&[("kind", "phone"), ("value", "555-0134"), ("why", "a desk")]);
        let typed = Typed::of(&form);
        assert_eq!(
            (typed.kind, typed.value, typed.reason),
            ("phone", "555-0134", "a desk")
        );
    }
}
