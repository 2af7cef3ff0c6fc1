//! Finds repeated numbers: a number that a label names once has the same meaning at its other positions in the text.

use std::ops::Range;

use super::Collector;
use crate::budget::{Few, List, Memory};
use crate::candidate::Candidate;
use crate::context::number_claim;
use crate::dates::date_at;
use crate::digits::is_measured;
use crate::kinds::{Evidence, Meaning, PhiKind, Shape};
use crate::page::{Mark, Page};
use crate::settings::Settings;

/// Score from which a number is searched in the whole text.
const SURE: f32 = 0.7;
/// Minimum number of digits: shorter numbers are too often something else.
const DIGITS_MIN: usize = 6;
/// Maximum number of letters, and minimum number of digits, of a number that serves as a model for further numbers.
const PREFIX_MAX: usize = 3;
const ALIKE_DIGITS_MIN: usize = 5;
/// A number with letters or signs in it is known by fewer digits.
const SIGNED_DIGITS_MIN: usize = 4;
/// Minimum length of the common prefix of two numbers of one series.
const SERIES_MIN: usize = 3;
/// Maximum number of forms: more are those of a table.
const MODELS_MAX: usize = 8;

/// The numbers that a text has named, each list in order.
struct Known<'a> {
    /// Numbers by all their characters.
    values: List<(&'a [u8], PhiKind)>,
    /// Numbers by their first group: its distance from the start, and the length of the whole number.
    forms: List<(&'a [u8], (usize, usize))>,
    /// Numbers of one group, by its characters without leading zeros ("00447190" is 447190, too).
    groups: List<(&'a [u8], PhiKind)>,
    /// Kind whose numbers are known by their build as well: record numbers, if the text has any.
    alike: Option<PhiKind>,
    /// Lengths of those of digits alone.
    lengths: List<usize>,
    /// Builds of the remaining ones: the letters before the digits, and the number of digits.
    builds: List<(&'a [u8], usize)>,
    /// Some whole numbers, each with its first group: distance from the start, and length.
    models: Few<(&'a [u8], (usize, usize))>,
    /// Lengths of first groups, one bit each: this excludes nearly every other number.
    group_lengths: u64,
}

/// Finds the numbers found so far at their other positions, and numbers built like a record number, letters included.
pub(crate) fn find(page: &Page<'_>, settings: &Settings, candidates: &mut List<Candidate>) {
    let mut known = Known::new(page.memory());
    for one in page.through(candidates.iter()) {
        known.take(page, one);
    }
    if known.values.is_empty() && known.models.is_empty() {
        return;
    }
    known.settle();
    let taken = candidates.iter().map(|one| one.span.clone());
    let mut taken = page.memory().collect(taken);
    taken.sort_unstable_by_key(|span| span.start);
    let mut taken = taken.into_iter().peekable();
    for index in page.each_number() {
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
        if is_taken || is_of_field() {
            continue;
        }
        if let Some((kind, span)) = known.again_at(page, mark) {
            out(kind, settings, candidates).weigh(span, Shape::Value, Evidence::Again);
        } else if let Some(kind) = known
            .alike
            .filter(|_| known.is_alike(page, mark) || known.is_bare_id(page, mark))
        {
            out(kind, settings, candidates).weigh(mark.range(), Shape::Value, Evidence::Alike);
        } else if let Some((kind, span)) = known.alike.zip(known.of_series(page, index)) {
            out(kind, settings, candidates).weigh(span, Shape::Value, Evidence::Alike);
        }
    }
}

impl<'a> Known<'a> {
    fn new(memory: &Memory) -> Self {
        Known {
            values: memory.list(),
            forms: memory.list(),
            groups: memory.list(),
            alike: None,
            lengths: memory.list(),
            builds: memory.list(),
            models: Few::new(),
            group_lengths: 0,
        }
    }

    /// Takes a number with enough digits, of a kind whose row allows repeated numbers.
    fn take(&mut self, page: &Page<'a>, one: &Candidate) {
        let weights = one.kind.rule().weights;
        let weighs = |evidence| weights.iter().any(|row| row.1 == evidence);
        let is_looked_for = one.score >= SURE && weighs(Evidence::Again);
        if !is_looked_for {
            return;
        }
        let value = page.slice(one.span.clone());
        let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_signed = !value.iter().all(u8::is_ascii_digit);
        let is_model = is_signed && digits >= SIGNED_DIGITS_MIN && weighs(Evidence::Alike);
        if digits < DIGITS_MIN && !is_model {
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
        if weighs(Evidence::Alike) {
            self.alike = Some(one.kind);
            if self.models.len() < MODELS_MAX {
                self.models.push((value, (form.0, mark.len())));
            }
        }
        if digits < DIGITS_MIN {
            return;
        }
        self.group_lengths |= length_bit(mark.len());
        self.forms.push((page.slice(mark.range()), form));
        self.values.push((value, one.kind));
        if mark.range() == one.span {
            let group = without_noughts(value);
            self.group_lengths |= length_bit(group.len());
            self.groups.push((group, one.kind));
        }
        if weighs(Evidence::Alike) {
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

    /// Returns the repeated number whose first group is this mark.
    fn again_at(&self, page: &Page<'a>, mark: Mark) -> Option<(PhiKind, Range<usize>)> {
        let group = page.slice(mark.range());
        let lengths = length_bit(group.len()) | length_bit(without_noughts(group).len());
        if self.group_lengths & lengths == 0 {
            return None;
        }
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

    /// Whether a number that only "ID" labels is as long as the record numbers of the text ("under a different ID,
    /// 00397015").
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

    /// Returns a number of the same form as a record number of the text that has the same prefix, or the same digits
    /// in another order ("0048-2291 or 0048-2219?", "F-1182 and F-1190").
    fn of_series(&self, page: &Page<'_>, index: usize) -> Option<Range<usize>> {
        let mark = page.marks[index];
        let span = self.models.iter().find_map(|&(model, (lead, length))| {
            // A shorter group ends before the model does, by one letter or digit.
            if mark.len() < length {
                return None;
            }
            let start = (mark.start as usize).checked_sub(lead)?;
            let span = start..start + model.len();
            is_of_series(model, page.slice(span.clone())).then_some(span)
        })?;
        let is_other = || {
            is_called_other(page, span.start)
                || is_measured(page, span.end)
                || date_at(page, index).is_some()
                || page.field_at(span.start).is_some()
                || page.byte(span.end) == b':'
                || matches!(page.byte_before(span.start), b'$' | b'=' | b'+' | b'@')
        };
        (stands_free(page, &span) && !is_other()).then_some(span)
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

fn out<'a>(
    kind: PhiKind,
    settings: &'a Settings,
    candidates: &'a mut List<Candidate>,
) -> Collector<'a> {
    Collector {
        kind,
        settings,
        candidates,
    }
}

/// The bit for a length; all long ones share theirs.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
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

/// Whether a number is not a piece of a longer number.
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

/// Whether the words before a number say that it is the number of something else ("order 482913").
fn is_called_other(page: &Page<'_>, start: usize) -> bool {
    number_claim(page, start, &[]).is_some_and(|claim| {
        claim.is_firm() && matches!(claim.meaning, Meaning::OtherId(_) | Meaning::Thing)
    })
}

/// Whether two values are of one series: the same signs and letters at the same places, and the same beginning or the
/// same digits.
fn is_of_series(model: &[u8], value: &[u8]) -> bool {
    let is_same_form = model.len() == value.len()
        && model
            .iter()
            .zip(value)
            .all(|(one, two)| one == two || one.is_ascii_digit() && two.is_ascii_digit());
    let is_same_start = || {
        let same = model.iter().zip(value).take_while(|(one, two)| one == two);
        same.count() >= SERIES_MIN
    };
    let has_same_digits = || {
        let sorted = |text: &[u8]| {
            let mut text = text.to_vec();
            text.sort_unstable();
            text
        };
        sorted(model) == sorted(value)
    };
    is_same_form && (is_same_start() || has_same_digits())
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
