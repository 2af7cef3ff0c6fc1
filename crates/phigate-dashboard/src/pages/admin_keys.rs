//! Keys of the admin API: make, list, revoke.

use askama::Template;
use axum::extract::{Path, State};
use jiff::{SignedDuration, Timestamp};
use phigate_store::{AdminKeyInfo, KEY_NAME_CHARS_MAX, NewAdminKey, StoreError};
use phigate_types::{Role, Tone};

use super::keys::{EXPIRIES, tabs};
use super::users::roles;
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, When, choices};
use crate::visit::{Answer, SignedIn, form_status, page_with, redirect};

const ADDRESS: &str = "/keys/admin";

/// The admin keys of the account.
#[derive(Template)]
#[template(path = "admin-keys.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    /// Address of the admin API.
    pub(crate) api_url: String,
    pub(crate) name: String,
    pub(crate) name_max: usize,
    pub(crate) roles: Vec<Choice>,
    /// Label and rights of each role.
    pub(crate) summaries: Vec<(&'static str, &'static str)>,
    pub(crate) expiries: Vec<Choice>,
    /// Title and text of a key just made, shown this once.
    pub(crate) fresh: Option<(String, String)>,
    pub(crate) keys: Vec<Key>,
}

/// One key of the list.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) role: &'static str,
    pub(crate) is_installation: bool,
    pub(crate) state: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) created: When,
    pub(crate) created_by: String,
    pub(crate) last_used: Option<When>,
    pub(crate) expires: Option<When>,
    pub(crate) is_usable: bool,
    /// Log of what was done with it.
    pub(crate) acts: String,
}

/// `GET /keys/admin`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None, None).await
}

/// `POST /keys/admin`
pub(crate) async fn create(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    let name = form.get("name");
    let Ok(role) = form.get("role").parse::<Role>() else {
        return draw(&dash, &visit, Some("Choose a role."), None).await;
    };
    let asked = form.get("expires");
    let Some((_, _, days)) = EXPIRIES.iter().find(|(code, ..)| *code == asked) else {
        return draw(&dash, &visit, Some("Choose when the key expires."), None).await;
    };
    let unnamed = format!(
        "Give the key a name of 1 to {KEY_NAME_CHARS_MAX} characters, such as the program that has it."
    );
    if name.is_empty() {
        return draw(&dash, &visit, Some(&unnamed), None).await;
    }
    let new = NewAdminKey {
        name,
        role,
        // Accounts belong to the installation, so only its command line gives that right.
        installation: false,
        valid: days.map(|days| SignedDuration::from_hours(days * 24)),
    };
    let keys = &dash.vault.admin_keys;
    match keys.create(visit.account_id(), &new, visit.actor()).await {
        Ok(made) => {
            let title = format!("Admin key “{name}” created");
            let fresh = (title, made.key.expose().to_owned());
            draw(&dash, &visit, None, Some(fresh)).await
        }
        Err(StoreError::Invalid { .. }) => draw(&dash, &visit, Some(&unnamed), None).await,
        Err(error) => Err(error.into()),
    }
}

/// `POST /keys/admin/{id}/revoke`
pub(crate) async fn revoke(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    let keys = &dash.vault.admin_keys;
    keys.revoke(visit.account_id(), &id, visit.actor()).await?;
    Ok(redirect(&format!("{ADDRESS}?done=key-revoked")))
}

async fn draw(
    dash: &Dash,
    visit: &SignedIn,
    error: Option<&str>,
    fresh: Option<(String, String)>,
) -> Answer {
    let now = Timestamp::now();
    let mut keys = dash.vault.admin_keys.list(visit.account_id()).await?;
    keys.sort_by_key(|key| (key.revoked.is_some(), std::cmp::Reverse(key.created)));
    let form = visit.form();
    let or = |name: &str, default: &'static str| match form.get(name) {
        "" => default.to_owned(),
        typed => typed.to_owned(),
    };
    let expiries = EXPIRIES.iter().map(|(code, label, _)| (*code, *label));
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/keys"),
            tabs: tabs(ADDRESS),
            api_url: format!("{}/admin/v1", visit.context.origin),
            // Typed values stay after an error and go after a success.
            name: error
                .map(|_| form.get("name").to_owned())
                .unwrap_or_default(),
            name_max: KEY_NAME_CHARS_MAX,
            roles: roles(&or("role", Role::Operator.code())),
            summaries: Role::all()
                .map(|role| (role.label(), role.summary()))
                .collect(),
            expiries: choices(expiries, &or("expires", "90d")),
            error: error.map(str::to_owned),
            fresh,
            keys: keys.into_iter().map(|key| line(key, now)).collect(),
        },
    )
}

fn line(key: AdminKeyInfo, now: Timestamp) -> Key {
    let has_expired = key.expires.is_some_and(|expires| expires <= now);
    let (state, tone) = match (key.revoked.is_some(), has_expired) {
        (true, _) => ("Revoked", Tone::Grey.class()),
        (false, true) => ("Expired", Tone::Grey.class()),
        (false, false) if key.last_used.is_some() => ("In use", "ok"),
        (false, false) => ("Ready", "info"),
    };
    Key {
        acts: format!("/audit/administration?person=admin+key+{}", key.id),
        id: key.id,
        name: key.name,
        role: key.role.label(),
        is_installation: key.installation,
        state,
        tone,
        created: When::on(key.created),
        created_by: key.created_by,
        last_used: key.last_used.map(When::at),
        expires: key.expires.map(When::on),
        is_usable: key.revoked.is_none() && !has_expired,
    }
}
