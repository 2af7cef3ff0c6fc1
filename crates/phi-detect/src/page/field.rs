//! The fields of a page: values in a named place.

use std::ops::Range;

use super::{CLASS, LETTER, Page, is_word_byte};
use crate::budget::List;
use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};

/// A value in a named place: a JSON member, a CSV cell, an HL7 field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) span: Range<usize>,
    pub(crate) meaning: Option<Meaning>,
    /// Whether its position is decisive, so that the name model is not asked.
    pub(crate) is_settled: bool,
}

impl Field {
    /// Makes a value whose key, column or tag may give it meaning.
    pub(crate) fn new(span: Range<usize>, meaning: Option<Meaning>) -> Self {
        Field {
            span,
            meaning,
            is_settled: false,
        }
    }

    /// Makes a value at a place that a standard fixes.
    pub(crate) fn settled(span: Range<usize>, meaning: Option<Meaning>) -> Self {
        Field {
            span,
            meaning,
            is_settled: true,
        }
    }
}

impl<'a> Page<'a> {
    /// Iterates over the fields of one meaning, with their values. The unmasked part of a value that was masked in part
    /// is a separate field.
    pub(crate) fn fields_of(
        &self,
        meaning: Meaning,
    ) -> impl Iterator<Item = (Range<usize>, &'a [u8])> {
        self.fields
            .iter()
            .filter(move |field| field.meaning == Some(meaning))
            .flat_map(|field| self.unmasked(&field.span))
            .map(|span| (span.clone(), self.slice(span)))
    }

    /// Returns the parts of a span outside placeholders ("[NAME] Okonkwo" leaves a surname, "[NAME] was seen" nothing).
    fn unmasked(&self, span: &Range<usize>) -> List<Range<usize>> {
        let first = self
            .marks
            .partition_point(|mark| (mark.end as usize) <= span.start);
        let placeholders = self.marks[first..]
            .iter()
            .take_while(|mark| (mark.start as usize) < span.end)
            .filter(|mark| mark.sense.has(Sense::PLACEHOLDER));
        let mut rests = self.memory().list();
        let mut from = span.start;
        for mark in placeholders {
            rests.extend(self.rest(from..mark.start as usize));
            from = mark.end as usize;
        }
        if from == span.start {
            rests.clear();
            rests.push(span.clone());
            return rests;
        }
        rests.extend(self.rest(from..span.end));
        rests
    }

    /// Returns the text beside a placeholder, without the signs between; `None` if it contains a word of everyday
    /// speech.
    fn rest(&self, span: Range<usize>) -> Option<Range<usize>> {
        let text = self.slice(span.clone());
        let start = text.iter().position(|&byte| is_word_byte(byte))?;
        let end = text.iter().rposition(|&byte| is_word_byte(byte))? + 1;
        let mut words = text.split(|&byte| CLASS[usize::from(byte)] & LETTER == 0);
        let is_said = words.any(|word| LEXICON.sense(word).has(Sense::STOP | Sense::FILLER));
        (!is_said).then_some(span.start + start..span.start + end)
    }

    /// Whether any label or field of the page has such a meaning.
    pub(crate) fn has_meaning(&self, is_meant: impl Fn(Meaning) -> bool) -> bool {
        let labels = self.labels.iter().map(|label| label.meaning);
        let fields = self.fields.iter().filter_map(|field| field.meaning);
        labels.chain(fields).any(is_meant)
    }

    /// Whether a field starts or ends exactly here, so that the texts on both sides do not belong together.
    pub(crate) fn is_field_edge(&self, at: usize) -> bool {
        let next = self.fields.partition_point(|field| field.span.start < at);
        let starts = self
            .fields
            .get(next)
            .is_some_and(|field| field.span.start == at);
        let ends = next > 0 && self.fields[next - 1].span.end == at;
        starts || ends
    }

    /// The field that holds the position.
    pub(crate) fn field_at(&self, at: usize) -> Option<&Field> {
        let starts_before = |field: &Field| field.span.start <= at;
        // Rules go through the text, and mostly ask about the same field again or about the next.
        let last = self.last_field.get();
        let near = self.fields.get(last..).unwrap_or_default();
        let next = match near {
            [first, second, ..] if starts_before(first) && !starts_before(second) => last + 1,
            [_, second, third, ..] if starts_before(second) && !starts_before(third) => last + 2,
            _ => self.fields.partition_point(starts_before),
        };
        let index = next.checked_sub(1)?;
        self.last_field.set(index);
        let field = &self.fields[index];
        (at < field.span.end).then_some(field)
    }
}
