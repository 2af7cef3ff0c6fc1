//! One visit to a page: who comes, with what, and how answers are given.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use askama::Template;
use axum::extract::FromRequestParts;
use axum::response::{Html, IntoResponse, Response};
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use phigate_store::{Account, SecretString, Session, StoreError};

use super::fields::Fields;
use super::layout::{Layout, Navigation, Theme, notice};
use super::message::Message;
use phigate_edge::InflightPermit;
use phigate_types::{Right, Role};

/// Data of every visit, signed in or not.
#[derive(Debug)]
pub(crate) struct RequestContext {
    /// Light or dark.
    pub(crate) theme: Theme,
    /// The token for the forms of the page.
    pub(crate) form_token: String,
    /// Query of the address, after `?`.
    pub(crate) query: Fields,
    /// The form, on a write.
    pub(crate) form: Fields,
    /// The form's share of all bodies in flight, kept as long as the form.
    pub(crate) _inflight: Option<InflightPermit>,
    /// Scheme and host as the browser sees them.
    pub(crate) origin: String,
    /// Address of the client.
    pub(crate) client: IpAddr,
    /// Token that the browser kept from an earlier login.
    pub(crate) device: Option<SecretString>,
    /// Secret of the browser's logins with an identity provider.
    pub(crate) sign_on: Option<SecretString>,
    /// The browser, in two words.
    pub(crate) agent: String,
}

impl RequestContext {
    /// The address callers use as their base URL.
    pub(crate) fn base_url(&self) -> String {
        format!("{}/v1", self.origin)
    }

    /// Describes the origin of a session, for the sessions list.
    pub(crate) fn described(&self) -> String {
        format!("{}, from {}", self.agent, self.client)
    }
}

/// A visitor who is not (or need not be) signed in.
#[derive(Debug, Clone)]
pub(crate) struct Guest(pub(crate) Arc<RequestContext>);

impl Guest {
    /// The frame of a page without navigation.
    pub(crate) fn layout(&self) -> Layout {
        Layout {
            theme: self.0.theme,
            csrf: self.0.form_token.clone(),
            notice: notice(self.0.query.get("done")),
            ..Layout::default()
        }
    }
}

/// A signed-in person, whose role the route table has let pass.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn {
    pub(crate) context: Arc<RequestContext>,
    pub(crate) session: Arc<Session>,
    /// Name of the person in records.
    pub(crate) actor: Arc<str>,
    pub(crate) account: Arc<Account>,
    pub(crate) navigation: &'static Navigation,
    /// Whether the role may send the form at the address that was opened.
    pub(crate) may_change: bool,
    /// Requests to reveal content that this person may approve.
    pub(crate) waiting: usize,
}

impl SignedIn {
    /// The account everything on this visit belongs to.
    pub(crate) fn account_id(&self) -> &str {
        &self.session.user.account_id
    }

    /// Actor, for the audit trail.
    pub(crate) fn actor(&self) -> &str {
        &self.actor
    }

    /// Whether this person's roles have a right.
    pub(crate) fn may(&self, right: Right) -> bool {
        self.session.user.roles.may(right)
    }

    /// Whether this person signed in with a password, which can be asked for again.
    pub(crate) fn has_password(&self) -> bool {
        self.session.user.subject.is_none()
    }

    /// Whether this person may open the page at an address of ours.
    pub(crate) fn opens(&self, address: &str) -> bool {
        (self.navigation.opens)(self.session.user.roles, address)
    }

    /// The form of a write.
    pub(crate) fn form(&self) -> &Fields {
        &self.context.form
    }

    /// The frame of a page; `current` is its line in the navigation.
    pub(crate) fn layout(&self, current: &str) -> Layout {
        let frame = Frame {
            navigation: self.navigation,
            theme: self.context.theme,
            form_token: &self.context.form_token,
        };
        let mut layout = frame.layout(&self.session, &self.account, current);
        for item in layout.nav.iter_mut().filter(|item| item.href == "/audit") {
            item.count = self.waiting;
        }
        Layout {
            notice: notice(self.context.query.get("done")),
            is_read_only: !self.may_change,
            ..layout
        }
    }
}

/// Parts of a frame besides the signed-in person.
pub(crate) struct Frame<'a> {
    pub(crate) navigation: &'static Navigation,
    pub(crate) theme: Theme,
    pub(crate) form_token: &'a str,
}

