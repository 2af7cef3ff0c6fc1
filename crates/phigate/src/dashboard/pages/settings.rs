//! Settings: the PHI Handling Mode first, then how PHI is looked for and how long records are kept.

use askama::Template;

use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::{Piece, When};

/// All settings.
#[derive(Template)]
#[template(path = "settings.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) mode_changed: Option<ModeChange>,
    pub(crate) modes: Vec<ModeCard>,
    pub(crate) allow_unscannable: bool,
    pub(crate) legal_hold: bool,
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) mrn_formats: String,
    pub(crate) content_days: String,
    pub(crate) record_days: String,
    pub(crate) requests_per_minute: String,
    pub(crate) default_per_minute: u64,
    pub(crate) concurrency: String,
    pub(crate) default_concurrency: u64,
}

/// When the mode last changed, and who did it.
#[derive(Debug)]
pub(crate) struct ModeChange {
    pub(crate) time: When,
    pub(crate) by: String,
}

/// One mode to choose, with the example under it.
#[derive(Debug)]
pub(crate) struct ModeCard {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) words: &'static str,
    pub(crate) caption: &'static str,
    pub(crate) example: Vec<Piece>,
    pub(crate) chosen: bool,
    pub(crate) in_force: bool,
}

/// The score from which a finding of one kind counts.
#[derive(Debug)]
pub(crate) struct Threshold {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) error: bool,
}
