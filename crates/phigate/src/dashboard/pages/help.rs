//! How to connect a program, with this server's real address.

use askama::Template;

use crate::dashboard::chrome::Chrome;

/// Help.
#[derive(Template)]
#[template(path = "help.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) base_url: String,
    pub(crate) snippets: Vec<Snippet>,
    pub(crate) kinds: String,
}

/// Lines to copy.
#[derive(Debug)]
pub(crate) struct Snippet {
    pub(crate) title: &'static str,
    pub(crate) code: String,
}
