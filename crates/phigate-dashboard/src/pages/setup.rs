//! Using a one-time link: for the first owner of a server, or for an invited person.

use askama::Template;
use axum::extract::{Path, State};
use http::StatusCode;
use phigate_store::{Link, LinkPurpose, PASSWORD_CHARS_MIN, SecretString, StoreError};

use super::login;
use crate::Dash;
use crate::layout::Layout;
use crate::message::Message;
use crate::visit::{Answer, Guest, page_with, redirect};

/// The form behind the link.
#[derive(Template)]
#[template(path = "setup.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) error: Option<String>,
    pub(crate) heading: &'static str,
    pub(crate) words: String,
    pub(crate) action: String,
    pub(crate) email: String,
    pub(crate) email_is_fixed: bool,
    pub(crate) password_min: usize,
}

/// `GET /setup/{token}`
pub(crate) async fn show(
    State(dash): State<Dash>,
    guest: Guest,
    Path(token): Path<String>,
) -> Answer {
    match dash.vault.links.link(&token).await? {
        Some(link) => draw(&dash, &guest, &token, &link, None).await,
        None => used_up(&guest),
    }
}

/// `POST /setup/{token}`
pub(crate) async fn create(
    State(dash): State<Dash>,
    guest: Guest,
    Path(token): Path<String>,
) -> Answer {
    let Some(link) = dash.vault.links.link(&token).await? else {
        return used_up(&guest);
    };
    if dash.vault.sign_on.info(&link.account_id).await?.is_some() {
        let error = "This account has single sign-on, so no login with a password can be made here. Sign in with your organization’s login.";
        return draw(&dash, &guest, &token, &link, Some(error.to_owned())).await;
    }
    let form = &guest.0.form;
    let (password, again) = (form.exact("password"), form.exact("again"));
    if let Err(error) = check_password(password, again) {
        return draw(&dash, &guest, &token, &link, Some(error)).await;
    }
    let email = link
        .email
        .clone()
        .unwrap_or_else(|| form.get("email").to_owned());
    match dash
        .vault
        .links
        .redeem_link(&token, &email, &SecretString::new(password.to_owned()))
        .await
    {
        Ok(user) => {
            let mut response = redirect("/?done=welcome");
            login::begin(&dash, &guest, &user, &mut response).await?;
            Ok(response)
        }
        Err(StoreError::NotFound(_)) => used_up(&guest),
        Err(StoreError::Invalid { what, why }) => {
            draw(
                &dash,
                &guest,
                &token,
                &link,
                Some(format!("The {what} cannot be used: {why}.")),
            )
            .await
        }
        Err(StoreError::Conflict(_)) => {
            let error = "There is a login with this e-mail already. Sign in with it, or use another address.";
            draw(&dash, &guest, &token, &link, Some(error.to_owned())).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The rules for a new password: the store's, and that it was typed the same twice.
pub(crate) fn check_password(password: &str, again: &str) -> Result<(), String> {
    if password.chars().count() < PASSWORD_CHARS_MIN {
        return Err(format!(
            "Use a password of at least {PASSWORD_CHARS_MIN} characters."
        ));
    }
    if password != again {
        return Err("The two passwords differ. Type the same one twice.".to_owned());
    }
    Ok(())
}

fn used_up(guest: &Guest) -> Answer {
    let message = Message {
        heading: "This link does not work any more",
        words: "Links work once and for a limited time. Ask an owner for a new one. On a server without any login, `phigate user add` creates one.",
        href: "/login",
        link: "Go to the login",
    };
    Ok(message.answer(StatusCode::NOT_FOUND, &guest.layout()))
}

async fn draw(
    dash: &Dash,
    guest: &Guest,
    token: &str,
    link: &Link,
    error: Option<String>,
) -> Answer {
    let account = dash.vault.accounts.account(&link.account_id).await?;
    let (heading, words) = match link.purpose {
        LinkPurpose::Owner => (
            "Create the owner login",
            "You are the first here. This login can change every setting and invite others."
                .to_owned(),
        ),
        LinkPurpose::Invite => (
            "Accept the invitation",
            format!(
                "Your role in the account {} will be {}. {}",
                account.name,
                link.role.code(),
                link.role.summary()
            ),
        ),
    };
    let status = if error.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    page_with(
        status,
        &Page {
            layout: guest.layout(),
            error,
            heading,
            words,
            action: format!("/setup/{}", crate::fields::encode(token)),
            email: link
                .email
                .clone()
                .unwrap_or_else(|| guest.0.form.get("email").to_owned()),
            email_is_fixed: link.email.is_some(),
            password_min: PASSWORD_CHARS_MIN,
        },
    )
}
