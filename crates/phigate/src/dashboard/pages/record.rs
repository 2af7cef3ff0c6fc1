//! One request of the log: findings, decision, outcome, and its content once revealed.

use askama::Template;

use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::{Fact, KindChip, Piece};

/// The record.
#[derive(Template)]
#[template(path = "record.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) heading: String,
    pub(crate) request_id: String,
    pub(crate) tone: &'static str,
    pub(crate) action: String,
    pub(crate) types: Vec<KindChip>,
    pub(crate) decision: Vec<Fact>,
    pub(crate) outcome: Vec<Fact>,
    pub(crate) no_outcome: &'static str,
    pub(crate) findings: Vec<FindingRow>,
    pub(crate) has_content: bool,
    pub(crate) content_words: &'static str,
    pub(crate) asks_password: bool,
    pub(crate) reason: String,
    pub(crate) content: Option<Content>,
}

/// One finding, without its text.
#[derive(Debug)]
pub(crate) struct FindingRow {
    pub(crate) label: String,
    pub(crate) class: &'static str,
    pub(crate) path: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) score: String,
    pub(crate) rule: String,
}

/// Content, revealed.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) sent_title: &'static str,
    pub(crate) passages: Vec<Passage>,
    pub(crate) original: String,
    pub(crate) sent: String,
}

/// One text of the request in which something was found, before and after.
#[derive(Debug)]
pub(crate) struct Passage {
    pub(crate) path: String,
    pub(crate) original: Vec<Piece>,
    pub(crate) sent: Vec<Piece>,
}
