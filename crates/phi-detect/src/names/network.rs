//! The network over a window of tokens: table sums, and two stacks of convolutions above them that give tag scores.
//!
//! It asks little of most tokens. A gate looks at every token after the first
//! layer and lets through those that might be part of a finding, and a screen
//! looks at these and two on either side and leaves a fifth in prose. The narrow
//! stack has a gate after each layer, scores the few that pass them all, and
//! is sure about nearly all of these. The wide stack is asked about the rest
//! alone, and adds its scores to the narrow one's.

use std::ops::Range;

use super::WINDOW;
use super::decode::{Decoder, is_too_short, reported_lead};
use super::set::Set;
use super::simd::{self, AROUND, Level, Lists, Row, TAGS_MAX, WIDTH};
use super::stack::{First, MARGIN, STRIDE, Stack};
use super::token::{Tokens, outside};
use super::weights::{WIDE_PARTS, Weights};

/// Tokens on either side that can influence what is said of a token: 1 by the first layer, 15 by the convolutions
/// of a stack, and those beside it.
pub(super) const REACH: usize = 16 + BESIDE;

/// Distance within which tokens decide whether a token is scored: 1 because the screen leaves a token if it leaves the
/// one beside it, 2 because a token is scored if those around it pass all gates, and 1 because the wide stack is asked
/// about a token if the one beside it is in doubt.
const BESIDE: usize = 4;

/// A text with fewer bytes is short.
const SHORT_BYTES: usize = 2 << 10;

/// Number of tokens in a window that the stacks process cheaply.
const FEW_TOKENS: usize = 16;

/// A stretch of tokens, their table rows, and their layers.
pub(super) struct Window {
    weights: &'static Weights,
    level: Level,
    spans: Vec<(u32, u32)>,
    /// Shifted by one: place 0 is the context before the first token.
    lists: Lists,
    /// Activations of the first layer, between margins.
    first: Vec<Row>,
    /// Number of tokens whose activations are computed.
    embedded: usize,
    narrow: Stack<1>,
    wide: Stack<WIDE_PARTS>,
    /// Scores from the narrow stack for the tokens at hand; kept to reuse its memory.
    scores: Vec<[i32; TAGS_MAX]>,
}

impl Window {
    /// Makes a window to be kept, because it takes more than two hundred kilobytes.
    pub(super) fn new(level: Level) -> Self {
        let weights = Weights::get();
        Window {
            weights,
            level,
            spans: Vec::with_capacity(WINDOW),
            lists: Lists::with_capacity(WINDOW + 2),
            first: vec![[0; WIDTH]; STRIDE],
            embedded: 0,
            narrow: Stack::new(&weights.narrow),
            wide: Stack::new(&weights.wide),
            scores: Vec::new(),
        }
    }

    /// Empties the window, for the start of a text.
    pub(super) fn clear(&mut self, level: Level) {
        self.level = level;
        self.spans.clear();
        self.lists.clear();
        self.embedded = 0;
        self.push_outside();
    }

    /// Returns the number of tokens in the window.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Takes tokens until the window is full; whether the text has ended.
    pub(super) fn fill(&mut self, tokens: &mut Tokens<'_>) -> bool {
        while self.spans.len() < WINDOW {
            let Some(token) = tokens.next(self.lists.rest()) else {
                self.push_outside();
                return true;
            };
            self.lists.push(token.rows);
            self.spans.push(token.span);
        }
        false
    }

    fn push_outside(&mut self) {
        self.lists.push(outside(self.weights));
    }

    /// Forgets the first `count` tokens.
    pub(super) fn slide(&mut self, count: usize) {
        self.spans.drain(..count);
        self.lists.forget(count);
        self.first
            .copy_within(MARGIN + count..MARGIN + self.embedded, MARGIN);
        self.embedded -= count;
    }

    /// Hands the decoder the scores of those tokens from `start` to `end` that the gate lets through, unless they and
    /// their neighbours begin at unwanted offsets, or are too short for a finding.
    pub(super) fn scores(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        unwanted: Option<&dyn Fn(usize) -> bool>,
        decoder: &mut Decoder<'_>,
    ) {
        let is_short = text.len() < SHORT_BYTES;
        let level = self.level_for(is_short);
        self.embed(level);
        let wanted = self.wanted(level, text, start, end, unwanted);
        let level = self.level_for(is_short && wanted.len() <= FEW_TOKENS);
        let (asked, mut doubtful) = self.ask_narrow(level, wanted);
        doubtful.remove(0..start);
        doubtful.remove(end..WINDOW);
        let first = First {
            rows: &self.first,
            tokens: self.embedded,
        };
        self.wide.compute(level, first, doubtful, &[]);
        // The token that would go on with the run of the one before.
        let mut follower = start;
        let asked = asked.iter().zip(&self.scores);
        for (token, &scores) in asked.filter(|(token, _)| (start..end).contains(token)) {
            if token != follower {
                decoder.flush();
            }
            let mut scores = scores;
            if doubtful.contains(token) {
                let more = self.wide.scores(level, token);
                for (score, more) in scores.iter_mut().zip(more) {
                    *score += more;
                }
            }
            decoder.push(self.spans[token], scores);
            follower = token + 1;
        }
        if follower != end {
            decoder.flush();
        }
    }

