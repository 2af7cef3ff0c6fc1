//! Features of a candidate: named whole numbers, from which the scorer decides.

use std::collections::HashMap;
use std::ops::Range;

use super::Standing;
use super::columns::Columns;
use super::spans::Spans;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::names;
use crate::page::Page;
use crate::people;
use crate::reader::Opinion;

/// Names of the features.
pub(crate) const NAMES: [&str; 44] = [
    "standing",
    "score",
    "kind",
    "rule",
    "reader_most",
    "reader_mean",
    "reader_least",
    "reader_first",
    "reader_agrees",
    "reader_kind",
    "reader_before",
    "reader_after",
    "reader_in_text",
    "sure_pieces",
    "kept_in_text",
    "kept_here",
    "tagger",
    "length",
    "letters",
    "digits",
    "capitals",
    "is_small",
    "is_shouted",
    "words",
    "text_length",
    "separators",
    "signs",
    "has_field",
    "is_settled",
    "has_label",
    "is_announced",
    "follows_person",
    "is_of_thing",
    "is_listed",
    "opens_sentence",
    "is_ordinary",
    "is_only_a_name",
    "again",
    "touches_kept",
    "kept_in_line",
    "reader_own_kind",
    "reader_other",
    "word_again",
    "in_column",
];

/// One row of features.
pub(crate) type Row = [i32; NAMES.len()];

/// Bytes on either side in which the reader's opinion is looked up.
const NEAR: usize = 60;
/// Share from which the reader is sure.
const SURE: f32 = 0.9;
/// Unit of shares and scores.
const THOUSAND: f32 = 1000.0;

/// The evidence of a whole text; without runs and opinions before it is read.
pub(super) struct Evidence<'a> {
    page: &'a Page<'a>,
    opinions: &'a [Opinion],
    kept: Spans<PhiKind>,
    tagged: Spans<f32>,
    /// Texts of kept candidates and sure runs, and how often each occurs.
    names: HashMap<&'a [u8], i32>,
    /// Words of these, and how often each occurs.
    words: HashMap<&'a str, i32>,
    columns: Columns,
    reader_in_text: i32,
    sure_pieces: i32,
    signs: i32,
}

impl<'a> Evidence<'a> {
    pub(super) fn new(
        page: &'a Page<'a>,
        proposed: &[(Candidate, Standing)],
        runs: &[Candidate],
        opinions: &'a [Opinion],
    ) -> Self {
        let mut names = HashMap::new();
        let mut kept = Vec::new();
        let mut tagged = Vec::new();
        for (one, standing) in proposed {
            if *standing == Standing::Kept {
                kept.push((one.span.clone(), one.kind));
            }
            if one.rule.ends_with(".model") {
                tagged.push((one.span.clone(), one.score));
            }
        }
        let sure_runs = runs.iter().filter(|one| one.score >= SURE);
        let kept_ones = proposed
            .iter()
            .filter(|(_, standing)| *standing == Standing::Kept);
        let mut spans: Vec<_> = sure_runs
            .chain(kept_ones.map(|(one, _)| one))
            .map(|one| &one.span)
            .collect();
        spans.sort_unstable_by_key(|span| (span.start, span.end));
        spans.dedup();
        let mut words = HashMap::new();
        for span in spans {
            *names.entry(page.slice(span.clone())).or_insert(0) += 1;
            for word in words_of(page, span) {
                *words.entry(word).or_insert(0) += 1;
            }
        }
        let sure = runs
            .iter()
            .filter(|one| one.score >= SURE)
            .map(|one| (one.span.clone(), one.kind));
        let columns = Columns::new(page, kept.iter().cloned().chain(sure));
        let most = opinions
            .iter()
            .fold(0.0, |most: f32, one| most.max(one.share));
        let sure = opinions.iter().filter(|one| one.share >= SURE).count();
        let is_sign =
            |byte: &&u8| byte.is_ascii_punctuation() && !matches!(byte, b'.' | b',' | b'-' | b'\'');
        let signs = page.bytes().iter().filter(is_sign).count() * 1000 / page.text.len().max(1);
        Evidence {
            page,
            opinions,
            kept: Spans::new(kept),
            tagged: Spans::new(tagged),
            names,
            words,
            columns,
            reader_in_text: thousandths(most),
            sure_pieces: sure.min(50) as i32,
            signs: signs as i32,
        }
    }

