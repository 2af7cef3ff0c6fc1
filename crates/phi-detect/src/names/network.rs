//! The network over a window of tokens: table sums, then dilated convolutions, then tag scores.
//!
//! A gate looks at every token after the first layer and lets through those
//! that might be part of a finding; only their scores are wanted, so each
//! layer above is computed only where the one above it will look. Ordinary
//! prose needs a fraction of the arithmetic that way.

use std::ops::Range;

use super::WINDOW;
use super::decode::{Decoder, is_too_short};
use super::set::Set;
use super::simd::{self, Level, Lists, Row, WIDTH};
use super::token::{Tokens, outside};
use super::weights::Weights;

/// Tokens on either side that can influence a token's scores, rounded up.
pub(super) const REACH: usize = 16;
/// Empty rows at both ends, so that a convolution may look past the text.
const MARGIN: usize = 8;

/// Rows of a layer: a margin, a row a token, and a margin again.
const STRIDE: usize = MARGIN + WINDOW + MARGIN;

/// A stretch of tokens, their table rows, and room for the layers.
pub(super) struct Window {
    weights: &'static Weights,
    level: Level,
    spans: Vec<(u32, u32)>,
    /// Shifted by one: place 0 is what stands before the first token.
    lists: Lists,
    /// Activations, layer by layer. What was not computed for the window at hand is of an earlier one.
    layers: Vec<Row>,
    /// How many tokens have their row of the first layer.
    embedded: usize,
    /// Where a layer is to be computed; kept for its memory.
    places: Vec<u16>,
}

impl Window {
    /// A window of its own, to be kept: it takes a hundred kilobytes.
    pub(super) fn new(level: Level) -> Self {
        let weights = Weights::get();
        Window {
            weights,
            level,
            spans: Vec::with_capacity(WINDOW),
            lists: Lists::with_capacity(WINDOW + 2),
            layers: vec![[0; WIDTH]; (weights.layers.len() + 1) * STRIDE],
            embedded: 0,
            places: Vec::with_capacity(WINDOW),
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

    /// How many tokens it holds.
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
        self.layers
            .copy_within(MARGIN + count..MARGIN + self.embedded, MARGIN);
        self.embedded -= count;
    }

    /// Hands the decoder the scores of those tokens from `start` to `end` that the gate lets through,
    /// unless they and all beside them begin where findings are unwanted, or are too short for one.
    pub(super) fn scores(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        unwanted: Option<&dyn Fn(usize) -> bool>,
        decoder: &mut Decoder<'_>,
    ) {
        self.embed();
        let mut wanted = self.wanted(start, end);
        // A run at the edge may go on in the next window.
        let is_inside = |run: &Range<usize>| run.start > start && run.end < end;
        for run in wanted.runs().filter(is_inside) {
            let spans = &self.spans[run.clone()];
            let text = &text[spans[0].0 as usize..spans[run.len() - 1].1 as usize];
            let is_unwanted = |is_unwanted: &dyn Fn(usize) -> bool| {
                spans.iter().all(|span| is_unwanted(span.0 as usize))
            };
            if is_too_short(text) || unwanted.is_some_and(is_unwanted) {
                wanted.remove(run);
            }
        }
        if wanted.is_empty() {
            decoder.flush();
            return;
        }
        self.clear_end();
        let top = self.weights.layers.len();
        self.compute(top, wanted);
        let rows = &self.layers[top * STRIDE + MARGIN..];
        // The token that would go on with the run of the one before.
        let mut follower = start;
        for token in wanted.iter() {
            if token != follower {
                decoder.flush();
            }
            let scores = simd::score(self.level, &self.weights.output, &rows[token]);
            decoder.push(self.spans[token], scores);
            follower = token + 1;
        }
        if follower != end {
            decoder.flush();
        }
    }

    /// Computes the first layer, of all tokens whose follower is known.
    fn embed(&mut self) {
        let first = self.embedded;
        self.embedded = self.lists.len() - 2;
        let rows = &mut self.layers[MARGIN + first..MARGIN + self.embedded];
        simd::embed(self.level, self.weights.table, &self.lists, first, rows);
    }

    /// Makes sure that there is nothing past the end of the text, in any layer.
    fn clear_end(&mut self) {
        for layer in self.layers.chunks_exact_mut(STRIDE) {
            layer[MARGIN + self.embedded..][..MARGIN].fill([0; WIDTH]);
        }
    }

    /// Which tokens' scores are wanted.
    fn wanted(&self, start: usize, end: usize) -> Set {
        let mut wanted = Set::default();
        let mut from = start;
        for rows in self.layers[MARGIN + start..MARGIN + end].chunks(64) {
            let passing = simd::gate(self.level, &self.weights.gate, rows);
            wanted.add(from, passing);
            from += rows.len();
        }
        wanted
    }

    /// Computes a layer at the wanted tokens, and first what this needs of the layers below.
    fn compute(&mut self, layer: usize, wanted: Set) {
        if layer == 0 || wanted.is_empty() {
            return;
        }
        let (dilation, weights) = &self.weights.layers[layer - 1];
        self.compute(layer - 1, wanted.widened(*dilation, self.spans.len()));
        self.places.clear();
        self.places
            .extend(wanted.iter().map(|token| (token + MARGIN) as u16));
        let (below, above) = self.layers.split_at_mut(layer * STRIDE);
        let input = &below[(layer - 1) * STRIDE..];
        let output = &mut above[..STRIDE];
        simd::convolve(self.level, weights, *dilation, &self.places, input, output);
    }
}
