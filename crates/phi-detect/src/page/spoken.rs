//! Numbers said in words.

use std::ops::Range;

use super::Page;
use crate::budget::List;
use crate::lexicon::Sense;

/// A number said in words, or in words and figures: "five three six, two 2, eight seven four one".
pub(crate) struct Spoken {
    pub(crate) span: Range<usize>,
    pub(crate) digits: usize,
}

/// Finds every stretch of at least seven digits with a spelled digit among them.
pub(super) fn find(page: &Page<'_>) -> List<Spoken> {
    let mut found = page.memory().list();
    let (mut index, mut way) = (0, page.way());
    while index < page.marks.len() && way.goes_on(page.marks[index].start as usize) {
        if page.marks[index].sense.has(Sense::DIGIT_WORD) {
            let (spoken, next) = read_spoken(page, index);
            if spoken.digits >= 7 {
                found.push(spoken);
            }
            index = next;
        } else {
            index += 1;
        }
    }
    found
}

fn read_spoken(page: &Page<'_>, first: usize) -> (Spoken, usize) {
    let mut index = first;
    // Figures right before the first word belong to it.
    while index > 0 && is_spoken_figure(page, index - 1) && is_spoken_gap(page, index - 1) {
        index -= 1;
    }
    let start = page.marks[index].start as usize;
    let mut end = start;
    let mut digits = 0;
    loop {
        let mark = page.marks[index];
        digits += if mark.is_number() { mark.len() } else { 1 };
        end = end.max(mark.end as usize);
        let goes_on = index + 1 < page.marks.len()
            && (is_spoken_figure(page, index + 1)
                || page.marks[index + 1].sense.has(Sense::DIGIT_WORD))
            && is_spoken_gap(page, index);
        index += 1;
        if !goes_on || digits > 20 {
            break;
        }
    }
    let next = index.max(first + 1);
    (
        Spoken {
            span: start..end,
            digits,
        },
        next,
    )
}

fn is_spoken_figure(page: &Page<'_>, index: usize) -> bool {
    let mark = page.marks[index];
    mark.is_number() && mark.len() <= 4
}

/// Whether the text after a mark can separate spoken digits: spaces, a comma, "dash".
fn is_spoken_gap(page: &Page<'_>, index: usize) -> bool {
    let Some(next) = page.marks.get(index + 1) else {
        return false;
    };
    let between = page.slice(page.marks[index].end as usize..next.start as usize);
    between.len() <= 8
        && !between.is_empty()
        && between
            .split(|byte| !byte.is_ascii_alphabetic())
            .all(|word| {
                word.is_empty()
                    || word.eq_ignore_ascii_case(b"dash")
                    || word.eq_ignore_ascii_case(b"hyphen")
            })
        && between.iter().all(|byte| {
            byte.is_ascii_alphabetic() || matches!(byte, b' ' | b',' | b'-' | b'.' | b'\n')
        })
}
