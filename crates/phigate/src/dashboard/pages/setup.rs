//! Using a one-time link: the first owner of a server, or somebody invited.

use askama::Template;

use crate::dashboard::chrome::Chrome;

/// The form behind the link.
#[derive(Template)]
#[template(path = "setup.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) heading: &'static str,
    pub(crate) words: String,
    pub(crate) action: String,
    pub(crate) email: String,
    pub(crate) email_is_fixed: bool,
}
