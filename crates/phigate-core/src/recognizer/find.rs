//! Finding the values of recognizers in a text.

use std::ops::Range;

use phi_detect::{Extra, FindsExtra, PhiKind};
use regex::RegexSet;

use super::{COMPILED_BYTES_MAX, RECOGNIZERS_MAX, RUNNING_BYTES_MAX, Recognizer};

/// Rule of every such finding.
pub const RULE: &str = "recognizer";

/// Score of a value with a label before it or without labels to look for, and of a value without its label.
const SURE: f32 = 0.99;
const UNLABELLED: f32 = 0.9;

/// Bytes before a value in which its label may be.
const LABEL_BYTES: usize = 100;

/// Bytes of the longest placeholder or token.
const PLACEHOLDER_BYTES: usize = 80;

/// The recognizers of an account.
#[derive(Debug, Clone)]
pub struct Recognizers {
    all: Vec<Recognizer>,
    kinds: Vec<PhiKind>,
    /// All patterns together, which show in one pass those that match. `None` if they are too large together.
    any: Option<RegexSet>,
}

impl Recognizers {
    /// These recognizers, ready to be applied together.
    pub fn new(all: Vec<Recognizer>) -> Self {
        let patterns = all.iter().map(|one| one.pattern.as_str());
        let set = regex::RegexSetBuilder::new(patterns)
            .size_limit(COMPILED_BYTES_MAX * RECOGNIZERS_MAX)
            .dfa_size_limit(RUNNING_BYTES_MAX * RECOGNIZERS_MAX)
            .build();
        let any = set.ok();
        let mut kinds: Vec<PhiKind> = all.iter().map(|one| one.definition.kind).collect();
        kinds.sort_unstable();
        Self { all, kinds, any }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl FindsExtra for Recognizers {
    fn kinds(&self) -> &[PhiKind] {
        &self.kinds
    }

    fn find(
        &self,
        field: Option<&str>,
        text: &str,
        has_time: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Extra),
    ) {
        let matching = self.any.as_ref().map(|any| any.matches(text));
        let may_match = |at: &usize| matching.as_ref().is_none_or(|any| any.matched(*at));
        for at in (0..self.all.len()).filter(may_match) {
            let recognizer = &self.all[at];
            if !has_time() {
                return;
            }
            recognizer.find(field, text, found);
        }
    }
}

impl Recognizer {
    /// Gives every value in a text to `found`.
    pub(super) fn find(&self, field: Option<&str>, text: &str, found: &mut dyn FnMut(Extra)) {
        for matched in self.pattern.find_iter(text) {
            let span = matched.range();
            if span.is_empty()
                || !(self.definition.check.passes)(matched.as_str())
                || is_in_placeholder(text, &span)
            {
                continue;
            }
            let is_sure = self.label.is_none() || self.has_label(field, text, span.start);
            if is_sure || !self.definition.require_label {
                found(Extra {
                    kind: self.definition.kind,
                    span,
                    score: if is_sure { SURE } else { UNLABELLED },
                    rule: RULE,
                });
            }
        }
    }

    /// Whether a label introduces the value at `start`.
    fn has_label(&self, field: Option<&str>, text: &str, start: usize) -> bool {
        let Some(label) = &self.label else {
            return false;
        };
        let from = text.floor_char_boundary(start.saturating_sub(LABEL_BYTES));
        label.is_match(&text[from..start]) || field.is_some_and(|field| label.is_match(field))
    }
}

/// Whether a span is inside a placeholder or token, such as `[X_STUDY]` or `[NAME_7K3QD]`.
fn is_in_placeholder(text: &str, span: &Range<usize>) -> bool {
    let from = text.floor_char_boundary(span.start.saturating_sub(PLACEHOLDER_BYTES));
    let Some(open) = text[from..span.start].rfind('[') else {
        return false;
    };
    let rest = &text[from + open + 1..];
    let Some(close) = rest.find(']').filter(|close| *close <= PLACEHOLDER_BYTES) else {
        return false;
    };
    let word = &rest[..close];
    let is_plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    from + open + 1 + close >= span.end && word.bytes().all(is_plain) && is_of_kind(word)
}

/// Whether a word is the code of a kind in capitals, perhaps with the code of a token.
fn is_of_kind(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let names_it = |code: &str| {
        let rest = word.strip_prefix(code);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    word.starts_with(PhiKind::OWN_PREFIX) || PhiKind::all().any(|kind| names_it(kind.code()))
}
