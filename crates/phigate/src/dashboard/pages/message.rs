//! A page that says one thing: not found, not allowed, not now.

use askama::Template;

use crate::dashboard::chrome::Chrome;

/// What happened, and what to do.
#[derive(Template)]
#[template(path = "message.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) heading: &'static str,
    pub(crate) words: &'static str,
    pub(crate) href: &'static str,
    pub(crate) link: &'static str,
}
