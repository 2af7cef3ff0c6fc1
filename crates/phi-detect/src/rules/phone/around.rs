//! Evidence around a number that it is a telephone number.

use std::ops::Range;

use super::shape::{goes_on, is_grouped, is_local, is_tied_before};
use crate::context::{LabelMatch, Strength, claim_after, number_claim};
use crate::digits::Run;
use crate::kinds::{Evidence, Meaning, Shape};
use crate::lexicon::Sense;
use crate::page::{Label, Page};
use crate::people;
use crate::rules::Collector;
use crate::word_list::WordList;

/// Whether a number is that of a pager: pagers have short numbers ("pager 31415").
pub(super) fn is_of_pager(page: &Page<'_>, start: usize) -> bool {
    let claim = nearest(page, start);
    let claim = claim.filter(|claim| claim.is(Meaning::Phone) && claim.tie >= Strength::Tight);
    claim
        .and_then(|claim| page.label_ending_at(claim.from))
        .is_some_and(|label| is_pager(page, label))
}

/// Whether a label is that of a pager.
pub(super) fn is_pager(page: &Page<'_>, label: &Label) -> bool {
    static PAGERS: WordList = WordList::new("pager pgr beeper");
    let start = label.start as usize;
    let is_alike = matches!(page.byte(start) | 0x20, b'p' | b'b');
    is_alike
        && page.word_end_at(start).is_some_and(|end| {
            let word = page.slice(start..end);
            PAGERS.has(word)
        })
}

/// Whether ten digits in a row are a number of the plan: area and exchange start with 2 to 9.
pub(super) fn is_dialled(page: &Page<'_>, span: &Range<usize>) -> bool {
    let digits = page.slice(span.clone());
    digits.len() == 10 && digits[0] >= b'2' && digits[3] >= b'2'
}

/// Whether a relative precedes a number ("daughter's # is 2065550142", "wife: 2065550142").
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

/// Finds ten digits directly after a name (`Jane Roe 2065550142`).
pub(super) fn beside(page: &Page<'_>, name: &Range<usize>, out: &mut Collector<'_>) {
    const LINKS: &[&[u8]] = &[
        b" - ", b", on ", b" on ", b", at ", b" at ", b", tel ", b", ", b": ", b" @ ", b" (", b" ",
        b"\t",
    ];
    let gap = page.slice(name.end..page.text.len().min(name.end + 6));
    let link = LINKS.iter().find(|link| gap.starts_with(link));
    // In a list an age or a birth date may be between.
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
    let Ok(index) = mark else {
        return;
    };
    let mark = page.marks[index];
    let is_free =
        page.field_at(start).is_none() && nearest(page, start).is_none_or(|claim| !claim.is_firm());
    if mark.is_number()
        && is_dialled(page, &mark.range())
        && !goes_on(page, mark.end as usize)
        && is_free
    {
        out.weigh(mark.range(), Shape::Unbroken, Evidence::BesideName);
    } else if is_free
        && is_of_kin(page, name.start)
        && let Some(span) = in_groups(page, index)
    {
        out.weigh(span, Shape::Abroad, Evidence::Kin);
    } else if is_free && let Some(span) = of_nation(page, index) {
        out.weigh(span, Shape::Abroad, Evidence::BesideName);
    }
}

/// Returns a number in groups as dialled within a country, with the zero before it ("Mrs Lamb, on 01535 555 0171").
fn of_nation(page: &Page<'_>, index: usize) -> Option<Range<usize>> {
    let run = Run::read_all(page, index, 5, |between| matches!(between, b" " | b"-"));
    let is_whole = !is_tied_before(page, run.span.start)
        && !goes_on(page, run.span.end)
        && !page.byte(run.span.end).is_ascii_alphanumeric();
    let start = run.span.start;
    let has_nought = page.byte(start) == b'0' && page.byte(start + 1) != b'0';
    let fits = has_nought && is_grouped(page, &run) || is_local(page, &run);
    (fits && is_whole).then_some(run.span)
}

/// Whether the word for a relative precedes a name ("his son Carlos, 155 555 0142").
fn is_of_kin(page: &Page<'_>, name: usize) -> bool {
    let before = page.slice(name.saturating_sub(2)..name);
    let gap = before
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b',' | b':' | b'('))
        .count();
    gap > 0
        && page
            .word_before(name - gap)
            .is_some_and(|(sense, _)| sense.has(Sense::KIN))
}

/// Groups of two to five digits, nine to eleven in all, as telephones have them everywhere; or seven of the town.
fn in_groups(page: &Page<'_>, index: usize) -> Option<Range<usize>> {
    let run = Run::read_all(page, index, 5, |between| matches!(between, b" " | b"-"));
    let all = run.lengths(page);
    let lengths = &all[..run.marks.min(all.len())];
    let is_grouped = lengths.len() >= 2 && lengths.iter().all(|length| (2..=5).contains(length));
    let fits = match lengths {
        [3, 4] => page.byte(run.span.start + 3) == b'-',
        // The zero of a trunk prefix, or an Indian mobile number ("0871234567", "9845011276").
        [10 | 11] => matches!(page.byte(run.span.start), b'0' | b'6'..=b'9'),
        _ => is_grouped && (9..=11).contains(&run.digit_count),
    };
    (fits && !goes_on(page, run.span.end)).then_some(run.span)
}

pub(super) fn is_of_calling(meaning: Meaning) -> bool {
    OWN.contains(&meaning)
}

/// Whether the words behind a number call it a telephone number ("206-555-0142 (cell)", "206-555-0142-Fax",
/// "206-555-0142 is her phone").
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
