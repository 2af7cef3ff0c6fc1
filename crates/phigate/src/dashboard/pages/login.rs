//! Signing in.

use askama::Template;

use crate::dashboard::chrome::Chrome;

/// The page: first e-mail and password, then the code where a second factor is on.
#[derive(Template)]
#[template(path = "login.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) email: String,
    pub(crate) asks_code: bool,
    pub(crate) asks_account: bool,
    pub(crate) account: String,
}
