//! Providers: their keys, addresses, a test of the connection, and model aliases.

use askama::Template;

use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::When;

/// The provider families.
#[derive(Template)]
#[template(path = "providers.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) private_allowed: bool,
    pub(crate) providers: Vec<Entry>,
    pub(crate) aliases: String,
    pub(crate) alias_error: Option<String>,
}

/// One family.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) family: String,
    pub(crate) label: &'static str,
    pub(crate) prefixes: String,
    pub(crate) is_set: bool,
    pub(crate) last_four: String,
    pub(crate) base_url: String,
    pub(crate) default_url: &'static str,
    pub(crate) changed: Option<When>,
    pub(crate) test: Option<TestResult>,
    pub(crate) error: Option<String>,
}

/// What a test of the connection said.
#[derive(Debug, Clone)]
pub(crate) struct TestResult {
    pub(crate) tone: &'static str,
    pub(crate) title: &'static str,
    pub(crate) words: String,
}
