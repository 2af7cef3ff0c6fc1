//! API keys: make, rotate, revoke.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{Path, State};
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use phigate_gateway::Weaker;
use phigate_store::{ApiKeyInfo, Filter, KEY_NAME_CHARS_MAX, NewApiKey, StoreError, Use, Window};
use phigate_types::Tone;

use super::connect::{Connection, connections};
use super::settings::weakening::{Asked, ask};
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, When, choices, counted, in_sentence, percent};
use crate::visit::{Answer, PageError, SignedIn, page_with, redirect};

/// The keys of the account.
#[derive(Template)]
#[template(path = "keys.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) base_url: String,
    pub(crate) name: String,
    pub(crate) name_max: usize,
    pub(crate) expiries: Vec<Choice>,
    pub(crate) fresh: Option<Fresh>,
    pub(crate) keys: Vec<Key>,
    /// Names of the groups that exist.
    pub(crate) groups: Vec<String>,
    /// The group that was typed.
    pub(crate) group: String,
}

/// A key just made, shown this once.
pub(crate) struct Fresh {
    pub(crate) title: String,
    pub(crate) key: String,
    pub(crate) clients: Vec<Connection>,
}

/// One key of the list.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) state: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) created: When,
    pub(crate) last_used: Option<When>,
    pub(crate) expires: Option<When>,
    pub(crate) is_usable: bool,
    /// Use of the key in the last 30 days.
    pub(crate) usage: Usage,
}

/// Use of a key in the last 30 days.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    pub(crate) requests: String,
    pub(crate) phi: String,
    pub(crate) tokens: String,
    pub(crate) last_model: String,
}

/// Kinds of keys: address and label.
static TABS: &[(&str, &str)] = &[
    // In their order.
    ("/keys", "For callers"),
    ("/keys/issuers", "Token issuers"),
    ("/keys/admin", "Admin keys"),
];

/// The tabs, with the one that is open.
pub(crate) fn tabs(open: &str) -> Vec<Choice> {
    choices(TABS.iter().copied(), open)
}

/// Lifetimes that are offered.
pub(super) static EXPIRIES: &[(&str, &str, Option<i64>)] = &[
    // Code, label, days.
    ("30d", "in 30 days", Some(30)),
    ("90d", "in 90 days", Some(90)),
    ("365d", "in a year", Some(365)),
    ("never", "never", None),
];

static OVERLAPS: &[(&str, i64)] = &[
    // Code, hours.
    ("1h", 1),
    ("24h", 24),
    ("7d", 7 * 24),
];

/// `GET /keys`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, StatusCode::OK, None, None).await
}

/// `POST /keys`
pub(crate) async fn create(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let name = visit.form().get("name");
    if name.is_empty() {
        return unnamed(&dash, &visit).await;
    }
    let asked = visit.form().get("expires");
    let Some((_, _, days)) = EXPIRIES.iter().find(|(code, ..)| *code == asked) else {
        let error = "Choose when the key expires.";
        return draw(
            &dash,
            &visit,
            StatusCode::UNPROCESSABLE_ENTITY,
            Some(error),
            None,
        )
        .await;
    };
    let keys = dash.vault.access.api_keys(visit.account_id()).await?;
    let is_same = |key: &ApiKeyInfo| key.revoked.is_none() && key.name == name;
    if keys.iter().any(is_same) {
        let error = "There is a key with this name already. Another name tells the two apart in the audit log.";
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return draw(&dash, &visit, status, Some(error), None).await;
    }
    let valid = days.map(|days| SignedDuration::from_hours(days * 24));
    let group = Some(visit.form().get("group")).filter(|group| !group.is_empty());
    let access = &dash.vault.access;
    let created = access.create_api_key_in(visit.account_id(), group, name, valid, visit.actor());
    match created.await {
        Ok(new) => {
            let fresh = fresh(&visit, format!("Key “{name}” created"), &new);
            draw(&dash, &visit, StatusCode::OK, None, Some(fresh)).await
        }
        Err(StoreError::Invalid { what: GROUP, why }) => misnamed(&dash, &visit, why).await,
        Err(StoreError::Invalid { .. }) => unnamed(&dash, &visit).await,
        Err(error) => Err(error.into()),
    }
}

/// Subject of the store's refusal of a group.
const GROUP: &str = "name of a group";

/// `POST /keys/{id}/group`: moves a key to a group, or out of its group.
pub(crate) async fn set_group(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    let accounts = &dash.vault.accounts;
    let words = accounts.policy(visit.account_id()).await?;
    let group = Some(visit.form().get("group")).filter(|group| !group.is_empty());
    let weaker = Weaker::of_group(&words, &id, group).ok_or(PageError::NotFound)?;
    let address = format!("/keys/{id}/group");
    let by = match ask(&dash, &visit, &address, &weaker).await? {
        Asked::Given(by) => by,
        Asked::First(question) => return Ok(*question),
    };
    match accounts
        .set_key_group(visit.account_id(), &id, group, by)
        .await
    {
        Ok(()) => Ok(redirect("/keys?done=key-group")),
        Err(StoreError::Invalid { what: GROUP, why }) => misnamed(&dash, &visit, why).await,
        Err(error) => Err(error.into()),
    }
}

async fn misnamed(dash: &Dash, visit: &SignedIn, why: &str) -> Answer {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let error = in_sentence(&format!("{GROUP}: {why}"));
    draw(dash, visit, status, Some(&error), None).await
}