    /// The features of a candidate, in the order of their names.
    pub(super) fn row(&self, one: &Candidate, standing: Standing) -> Row {
        let text = self.page.text.get(one.span.clone()).unwrap_or_default();
        let reading = self.reader_of(one);
        let line = self.line_of(&one.span);
        let source = [
            standing as i32,
            thousandths(one.score),
            kind_number(one.kind),
            rule_number(one.rule),
        ];
        let again = [
            self.names.get(text.as_bytes()).copied().unwrap_or(0).min(9),
            i32::from(self.touches_kept(one)),
            self.kept_in(&line).min(20),
            reading.own_kind,
            reading.other,
            self.word_again(one),
            self.columns.alike(one),
        ];
        let mut all = source
            .into_iter()
            .chain(self.of_reader(one, &reading))
            .chain(self.of_form(text, &line))
            .chain(self.of_place(one, text))
            .chain(again);
        std::array::from_fn(|_| all.next().unwrap_or(0))
    }

    /// Returns the features of a candidate from the reader, the kept candidates and the tagger.
    fn of_reader(&self, one: &Candidate, reading: &Reading) -> [i32; 13] {
        let span = &one.span;
        [
            reading.most,
            reading.mean,
            reading.least,
            reading.first,
            reading.agrees,
            reading.kind,
            self.most_within(span.start.saturating_sub(NEAR)..span.start),
            self.most_within(span.end..span.end + NEAR),
            self.reader_in_text,
            self.sure_pieces,
            self.kept.len().min(50) as i32,
            self.kept_here(one),
            self.tagged_here(span),
        ]
    }

    /// Letters, figures and signs of a candidate, its line and its text.
    fn of_form(&self, text: &str, line: &Range<usize>) -> [i32; 10] {
        let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
        let digits = text.chars().filter(char::is_ascii_digit).count();
        let capitals = text.chars().filter(|letter| letter.is_uppercase()).count();
        let is_separator = |byte: &&u8| matches!(byte, b'|' | b'\t' | b',' | b'^' | b'*');
        let line = self.page.slice(line.clone());
        let separators = line.iter().filter(is_separator).count();
        [
            text.len().min(200) as i32,
            letters as i32,
            digits as i32,
            (capitals * 100 / letters.max(1)) as i32,
            i32::from(letters > 0 && capitals == 0),
            i32::from(letters > 1 && capitals == letters),
            words(text).count().min(20) as i32,
            self.page.text.len().min(20_000) as i32,
            separators.min(20) as i32,
            self.signs,
        ]
    }

    /// Returns the features from field, label, neighbours and words of a candidate.
    fn of_place(&self, one: &Candidate, text: &str) -> [i32; 10] {
        let (page, span) = (self.page, &one.span);
        let field = page.field_at(span.start);
        let is_name = one.kind == PhiKind::NAME;
        let label_end = span.start.saturating_sub(1);
        let has_label = page.label_ending_at(label_end).is_some()
            || page.label_ending_at(label_end.saturating_sub(1)).is_some();
        [
            i32::from(field.is_some_and(|field| field.meaning.is_some())),
            i32::from(field.is_some_and(|field| field.is_settled)),
            i32::from(has_label),
            i32::from(people::is_announced(page, span)),
            i32::from(people::follows_person(page, span)),
            i32::from(is_name && people::is_of_thing(page, span)),
            i32::from(is_name && people::is_listed(page, span)),
            i32::from(is_name && people::opens_sentence(page, span)),
            i32::from(is_name && words(text).all(names::is_ordinary)),
            i32::from(is_name && words(text).any(names::is_only_a_name)),
        ]
    }

    fn reader_of(&self, one: &Candidate) -> Reading {
        let first = self
            .opinions
            .partition_point(|piece| piece.end as usize <= one.span.start);
        let pieces = self.opinions[first..].iter();
        let pieces = pieces.take_while(|piece| (piece.start as usize) < one.span.end);
        let is_word = |piece: &&Opinion| {
            let text = self.page.slice(piece.start as usize..piece.end as usize);
            text.iter()
                .any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
        };
        let mut reading = Reading {
            least: 1000,
            ..Reading::default()
        };
        let (mut count, mut sum, mut agreeing) = (0, 0.0, 0);
        let (mut own, mut other) = (0.0, 0.0);
        let mut best = (0.0, 0);
        for piece in pieces.filter(is_word) {
            let share = thousandths(piece.share);
            if count == 0 {
                reading.first = share;
            }
            count += 1;
            sum += piece.share;
            if piece.kind == one.kind {
                agreeing += 1;
                own += piece.kind_share;
            }
            other += piece.other_share;
            reading.most = reading.most.max(share);
            reading.least = reading.least.min(share);
            if piece.share > best.0 {
                best = (piece.share, kind_number(piece.kind));
            }
        }
        if count == 0 {
            return Reading::default();
        }
        reading.mean = thousandths(sum / count as f32);
        reading.agrees = agreeing * 100 / count;
        reading.kind = best.1;
        reading.own_kind = thousandths(own / count as f32);
        reading.other = thousandths(other / count as f32);
        reading
    }

