//! API keys: make, rotate, revoke.

use askama::Template;

use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::{Choice, When};

/// The keys of the account.
#[derive(Template)]
#[template(path = "keys.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) base_url: String,
    pub(crate) name: String,
    pub(crate) expiries: Vec<Choice>,
    pub(crate) fresh: Option<Fresh>,
    pub(crate) keys: Vec<Key>,
}

/// A key just made, shown this once.
pub(crate) struct Fresh {
    pub(crate) title: String,
    pub(crate) key: String,
    pub(crate) curl: String,
    pub(crate) python: String,
    pub(crate) javascript: String,
}

/// One key of the list.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) state: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) created: When,
    pub(crate) last_used: Option<When>,
    pub(crate) expires: Option<When>,
    pub(crate) is_usable: bool,
}