impl Frame<'_> {
    /// The frame of a page; `current` is its line in the navigation.
    pub(crate) fn layout(&self, session: &Session, account: &Account, current: &str) -> Layout {
        Layout {
            theme: self.theme,
            nav: (self.navigation.lines)(session.user.roles, current),
            email: session.user.name().to_owned(),
            role: session.user.roles.labels(),
            account: account.name.clone(),
            csrf: self.form_token.to_owned(),
            notice: None,
            is_read_only: false,
            opens: Some((self.navigation, session.user.roles)),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Guest {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, PageError> {
        parts
            .extensions
            .get::<Guest>()
            .cloned()
            .ok_or(PageError::Broken)
    }
}

impl<S: Sync> FromRequestParts<S> for SignedIn {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, PageError> {
        parts
            .extensions
            .get::<SignedIn>()
            .cloned()
            .ok_or(PageError::Broken)
    }
}

/// Result of a handler.
pub(crate) type Answer = Result<Response, PageError>;

/// A page, as the answer to a visit.
pub(crate) fn page(template: &impl Template) -> Answer {
    page_with(StatusCode::OK, template)
}

/// A page with another status, for a form that needs another look.
pub(crate) fn page_with(status: StatusCode, template: &impl Template) -> Answer {
    let html = template.render().map_err(|_| PageError::Broken)?;
    Ok((status, Html(html)).into_response())
}

/// The status of a page with a form: whether there is something to correct.
pub(crate) fn form_status(needs_correction: bool) -> StatusCode {
    match needs_correction {
        true => StatusCode::UNPROCESSABLE_ENTITY,
        false => StatusCode::OK,
    }
}

/// Sends the browser on, after a write.
pub(crate) fn redirect(address: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(address) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

/// Returns what a missing right would allow, and the roles that have it.
fn wrong_role(right: Option<Right>) -> String {
    let needed = right.map(|right| {
        format!(
            "Only an {} may {}. ",
            Role::labels_with(right),
            right.words()
        )
    });
    let needed = needed.unwrap_or_default();
    format!("{needed}Nothing was changed. Ask an owner of the account.")
}

/// Reason that a page could not be given.
#[derive(Debug, Clone)]
pub(crate) enum PageError {
    /// No such thing in this account.
    NotFound,
    /// Not signed in, or no longer.
    SignedOut,
    /// Signed in, but the role does not have this right.
    WrongRole(Option<Right>),
    /// The account requires a second factor, and there is none yet.
    NoSecondFactor,
    /// The form was not ours, or is too old.
    StaleForm,
    /// Larger than any form of ours.
    TooLarge,
    /// Another person changed the same thing at the same moment.
    Conflict,
    /// The store refuses a value.
    Refused,
    /// Too many at a time, or too many failures before.
    Busy,
    /// The store does not answer.
    Store(StoreError),
    /// A mistake of ours.
    Broken,
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(_) => PageError::NotFound,
            StoreError::Conflict(_) => PageError::Conflict,
            StoreError::Invalid { .. } => PageError::Refused,
            StoreError::Throttled { .. } => PageError::Busy,
            other => PageError::Store(other),
        }
    }
}

impl PageError {
    /// The status, the heading and what to do about it.
    fn words(&self) -> (StatusCode, &'static str, Cow<'static, str>) {
        let (status, heading, words) = match self {
            PageError::NotFound => (
                StatusCode::NOT_FOUND,
                "Not found",
                "There is nothing with this address in your account. It may have been removed.",
            ),
            PageError::SignedOut => (
                StatusCode::UNAUTHORIZED,
                "Signed out",
                "Your session ended, so nothing was changed. Sign in and try again.",
            ),
            PageError::WrongRole(right) => {
                let heading = "Not for your role";
                return (StatusCode::FORBIDDEN, heading, wrong_role(*right).into());
            }
            PageError::NoSecondFactor => (
                StatusCode::FORBIDDEN,
                "Set up a second factor first",
                "This account requires one for everybody, and your login has none yet. It takes a minute and an authenticator app.",
            ),
            PageError::StaleForm => (
                StatusCode::FORBIDDEN,
                "That form is too old",
                "It comes from before you last signed in, or from another site, so nothing was changed. Open the page again and repeat.",
            ),
            PageError::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "Too much text",
                "That is more than this form takes. Shorten it, or use the API.",
            ),
            PageError::Conflict => (
                StatusCode::CONFLICT,
                "Changed at the same moment",
                "Somebody else changed the same thing just now, so your change was not saved. Look at it again and repeat.",
            ),
            PageError::Refused => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "That cannot be saved",
                "The store refuses one of the values, so nothing was changed. Go back, look at what was entered and try again.",
            ),
            PageError::Busy => (
                StatusCode::TOO_MANY_REQUESTS,
                "Too many at once",
                "Another request of this kind is still running, or there were too many attempts. Nothing was changed. Wait a few seconds and try again.",
            ),
            PageError::Store(_) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "The store does not answer",
                "Nothing was changed. While this lasts, callers’ requests are refused as well; service resumes on its own. `phigate doctor` says what is wrong.",
            ),
            PageError::Broken => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "Something went wrong here",
                "This is a fault in phigate, not yours. Try again; if it happens again, look at the server’s log.",
            ),
        };
        (status, heading, words.into())
    }

    /// Address and text of the link that leads on.
    fn way_on(&self) -> (&'static str, &'static str) {
        match self {
            PageError::SignedOut => ("/login", "Sign in"),
            PageError::NoSecondFactor => ("/account", "Set it up"),
            PageError::Store(_) => ("/", "Try again"),
            _ => ("/", "Go to the overview"),
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        if let PageError::Store(error) = &self {
            tracing::warn!("a page could not be given: {error}");
        }
        let mut response = self.draw(&Layout::default());
        // The gate knows who came, and which colours they chose.
        response.extensions_mut().insert(self);
        response
    }
}

impl PageError {
    /// The page that says it, in this frame.
    pub(super) fn draw(&self, layout: &Layout) -> Response {
        let (status, heading, words) = self.words();
        let (href, link) = self.way_on();
        let message = Message {
            heading,
            words: &words,
            href,
            link,
        };
        message.answer(status, layout)
    }
}
