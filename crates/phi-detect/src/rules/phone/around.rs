//! What stands around a telephone number and says that it is one.

use std::ops::Range;

use super::shape::goes_on;
use crate::context::{LabelMatch, Strength, claim_after, number_claim};
use crate::kinds::{Evidence, Meaning, Shape};
use crate::lexicon::Sense;
use crate::page::Page;
use crate::people;
use crate::rules::Out;

/// "pager 31415": pagers have short numbers.
pub(super) fn is_of_pager(page: &Page<'_>, claim: &LabelMatch) -> bool {
    const PAGERS: &[&[u8]] = &[b"pager", b"pgr", b"beeper"];
    claim.is(Meaning::Phone)
        && claim.tie >= Strength::Tight
        && page.label_ending_at(claim.from).is_some_and(|label| {
            let first = page.word_at(label.start as usize);
            let end = first.map_or(label.start as usize, |(_, end)| end);
            let word = page.slice(label.start as usize..end);
            PAGERS.iter().any(|one| word.eq_ignore_ascii_case(one))
        })
}

/// Whether ten digits in a row are a number of the plan: area and exchange start with 2 to 9.
pub(super) fn is_dialled(page: &Page<'_>, span: &Range<usize>) -> bool {
    let digits = page.slice(span.clone());
    digits.len() == 10 && digits[0] >= b'2' && digits[3] >= b'2'
}

/// "daughter's # is 2065550142", "wife: 2065550142".
pub(super) fn follows_kin(page: &Page<'_>, start: usize) -> bool {
    let mut end = start;
    for _ in 0..4 {
        let gap = page.slice(end.saturating_sub(4)..end);
        let signs = gap
            .iter()
            .rev()
            .take_while(|byte| {
                matches!(byte, b' ' | b':' | b'#' | b'\'' | b'-' | b'(' | b')' | b',')
            })
            .count();
        match page.word_before(end - signs) {
            Some((sense, _)) if sense.has(Sense::KIN) => return true,
            Some((_, word)) => end = word,
            None => return false,
        }
    }
    false
}

/// `Jane Roe 2065550142`: ten digits right after a name.
pub(super) fn beside(page: &Page<'_>, name: &Range<usize>, out: &mut Out<'_>) {
    const LINKS: &[&[u8]] = &[b" - ", b", ", b": ", b" @ ", b" (", b" ", b"\t"];
    let gap = page.slice(name.end..page.text.len().min(name.end + 3));
    let link = LINKS.iter().find(|link| gap.starts_with(link));
    // In a list an age or a birth date may stand between.
    let Some(start) =
        people::particulars(page, name.end).or_else(|| link.map(|link| name.end + link.len()))
    else {
        return;
    };
    if !page.byte(start).is_ascii_digit() {
        return;
    }
    let mark = page
        .marks
        .binary_search_by_key(&start, |mark| mark.start as usize);
    let Some(mark) = mark.ok().map(|index| page.marks[index]) else {
        return;
    };
    if mark.is_number()
        && is_dialled(page, &mark.range())
        && !goes_on(page, mark.end as usize)
        && page.field_at(start).is_none()
        && nearest(page, start).is_none_or(|claim| !claim.is_firm())
    {
        out.weigh(mark.range(), Shape::Unbroken, Evidence::BesideName);
    }
}

pub(super) fn is_of_calling(meaning: Meaning) -> bool {
    OWN.contains(&meaning)
}

/// "206-555-0142 (cell)", "206-555-0142-Fax", "206-555-0142 is her phone".
pub(super) fn is_called_after(page: &Page<'_>, end: usize) -> bool {
    if claim_after(page, end, |meaning| meaning == Meaning::Phone).is_some() {
        return true;
    }
    let at = end
        + page
            .slice(end..end + 2)
            .iter()
            .take_while(|byte| matches!(byte, b'-' | b' ' | b'('))
            .count();
    let word = page.slice(at..crate::page::word_end(page.bytes(), at));
    let is_kind = [
        b"office".as_slice(),
        b"fax",
        b"home",
        b"cell",
        b"mobile",
        b"work",
        b"pager",
    ]
    .iter()
    .any(|kind| word.eq_ignore_ascii_case(kind));
    at > end && is_kind && page.byte(at - 1) != b' '
}

/// The labels of a telephone number.
pub(super) const OWN: &[Meaning] = &[Meaning::Phone, Meaning::PhoneMaybe];

pub(super) fn nearest(page: &Page<'_>, at: usize) -> Option<LabelMatch> {
    number_claim(page, at, OWN)
}
