//! Users: invite by one-time link, change roles, remove; and the list of sessions.

use askama::Template;
use axum::extract::State;
use jiff::{SignedDuration, Timestamp};
use phigate_store::{Invite, LinkPurpose, Session, StoreError, User};

use crate::Dash;
use crate::fields::encode;
use crate::layout::Layout;
use crate::view::{Choice, When, choices};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};
use phigate_types::Role;

/// The people of the account.
#[derive(Template)]
#[template(path = "users.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) error: Option<String>,
    pub(crate) email: String,
    pub(crate) roles: Vec<Choice>,
    /// Label and rights of each role.
    pub(crate) summaries: Vec<(&'static str, &'static str)>,
    pub(crate) link: Option<InviteLink>,
    pub(crate) invitations: Vec<Invitation>,
    pub(crate) users: Vec<Person>,
    pub(crate) sessions: Vec<SignedInRow>,
    pub(crate) is_required: bool,
    /// Whether people come from an identity provider, so that invitations cannot be used.
    pub(crate) has_sign_on: bool,
}

/// One session of a user.
#[derive(Debug)]
pub(crate) struct SignedInRow {
    pub(crate) id: String,
    pub(crate) email: String,
    pub(crate) place: String,
    pub(crate) created: When,
    pub(crate) seen: When,
    pub(crate) is_this: bool,
}

/// An invited person who has not come yet.
#[derive(Debug)]
pub(crate) struct Invitation {
    pub(crate) email: String,
    pub(crate) role: &'static str,
    pub(crate) expires: When,
}

/// An invitation just made, shown this once.
pub(crate) struct InviteLink {
    pub(crate) email: String,
    pub(crate) url: String,
    pub(crate) expires: When,
}

/// One person.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) email: String,
    /// Name of the user in forms.
    pub(crate) key: String,
    /// Identity at the identity provider.
    pub(crate) subject: Option<String>,
    pub(crate) break_glass: bool,
    pub(crate) role: String,
    /// The roles they can be given.
    pub(crate) roles: Vec<Choice>,
    pub(crate) has_totp: bool,
    pub(crate) is_owner: bool,
    pub(crate) is_you: bool,
    /// The user's actions.
    pub(crate) acts: String,
    pub(crate) created: When,
    pub(crate) last_login: Option<When>,
}

const INVITATION: SignedDuration = SignedDuration::from_hours(3 * 24);

/// `GET /users`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None, None).await
}

/// `POST /users`
pub(crate) async fn invite(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    if has_sign_on(&dash, &visit).await? {
        let error = "People come from the identity provider: give one of their groups a role there, under Settings, Sign-in.";
        return draw(&dash, &visit, Some(error), None).await;
    }
    let email = visit.form().get("email").to_lowercase();
    let Ok(role) = visit.form().get("role").parse::<Role>() else {
        return draw(&dash, &visit, Some("Choose a role."), None).await;
    };
    if dash
        .vault
        .people
        .users(visit.account_id())
        .await?
        .iter()
        .any(|user| user.subject.is_none() && user.email == email)
    {
        return draw(
            &dash,
            &visit,
            Some("This person has a login already."),
            None,
        )
        .await;
    }
    let invite = Invite {
        purpose: LinkPurpose::Invite,
        role,
        email: Some(email.clone()),
        valid: INVITATION,
    };
    let made = dash
        .vault
        .links
        .create_link(visit.account_id(), &invite, visit.actor())
        .await;
    let token = match made {
        Ok(token) => token,
        Err(StoreError::Invalid { .. }) => {
            let error = "Enter a whole e-mail address, such as name@clinic.example.";
            return draw(&dash, &visit, Some(error), None).await;
        }
        Err(error) => return Err(error.into()),
    };
    let link = InviteLink {
        email,
        url: format!("{}/setup/{}", visit.context.origin, token.expose()),
        expires: When::at(Timestamp::now() + INVITATION),
    };
    draw(&dash, &visit, None, Some(link)).await
}

/// `POST /users/remove`
pub(crate) async fn remove(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let email = visit.form().get("email");
    if email == visit.session.user.key() {
        return draw(
            &dash,
            &visit,
            Some("You cannot remove yourself. Another owner can."),
            None,
        )
        .await;
    }
    dash.vault
        .people
        .remove_user(visit.account_id(), email, visit.actor())
        .await?;
    Ok(redirect("/users?done=user-removed"))
}

