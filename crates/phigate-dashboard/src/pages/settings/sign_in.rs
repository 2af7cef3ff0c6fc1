//! Settings about signing in: single sign-on, and whether all users need a second factor.

use askama::Template;
use axum::extract::State;
use phigate_store::{Settings, SignOnInfo};

use super::super::sign_on::{logout_address, redirect_address};
use super::sign_on_fields::{CheckRow, SignOnFields, role_codes};
use super::{save, tabs};
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, counted};
use crate::visit::{Answer, SignedIn, form_status, page_with};

pub(super) const ADDRESS: &str = "/settings/sign-in";

/// Requirements for signing in.
#[derive(Template)]
#[template(path = "settings/sign-in.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) require_second_factor: bool,
    /// Single sign-on of the account.
    pub(crate) sign_on: Option<SignOnInfo>,
    /// Address to which the identity provider sends browsers back.
    pub(crate) redirect_address: String,
    /// Address to which the identity provider sends logout tokens.
    pub(crate) logout_address: String,
    /// Owners who may sign in with a password all the same.
    pub(crate) break_glass: usize,
    /// Users who would have to set up a second factor, in words.
    pub(crate) without: String,
    /// Contents of the form for single sign-on.
    pub(crate) fields: SignOnFields,
    pub(crate) role_codes: String,
    /// Whether the viewer could mark their own password as break-glass.
    pub(crate) offers_mark: bool,
    /// Results of a trial, if there was one.
    pub(crate) checks: Vec<CheckRow>,
}

/// Parts of the page that an act gives.
#[derive(Default)]
pub(super) struct Drawn {
    pub(super) error: Option<String>,
    pub(super) typed: Option<SignOnFields>,
    pub(super) checks: Vec<CheckRow>,
}

/// `GET /settings/sign-in`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, Drawn::default()).await
}

/// `POST /settings/sign-in`
pub(crate) async fn save_form(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let required = visit.form().is_ticked("require_second_factor");
    if required && visit.has_password() && !visit.session.user.has_totp {
        let error = "Set up your own second factor first, under Your login: otherwise this would lock you out of this page.";
        let drawn = Drawn {
            error: Some(error.to_owned()),
            ..Drawn::default()
        };
        return draw(&dash, &visit, drawn).await;
    }
    let change = |settings: &mut Settings| settings.require_second_factor = required;
    save(&dash, &visit, ADDRESS, change).await
}

pub(super) async fn draw(dash: &Dash, visit: &SignedIn, drawn: Drawn) -> Answer {
    let users = dash.vault.people.users(visit.account_id()).await?;
    let without = users
        .iter()
        .filter(|user| !user.has_totp && user.subject.is_none())
        .count() as u64;
    let words = match without {
        0 => "Everybody has one.".to_owned(),
        1 => "1 person has none yet.".to_owned(),
        many => format!(
            "{} have none yet.",
            counted(many, "person").replace("persons", "people")
        ),
    };
    let (origin, account) = (&visit.context.origin, &visit.account.name);
    let sign_on = dash.vault.sign_on.info(visit.account_id()).await?;
    let stored = sign_on
        .as_ref()
        .map(|info| SignOnFields::stored(&info.config));
    let Drawn {
        error,
        typed,
        checks,
    } = drawn;
    let user = &visit.session.user;
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/settings"),
            tabs: tabs(ADDRESS),
            error,
            require_second_factor: visit.account.settings.require_second_factor,
            fields: typed.or(stored).unwrap_or_default(),
            sign_on,
            role_codes: role_codes(),
            offers_mark: user.is_owner() && visit.has_password() && !user.break_glass,
            checks,
            redirect_address: redirect_address(origin, account),
            logout_address: logout_address(origin, account),
            break_glass: users.iter().filter(|user| user.break_glass).count(),
            without: words,
        },
    )
}