    /// Returns the kernels to use.
    fn level_for(&self, is_little: bool) -> Level {
        if is_little {
            self.level.gentle()
        } else {
            self.level
        }
    }

    /// Computes the first layer for all tokens whose follower is known, and clears the rows past them.
    fn embed(&mut self, level: Level) {
        let from = self.embedded;
        self.embedded = self.lists.len() - 2;
        let (rows, rest) = self.first[MARGIN..].split_at_mut(self.embedded);
        simd::embed(
            level,
            self.weights.table,
            &self.lists,
            from,
            &mut rows[from..],
        );
        rest[..MARGIN].fill([0; WIDTH]);
    }

    /// Returns the tokens whose scores are wanted. Some neighbours on either side may be among them, because their
    /// scores matter to the tokens beside them.
    fn wanted(
        &self,
        level: Level,
        text: &[u8],
        start: usize,
        end: usize,
        unwanted: Option<&dyn Fn(usize) -> bool>,
    ) -> Set {
        let mut wanted = self.passing(level);
        // A run at the edge may have begun before, or go on in the next window.
        let is_whole = |run: &Range<usize>| run.start > 0 && run.end < self.embedded;
        for run in wanted.runs() {
            if is_whole(&run) && self.is_useless(&run, text, unwanted) {
                wanted.remove(run);
            }
        }
        wanted.remove(0..start.saturating_sub(BESIDE));
        wanted.remove(WINDOW.min(end + BESIDE)..WINDOW);
        self.screened(level, wanted)
    }

    /// Returns the tokens that the screen leaves, and the given tokens next to those: the screen recognises the ends of
    /// findings less well than the middle.
    fn screened(&self, level: Level, tokens: Set) -> Set {
        let rows = &self.first[MARGIN - AROUND..];
        let mut left = Set::default();
        tokens.iter().for_each(|token| {
            let rows = rows[token..].first_chunk();
            let is_left = rows.is_none_or(|rows| simd::screen(level, &self.weights.screen, rows));
            left.add(token, u64::from(is_left));
        });
        left.widened(1, self.embedded).common(tokens)
    }

    /// Returns the tokens that the first gate lets through.
    fn passing(&self, level: Level) -> Set {
        let mut passing = Set::default();
        let rows = &self.first[MARGIN..][..self.embedded];
        for (part, rows) in rows.chunks(64).enumerate() {
            passing.add(part * 64, simd::gate(level, &self.weights.gate, rows));
        }
        passing
    }

    /// Whether nothing that a run of tokens may hold would be reported.
    fn is_useless(
        &self,
        run: &Range<usize>,
        text: &[u8],
        unwanted: Option<&dyn Fn(usize) -> bool>,
    ) -> bool {
        let spans = &self.spans[run.clone()];
        let text = &text[spans[0].0 as usize..spans[run.len() - 1].1 as usize];
        let is_unwanted = |is_unwanted: &dyn Fn(usize) -> bool| {
            spans.iter().all(|span| is_unwanted(span.0 as usize))
        };
        is_too_short(text) || unwanted.is_some_and(is_unwanted)
    }

    /// Returns the tokens that the narrow stack scores, and those of them that are uncertain or next to an uncertain
    /// one.
    fn ask_narrow(&mut self, level: Level, wanted: Set) -> (Set, Set) {
        let first = First {
            rows: &self.first,
            tokens: self.embedded,
        };
        let wanted = self
            .narrow
            .compute(level, first, wanted, &self.weights.gates);
        let mut doubtful = Set::default();
        self.scores.clear();
        wanted.iter().for_each(|token| {
            let scores = self.narrow.scores(level, token);
            let is_doubtful = self.weights.doubt.contains(&reported_lead(&scores));
            doubtful.add(token, u64::from(is_doubtful));
            self.scores.push(scores);
        });
        let doubtful = doubtful.widened(1, self.embedded).common(wanted);
        (wanted, doubtful)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::simd::Convolution;

    #[test]
    fn stack_dilations_fit_window_reach() {
        fn dilations<const PARTS: usize>(layers: &[Convolution<PARTS>]) -> Vec<usize> {
            layers.iter().map(|layer| layer.dilation).collect()
        }
        let weights = Weights::get();
        for dilations in [
            dilations(&weights.narrow.layers),
            dilations(&weights.wide.layers),
        ] {
            assert!(1 + dilations.iter().sum::<usize>() + BESIDE <= REACH);
            assert!(dilations.iter().all(|dilation| *dilation <= MARGIN));
        }
    }
}