    fn most_within(&self, range: Range<usize>) -> i32 {
        let first = self
            .opinions
            .partition_point(|piece| piece.end as usize <= range.start);
        let pieces = self.opinions[first..].iter();
        let pieces = pieces.take_while(|piece| (piece.start as usize) < range.end);
        thousandths(pieces.fold(0.0, |most, piece| most.max(piece.share)))
    }

    /// Returns the share of a candidate that other kept ones cover, in hundredths.
    fn kept_here(&self, one: &Candidate) -> i32 {
        let covered: usize = self
            .kept
            .overlapping(&one.span)
            .filter(|(span, kind)| !(span == &one.span && *kind == one.kind))
            .map(|(span, _)| {
                span.end
                    .min(one.span.end)
                    .saturating_sub(span.start.max(one.span.start))
            })
            .sum();
        (covered.min(one.span.len()) * 100 / one.span.len().max(1)) as i32
    }

    /// Returns the frequency of the candidate's commonest word in kept candidates and sure runs.
    fn word_again(&self, one: &Candidate) -> i32 {
        let counts = words_of(self.page, &one.span).filter_map(|word| self.words.get(word));
        counts.max().copied().unwrap_or(0).min(9)
    }

    /// Whether a kept candidate of the same kind is next to a candidate, or behind one byte.
    fn touches_kept(&self, one: &Candidate) -> bool {
        let near = one.span.start.saturating_sub(2)..one.span.end + 2;
        let mut here = self.kept.overlapping(&near);
        here.any(|(span, kind)| {
            *kind == one.kind && (span.end <= one.span.start || span.start >= one.span.end)
        })
    }

    fn kept_in(&self, line: &Range<usize>) -> i32 {
        self.kept.overlapping(line).count() as i32
    }

    fn tagged_here(&self, span: &Range<usize>) -> i32 {
        let found = self.tagged.overlapping(span);
        thousandths(found.fold(0.0, |most, (_, score)| most.max(*score)))
    }

    fn line_of(&self, span: &Range<usize>) -> Range<usize> {
        const REACH: usize = 400;
        let bytes = self.page.bytes();
        let from = span.start.saturating_sub(REACH);
        let start =
            memchr::memrchr(b'\n', &bytes[from..span.start]).map_or(from, |at| from + at + 1);
        let to = bytes.len().min(span.end + REACH);
        let end = memchr::memchr(b'\n', &bytes[span.end..to]).map_or(to, |at| span.end + at);
        start..end
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Words of at least two letters or figures in a span.
fn words_of<'a>(page: &Page<'a>, span: &Range<usize>) -> impl Iterator<Item = &'a str> {
    let text = page.text.get(span.clone()).unwrap_or_default();
    words(text).filter(|word| word.len() > 1)
}

/// The reader's opinion about a candidate, in thousandths and hundredths.
#[derive(Default)]
struct Reading {
    most: i32,
    mean: i32,
    least: i32,
    first: i32,
    agrees: i32,
    kind: i32,
    own_kind: i32,
    other: i32,
}

fn thousandths(share: f32) -> i32 {
    (share * THOUSAND).round() as i32
}

fn kind_number(kind: PhiKind) -> i32 {
    PhiKind::all()
        .position(|one| one == kind)
        .map_or(-1, |number| number as i32)
}

/// A number for the part of a rule's name behind its kind; rules that mean the same under all kinds share it.
fn rule_number(rule: &str) -> i32 {
    const PARTS: [&str; 24] = [
        "model",
        "reader",
        "suspected",
        "field",
        "labelled",
        "label",
        "list",
        "near",
        "again",
        "form",
        "given",
        "last_first",
        "role",
        "title",
        "kin",
        "beside",
        "among",
        "spoken",
        "spelled",
        "encoded",
        "mail",
        "signature",
        "speaker",
        "value",
    ];
    let part = rule.rsplit('.').next().unwrap_or(rule);
    PARTS
        .iter()
        .position(|one| *one == part)
        .map_or(PARTS.len() as i32, |number| number as i32)
}
