//! Finds a number again: once a text has said what a number is, the same number elsewhere in it is that too.

use std::ops::Range;

use super::Out;
use crate::candidate::Candidate;
use crate::context::number_claim;
use crate::kinds::{Evidence, Meaning, PhiKind, Shape};
use crate::page::{Mark, Page};
use crate::settings::Settings;

/// From this score on a number is looked for in the whole text.
const SURE: f32 = 0.7;
/// Shorter numbers are too often something else.
const DIGITS_MIN: usize = 6;
/// Letters and digits of a number that others are built like.
const PREFIX_MAX: usize = 3;
const ALIKE_DIGITS_MIN: usize = 5;

/// The numbers that a text has named, each list in order.
#[derive(Default)]
struct Known<'a> {
    /// By all their characters.
    values: Vec<(&'a [u8], PhiKind)>,
    /// By their first group: how far behind the start it begins, and how long the whole is.
    forms: Vec<(&'a [u8], (usize, usize))>,
    /// Those of one group, by its characters without noughts before them: "00447190" is 447190, too.
    groups: Vec<(&'a [u8], PhiKind)>,
    /// The kind whose numbers are known by their build as well: record numbers, if there are any.
    alike: Option<PhiKind>,
    /// How long those of digits alone are.
    lengths: Vec<usize>,
    /// How the others are built: the letters before the digits, and how many digits these are.
    builds: Vec<(&'a [u8], usize)>,
}

/// The numbers found so far, wherever else they stand; and numbers built like a record number, letters included.
pub(crate) fn find(page: &Page<'_>, settings: &Settings, candidates: &mut Vec<Candidate>) {
    let mut known = Known::default();
    for one in candidates.iter() {
        known.take(page, one);
    }
    if known.values.is_empty() {
        return;
    }
    known.settle();
    let mut taken: Vec<Range<usize>> = candidates.iter().map(|one| one.span.clone()).collect();
    taken.sort_unstable_by_key(|span| span.start);
    let mut taken = taken.into_iter().peekable();
    for index in page.each_mark() {
        let mark = page.marks[index];
        while taken
            .next_if(|span| span.end <= mark.start as usize)
            .is_some()
        {}
        let is_taken = taken
            .peek()
            .is_some_and(|span| span.start <= mark.start as usize);
        // The whole value of a field is what its key says, or something else.
        let is_of_field = || {
            let field = page.field_at(mark.start as usize);
            field.is_some_and(|field| field.meaning.is_some() || field.span == mark.range())
        };
        if is_taken || !(mark.is_number() || mark.is_code()) || is_of_field() {
            continue;
        }
        if let Some((kind, span)) = known.again_at(page, mark) {
            out(kind, settings, candidates).weigh(span, Shape::Value, Evidence::Again);
        } else if let Some(kind) = known
            .alike
            .filter(|_| known.is_alike(page, mark) || known.is_bare_id(page, mark))
        {
            out(kind, settings, candidates).weigh(mark.range(), Shape::Value, Evidence::Alike);
        }
    }
}

impl<'a> Known<'a> {
    /// Takes a number with enough digits, of a kind whose row says that it is looked for again.
    fn take(&mut self, page: &Page<'a>, one: &Candidate) {
        let weights = one.kind.rule().weights;
        let weighs = |evidence| weights.iter().any(|row| row.1 == evidence);
        let is_looked_for = one.score >= SURE && weighs(Evidence::Again);
        let value = page.slice(one.span.clone());
        let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
        if !is_looked_for || digits < DIGITS_MIN {
            return;
        }
        let next = page
            .marks
            .partition_point(|mark| (mark.start as usize) < one.span.start);
        let mut marks = page.marks[next..].iter().take(2);
        let is_group = |mark: &&Mark| {
            (mark.is_number() || mark.is_code()) && (mark.end as usize) <= one.span.end
        };
        let Some(mark) = marks.find(is_group) else {
            return;
        };
        let form = (mark.start as usize - one.span.start, value.len());
        self.forms.push((page.slice(mark.range()), form));
        self.values.push((value, one.kind));
        if mark.range() == one.span {
            self.groups.push((without_noughts(value), one.kind));
        }
        if weighs(Evidence::Alike) {
            self.alike = Some(one.kind);
            if mark.range() == one.span && mark.is_number() {
                self.lengths.push(mark.len());
            }
            self.builds.extend(build(value));
        }
    }

    /// Puts the lists in order, so that they can be searched.
    fn settle(&mut self) {
        self.values.sort_unstable();
        self.values.dedup();
        self.forms.sort_unstable();
        self.forms.dedup();
        self.groups.sort_unstable();
        self.groups.dedup();
        self.builds.sort_unstable();
        self.builds.dedup();
        self.lengths.sort_unstable();
        self.lengths.dedup();
    }

    /// The number that stands again where this mark is its first group.
    fn again_at(&self, page: &Page<'a>, mark: Mark) -> Option<(PhiKind, Range<usize>)> {
        let group = page.slice(mark.range());
        let first = self.forms.partition_point(|form| form.0 < group);
        let forms = self.forms[first..]
            .iter()
            .take_while(|form| form.0 == group);
        let mut whole = forms.filter_map(|&(_, (lead, length))| {
            let start = (mark.start as usize).checked_sub(lead)?;
            let kind = kind_of(&self.values, page.slice(start..start + length))?;
            Some((kind, start..start + length))
        });
        let alone = || {
            let kind = kind_of(&self.groups, without_noughts(group))?;
            Some((kind, mark.range()))
        };
        whole
            .next()
            .or_else(alone)
            .filter(|(_, span)| stands_free(page, span) && !is_called_other(page, span.start))
    }

    /// "under a different ID, 00397015": a number that only "ID" names, as long as the record numbers of the text.
    fn is_bare_id(&self, page: &Page<'_>, mark: Mark) -> bool {
        mark.is_number()
            && self.lengths.contains(&mark.len())
            && stands_free(page, &mark.range())
            && number_claim(page, mark.start as usize, &[]).is_some_and(|claim| {
                let before = page.slice(claim.from.saturating_sub(3)..claim.from);
                matches!(claim.meaning, Meaning::OtherId(None))
                    && before.eq_ignore_ascii_case(b" id")
            })
    }

    /// Whether a code is built like a record number of the text and nothing calls it otherwise.
    fn is_alike(&self, page: &Page<'_>, mark: Mark) -> bool {
        mark.is_code()
            && build(page.slice(mark.range()))
                .is_some_and(|build| self.builds.binary_search(&build).is_ok())
            && stands_free(page, &mark.range())
            && !is_called_other(page, mark.start as usize)
    }
}

fn out<'a>(kind: PhiKind, settings: &'a Settings, candidates: &'a mut Vec<Candidate>) -> Out<'a> {
    Out {
        kind,
        settings,
        candidates,
    }
}

/// The kind of the number with these characters.
fn kind_of(list: &[(&[u8], PhiKind)], value: &[u8]) -> Option<PhiKind> {
    let index = list.partition_point(|one| one.0 < value);
    list.get(index)
        .filter(|one| one.0 == value)
        .map(|one| one.1)
}

fn without_noughts(group: &[u8]) -> &[u8] {
    let noughts = group.iter().take_while(|&&byte| byte == b'0').count();
    if group.len() - noughts >= DIGITS_MIN {
        &group[noughts..]
    } else {
        group
    }
}

/// Not a piece of a longer number.
fn stands_free(page: &Page<'_>, span: &Range<usize>) -> bool {
    let is_tied = |sign: u8, beyond: u8| {
        matches!(sign, b'-' | b'.' | b'/' | b'_') && beyond.is_ascii_alphanumeric()
    };
    let before = page.byte_before(span.start);
    let after = page.byte(span.end);
    !before.is_ascii_alphanumeric()
        && !after.is_ascii_alphanumeric()
        && !is_tied(before, page.byte_before(span.start.saturating_sub(1)))
        && !is_tied(after, page.byte(span.end + 1))
}

/// "order 482913": whether the words say that it is the number of something else.
fn is_called_other(page: &Page<'_>, start: usize) -> bool {
    number_claim(page, start, &[]).is_some_and(|claim| {
        claim.is_firm() && matches!(claim.meaning, Meaning::OtherId(_) | Meaning::Thing)
    })
}

/// The letters before the digits of a number and how many digits these are: "B204471".
fn build(value: &[u8]) -> Option<(&[u8], usize)> {
    let letters = value
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let digits = value.len() - letters;
    let fits = (1..=PREFIX_MAX).contains(&letters)
        && digits >= ALIKE_DIGITS_MIN
        && value[letters..].iter().all(u8::is_ascii_digit);
    fits.then_some((&value[..letters], digits))
}
