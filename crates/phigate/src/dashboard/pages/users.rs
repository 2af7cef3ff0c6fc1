//! Users: invite by one-time link, remove.

use askama::Template;

use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::{Choice, When};

/// The people of the account.
#[derive(Template)]
#[template(path = "users.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) email: String,
    pub(crate) roles: Vec<Choice>,
    pub(crate) link: Option<InviteLink>,
    pub(crate) users: Vec<Person>,
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
    pub(crate) role: &'static str,
    pub(crate) has_totp: bool,
    pub(crate) is_you: bool,
    pub(crate) created: When,
    pub(crate) last_login: Option<When>,
}
