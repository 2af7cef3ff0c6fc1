//! Proposals for the kinds beyond the eight of the specification: labelled numbers, shapes, and places of standards.
//!
//! Nothing here is read unless the account looks for such a kind, so that the eight find the same with and without it.
//! The reader proposes as well, and `decide` judges both.

mod ages;
mod columns;
mod cues;
mod dates;
mod handles;
mod named;
mod segments;
mod value;
mod web;

pub(crate) use named::{comma_before_state, is_state};

use std::ops::Range;

use crate::budget::List;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::page::Page;
use crate::settings::Settings;

/// A rule that proposes values.
type Finder = fn(&Page<'_>, &mut Proposals<'_>);

/// Every rule, one row per module.
static FINDERS: &[Finder] = &[
    cues::find,
    columns::find,
    segments::find,
    dates::find,
    ages::find,
    named::find,
    web::find,
    handles::find,
    value::find,
];

/// Proposes values of the kinds beyond the eight that an account looks for.
pub(crate) fn propose(page: &Page<'_>, settings: &Settings) -> List<Candidate> {
    let mut out = Proposals {
        settings,
        all: page.memory().list(),
    };
    for find in FINDERS {
        if !page.has_time() {
            break;
        }
        find(page, &mut out);
    }
    out.all
}

/// Collector of proposals.
struct Proposals<'a> {
    settings: &'a Settings,
    all: List<Candidate>,
}

impl Proposals<'_> {
    /// Adds a value of a kind, unless the account does not look for the kind or the value is a placeholder.
    fn push(
        &mut self,
        page: &Page<'_>,
        kind: PhiKind,
        span: Range<usize>,
        score: f32,
        rule: &'static str,
    ) {
        let start = page.text.floor_char_boundary(span.start);
        let span = start..page.text.ceil_char_boundary(span.end);
        let text = page.text.get(span.clone()).unwrap_or_default();
        let is_left = kind.code() == "place" && is_state(text);
        let is_free = !span.is_empty() && !is_left && !page.has_placeholder(&span);
        if is_free && self.settings.looks_for(kind) {
            self.all.push(Candidate {
                kind,
                span,
                score,
                rule,
            });
        }
    }
}

/// Returns at most `count` bytes from an offset on.
fn ahead<'a>(page: &Page<'a>, from: usize, count: usize) -> &'a [u8] {
    page.slice(from..page.bytes().len().min(from + count))
}

/// Returns the line of a place without its line break, at most 400 bytes on either side.
fn line_of(page: &Page<'_>, span: &Range<usize>) -> Range<usize> {
    const REACH: usize = 400;
    let bytes = page.bytes();
    let from = span.start.saturating_sub(REACH);
    let start = memchr::memrchr(b'\n', &bytes[from..span.start]).map_or(from, |at| from + at + 1);
    let to = bytes.len().min(span.end + REACH);
    let end = memchr::memchr(b'\n', &bytes[span.end..to]).map_or(to, |at| span.end + at);
    start..end
}
