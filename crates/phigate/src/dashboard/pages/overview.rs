//! What happened, and is anything wrong.

use askama::Template;

use super::audit::Row;
use crate::dashboard::chart::Chart;
use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::Choice;

/// The first page.
#[derive(Template)]
#[template(path = "overview.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) headline: String,
    pub(crate) periods: Vec<Choice>,
    pub(crate) steps: Option<Vec<Step>>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) chart: Chart,
    pub(crate) attention: Vec<Line>,
    pub(crate) types: Vec<Bar>,
    pub(crate) modes: Vec<Bar>,
    pub(crate) mode_label: String,
    pub(crate) health: Vec<Health>,
    pub(crate) latest: Vec<Row>,
}

/// One step of the first run.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) title: &'static str,
    pub(crate) words: &'static str,
    pub(crate) href: &'static str,
    pub(crate) link: &'static str,
    pub(crate) done: bool,
    pub(crate) next: bool,
}

/// One number to read at a glance.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) unit: &'static str,
    pub(crate) note: String,
    pub(crate) href: String,
    pub(crate) tone: &'static str,
}

/// Something that needs attention.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) tone: &'static str,
    pub(crate) text: String,
    pub(crate) href: &'static str,
    pub(crate) link: &'static str,
}

/// One bar of a list of counts.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) percent: u64,
    pub(crate) count: String,
}

/// The state of one part of the system.
#[derive(Debug)]
pub(crate) struct Health {
    pub(crate) tone: &'static str,
    pub(crate) name: String,
    pub(crate) text: String,
}
