//! The audit log: filter, page, follow, export, find an identifier, verify.

use askama::Template;

use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::{Choice, KindChip, When};

/// The log.
#[derive(Template)]
#[template(path = "audit.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) base_url: String,
    pub(crate) is_tail: bool,
    pub(crate) is_filtered: bool,
    pub(crate) has_custom_range: bool,
    pub(crate) chain: Chain,
    pub(crate) ranges: Vec<Choice>,
    pub(crate) records: Vec<Choice>,
    pub(crate) types: Vec<Choice>,
    pub(crate) actions: Vec<Choice>,
    pub(crate) modes: Vec<Choice>,
    pub(crate) keys: Vec<Choice>,
    pub(crate) model: String,
    pub(crate) request: String,
    pub(crate) since: String,
    pub(crate) until: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) newer: String,
    pub(crate) older: String,
    pub(crate) find_types: Vec<Choice>,
    pub(crate) found: Option<Found>,
}

/// One line of the log.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) href: String,
    pub(crate) time: When,
    pub(crate) action: String,
    pub(crate) tone: &'static str,
    pub(crate) types: Vec<KindChip>,
    pub(crate) subject: String,
    pub(crate) actor: String,
    pub(crate) mode: String,
    pub(crate) status: String,
}

/// What is known about the chain.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) tone: &'static str,
    pub(crate) label: String,
    pub(crate) words: String,
}

/// Where an identifier was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) words: String,
    pub(crate) rows: Vec<Row>,
}
