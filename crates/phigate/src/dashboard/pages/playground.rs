//! Trying a text: what is found, what each mode makes of it, and a real request.

use askama::Template;

use super::settings::ModeCard;
use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::{Fact, Piece};

/// The playground.
#[derive(Template)]
#[template(path = "playground.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) text: String,
    pub(crate) model: String,
    pub(crate) models: Vec<String>,
    pub(crate) mode_code: String,
    pub(crate) mode_label: String,
    pub(crate) may_send: bool,
    pub(crate) found_words: String,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) findings: Vec<Found>,
    pub(crate) modes: Vec<ModeCard>,
    pub(crate) answer: Option<Answer>,
}

/// One finding, with its text: the viewer typed it.
pub(crate) struct Found {
    pub(crate) label: &'static str,
    pub(crate) class: &'static str,
    pub(crate) text: String,
    pub(crate) score: String,
    pub(crate) rule: &'static str,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) tone: &'static str,
    pub(crate) status: String,
    pub(crate) facts: Vec<Fact>,
    pub(crate) text: String,
    pub(crate) href: String,
}
