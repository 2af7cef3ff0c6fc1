//! Your own login: password, second factor, sessions.

use askama::Template;

use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::When;

/// Your login.
#[derive(Template)]
#[template(path = "account.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) has_totp: bool,
    pub(crate) offer: Option<Offer>,
    pub(crate) sessions: Vec<SessionRow>,
}

/// A second factor to be set up.
pub(crate) struct Offer {
    pub(crate) secret: String,
    pub(crate) uri: String,
}

/// One place you are signed in.
#[derive(Debug)]
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) agent: String,
    pub(crate) created: When,
    pub(crate) seen: When,
    pub(crate) is_this: bool,
}
