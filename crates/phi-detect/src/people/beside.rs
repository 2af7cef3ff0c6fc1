//! Words beside a name that make it the name of a thing.

use std::ops::Range;

use super::Cue;
use super::is_before_eponym_tail;
use crate::page::Page;

/// Whether the words beside a name make it the name of a thing: an article or a place's preposition, a saint, a firm,
/// a disease, a class in a program.
pub(crate) fn is_of_thing(page: &Page<'_>, span: &Range<usize>) -> bool {
    const LEADS: &[&[u8]] = &[
        b"a", b"an", b"the", b"of", b"st", b"saint", b"santa", b"san", b"in", b"near", b"at",
        b"this", b"another",
    ];
    let lead_end = span.start.saturating_sub(1);
    let lead_end = lead_end - usize::from(page.byte_before(lead_end) == b'.');
    let is_led = page.word_start_before(lead_end).is_some_and(|start| {
        LEADS
            .iter()
            .any(|lead| page.slice(start..lead_end).eq_ignore_ascii_case(lead))
    });
    let is_of_firm = page.slice(span.end..span.end + 3) == b" & "
        || page.slice(span.start.saturating_sub(3)..span.start) == b" & ";
    let is_class = page.slice(span.end..span.end + 2) == b"::"
        || page.slice(span.start.saturating_sub(2)..span.start) == b"::";
    is_led || is_of_firm || is_class || is_before_eponym_tail(page, span.end, Cue::Given)
}