async fn unnamed(dash: &Dash, visit: &SignedIn) -> Answer {
    let error = format!(
        "Give the key a name of 1 to {KEY_NAME_CHARS_MAX} characters, so that the audit log can say who asked."
    );
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    draw(dash, visit, status, Some(&error), None).await
}

/// `POST /keys/{id}/rotate`
pub(crate) async fn rotate(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    let asked = visit.form().get("overlap");
    let hours = OVERLAPS
        .iter()
        .find(|(code, _)| *code == asked)
        .map(|(_, hours)| *hours)
        .ok_or(PageError::NotFound)?;
    let overlap = SignedDuration::from_hours(hours);
    match dash
        .vault
        .access
        .rotate_api_key(visit.account_id(), &id, overlap, visit.actor())
        .await
    {
        Ok(new) => {
            let fresh = fresh(&visit, "Key rotated. This is the new one".to_owned(), &new);
            draw(&dash, &visit, StatusCode::OK, None, Some(fresh)).await
        }
        Err(StoreError::Invalid { .. } | StoreError::Conflict(_)) => {
            let error = "This key was revoked, has expired or was rotated already. Create a new one instead.";
            draw(&dash, &visit, StatusCode::CONFLICT, Some(error), None).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /keys/{id}/revoke`
pub(crate) async fn revoke(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    dash.vault
        .access
        .revoke_api_key(visit.account_id(), &id, visit.actor())
        .await?;
    Ok(redirect("/keys?done=key-revoked"))
}

/// The names of keys by their ids, for lists.
pub(crate) fn names(keys: &[ApiKeyInfo]) -> BTreeMap<String, String> {
    keys.iter()
        .map(|key| (key.id.clone(), key.name.clone()))
        .collect()
}

async fn draw(
    dash: &Dash,
    visit: &SignedIn,
    status: StatusCode,
    error: Option<&str>,
    fresh: Option<Fresh>,
) -> Answer {
    let now = Timestamp::now();
    let mut keys = dash.vault.access.api_keys(visit.account_id()).await?;
    keys.sort_by_key(|key| (key.revoked.is_some(), std::cmp::Reverse(key.created)));
    let asked = visit.form().get("expires");
    let figures = &dash.vault.figures;
    let used = figures
        .stats(visit.account_id(), Window::Month)
        .await?
        .by_key;
    let words = dash.vault.accounts.policy(visit.account_id()).await?;
    let groups = words.group_names().into_iter();
    let typed = |name: &str| error.map_or_else(String::new, |_| visit.form().get(name).to_owned());
    let mut lines = Vec::new();
    for key in keys {
        let usage = usage(dash, visit, &key, used.get(&key.id)).await?;
        lines.push(line(key, usage, now));
    }
    page_with(
        status,
        &Page {
            layout: visit.layout("/keys"),
            tabs: tabs("/keys"),
            base_url: visit.context.base_url(),
            // Typed values stay after an error and go after a success.
            name: typed("name"),
            group: typed("group"),
            groups: groups.map(|name| name.to_string()).collect(),
            name_max: KEY_NAME_CHARS_MAX,
            expiries: choices(
                EXPIRIES.iter().map(|(code, label, _)| (*code, *label)),
                if asked.is_empty() { "90d" } else { asked },
            ),
            error: error.map(str::to_owned),
            fresh,
            keys: lines,
        },
    )
}

/// Returns the use of a key, and the model that was last asked for with it.
async fn usage(
    dash: &Dash,
    visit: &SignedIn,
    key: &ApiKeyInfo,
    used: Option<&Use>,
) -> Result<Usage, PageError> {
    let Some(used) = used else {
        return Ok(Usage::default());
    };
    let filter = Filter {
        key_id: Some(key.id.clone()),
        ..Filter::default()
    };
    let (trail, account) = (&dash.vault.trail, visit.account_id());
    let last = trail.request_list(account, &filter, None, 1).await?;
    let last = last.items.into_iter().next();
    Ok(Usage {
        requests: counted(used.requests, "request"),
        phi: percent(used.with_phi, used.requests),
        tokens: counted(used.tokens, "token"),
        last_model: last
            .and_then(|last| last.decision.model)
            .unwrap_or_default(),
    })
}

fn line(key: ApiKeyInfo, usage: Usage, now: Timestamp) -> Key {
    let has_expired = key.expires.is_some_and(|expires| expires <= now);
    let (state, tone) = match (key.revoked.is_some(), has_expired, key.rotated_to.is_some()) {
        (true, ..) => ("Revoked", Tone::Grey.class()),
        (false, true, _) => ("Expired", Tone::Grey.class()),
        (false, false, true) => ("Being replaced", "warn"),
        (false, false, false) if key.last_used.is_some() => ("In use", "ok"),
        (false, false, false) => ("Ready", "info"),
    };
    Key {
        id: key.id,
        name: key.name,
        group: key.group.unwrap_or_default(),
        state,
        tone,
        created: When::on(key.created),
        last_used: key.last_used.map(When::at),
        expires: key.expires.map(When::on),
        is_usable: key.revoked.is_none() && !has_expired,
        usage,
    }
}

fn fresh(visit: &SignedIn, title: String, new: &NewApiKey) -> Fresh {
    let key = new.key.expose();
    Fresh {
        title,
        clients: connections(visit, key),
        key: key.to_owned(),
    }
}