/// `POST /users/role`
pub(crate) async fn set_role(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let email = visit.form().get("email");
    let Ok(role) = visit.form().get("role").parse::<Role>() else {
        return draw(&dash, &visit, Some("Choose a role."), None).await;
    };
    // The acting person is an owner and stays one, so that the account always has an owner.
    if email == visit.session.user.key() {
        let error = "You cannot change your own role. Another owner can.";
        return draw(&dash, &visit, Some(error), None).await;
    }
    let people = &dash.vault.people;
    let set = people.set_role(visit.account_id(), email, role, visit.actor());
    set.await?;
    Ok(redirect("/users?done=role"))
}

/// `POST /users/sign-out`
pub(crate) async fn sign_out(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let id = visit.form().get("id");
    if id == visit.session.id {
        let error = "This is your own session. Sign out at the bottom of the navigation.";
        return draw(&dash, &visit, Some(error), None).await;
    }
    let sessions = &dash.vault.sessions;
    let ended = sessions.end_session(visit.account_id(), id, visit.actor());
    ended.await?;
    Ok(redirect("/users?done=session"))
}

/// `POST /users/withdraw`
pub(crate) async fn withdraw(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let email = visit.form().get("email");
    dash.vault
        .links
        .withdraw_invitation(visit.account_id(), email, visit.actor())
        .await?;
    Ok(redirect("/users?done=invitation"))
}

/// Whether the account has single sign-on: an invitation makes a login with a password, which it does not let in.
async fn has_sign_on(dash: &Dash, visit: &SignedIn) -> Result<bool, PageError> {
    let info = dash.vault.sign_on.info(visit.account_id()).await?;
    Ok(info.is_some())
}

async fn draw(
    dash: &Dash,
    visit: &SignedIn,
    error: Option<&str>,
    link: Option<InviteLink>,
) -> Answer {
    let users = dash.vault.people.users(visit.account_id()).await?;
    let invitations = dash.vault.links.invitations(visit.account_id()).await?;
    let sessions = dash.vault.sessions.all_sessions(visit.account_id()).await?;
    let role = visit.form().get("role");
    let has_sign_on = has_sign_on(dash, visit).await?;
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/users"),
            email: error
                .map(|_| visit.form().get("email").to_owned())
                .unwrap_or_default(),
            error: error.map(str::to_owned),
            roles: roles(if role.is_empty() {
                Role::Auditor.code()
            } else {
                role
            }),
            summaries: Role::all()
                .map(|role| (role.label(), role.summary()))
                .collect(),
            link,
            has_sign_on,
            invitations: invitations
                .into_iter()
                .map(|open| Invitation {
                    email: open.email.unwrap_or_default(),
                    role: open.role.label(),
                    expires: When::at(open.expires),
                })
                .collect(),
            users: users.into_iter().map(|user| person(visit, user)).collect(),
            sessions: sessions
                .into_iter()
                .map(|session| place(visit, session))
                .collect(),
            is_required: visit.account.settings.require_second_factor,
        },
    )
}

/// Every role as a choice.
pub(super) fn roles(chosen: &str) -> Vec<Choice> {
    choices(Role::all().map(|role| (role.code(), role.label())), chosen)
}

fn person(visit: &SignedIn, user: User) -> Person {
    Person {
        role: user.roles.labels(),
        roles: roles(user.roles.first().code()),
        has_totp: user.has_totp,
        is_owner: user.is_owner() && user.subject.is_none(),
        is_you: user.id == visit.session.user.id,
        acts: format!("/audit/administration?person={}", encode(&user.actor())),
        created: When::on(user.created),
        last_login: user.last_login.map(When::at),
        key: user.key().to_owned(),
        break_glass: user.break_glass,
        email: user.name().to_owned(),
        subject: user.subject.map(|subject| subject.to_string()),
    }
}

fn place(visit: &SignedIn, session: Session) -> SignedInRow {
    SignedInRow {
        is_this: session.id == visit.session.id,
        id: session.id,
        email: session.user.name().to_owned(),
        place: session.origin,
        created: When::at(session.created),
        seen: When::at(session.last_seen),
    }
}
