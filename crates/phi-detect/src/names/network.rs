//! The network over a window of tokens: table sums, then dilated convolutions, then tag scores.
//!
//! A gate looks at every token after the first layer and lets through those
//! that might be part of a finding; only their scores are wanted, so each
//! layer above is computed only where the one above it will look. Ordinary
//! prose needs a fraction of the arithmetic that way.

use super::simd::{self, Level, Row, Sums, TAGS_MAX, TableRow, WIDTH};
use super::token::{Token, outside};
use super::weights::Weights;

/// Tokens on either side that can influence a token's scores, rounded up.
pub(super) const REACH: usize = 16;
/// Tokens a window holds.
pub(super) const WINDOW: usize = 512;
/// Empty rows at both ends, so that a convolution may look past the text.
const MARGIN: usize = 8;

/// A stretch of tokens, what they sum to, and room for the layers.
pub(super) struct Window {
    weights: &'static Weights,
    level: Level,
    spans: Vec<(u32, u32)>,
    /// First-layer sums, shifted by one: the outside has places 0 and last.
    sums: Vec<Sums>,
    /// Activations per layer, shifted by `MARGIN`.
    layers: Vec<Vec<Row>>,
}

impl Window {
    /// A window for a text of this many bytes, with the start of the text in place.
    pub(super) fn new(weights: &'static Weights, level: Level, text_bytes: usize) -> Self {
        let tokens = WINDOW.min(text_bytes);
        let mut window = Window {
            weights,
            level,
            spans: Vec::with_capacity(tokens),
            sums: Vec::with_capacity(tokens + 2),
            layers: vec![vec![[0; WIDTH]; tokens + 2 * MARGIN]; weights.layers.len() + 1],
        };
        let mut sums = [[0; WIDTH]; 3];
        simd::add_rows(level, &mut sums, &outside(weights));
        window.sums.extend([[0; WIDTH], sums[2]]);
        window
    }

    /// How many tokens it holds.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Takes one more token.
    pub(super) fn push(&mut self, token: &Token) {
        self.spans.push((token.start, token.end));
        self.sums.push([0; WIDTH]);
        self.add_at(self.spans.len(), token.rows());
    }

    /// Puts the end of the text after the last token.
    pub(super) fn finish(&mut self) {
        self.sums.push([0; WIDTH]);
        self.add_at(self.spans.len() + 1, &outside(self.weights));
        for layer in &mut self.layers {
            for row in layer
                .iter_mut()
                .skip(MARGIN + self.spans.len())
                .take(MARGIN)
            {
                *row = [0; WIDTH];
            }
        }
    }

    fn add_at(&mut self, place: usize, rows: &[&TableRow]) {
        let around = &mut self.sums[place - 1..=place + 1];
        if let Ok(around) = around.try_into() {
            simd::add_rows(self.level, around, rows);
        }
    }

    /// Forgets the first `count` tokens.
    pub(super) fn slide(&mut self, count: usize) {
        self.spans.drain(..count);
        self.sums.drain(..count);
    }

    /// Hands out the scores of the tokens from `start` to `end`, with where they stand;
    /// none for tokens the gate held back.
    pub(super) fn scores(
        &mut self,
        start: usize,
        end: usize,
        mut each: impl FnMut((u32, u32), Option<[i32; TAGS_MAX]>),
    ) {
        let wanted = self.wanted(start, end);
        let top = self.layers.len() - 1;
        self.compute(top, &wanted);
        let rows = &self.layers[top][MARGIN..];
        for ((row, span), wanted) in rows
            .iter()
            .zip(&self.spans)
            .zip(wanted)
            .take(end)
            .skip(start)
        {
            let scores = wanted.then(|| simd::score(self.level, &self.weights.output, row));
            each(*span, scores);
        }
    }

    /// Computes the first layer, and which tokens' scores are wanted.
    fn wanted(&mut self, start: usize, end: usize) -> Vec<bool> {
        let count = self.spans.len();
        let rows = &mut self.layers[0][MARGIN..MARGIN + count];
        simd::activate(self.level, &self.sums[1..=count], rows);
        let mut wanted = vec![false; count];
        simd::gate(
            self.level,
            &self.weights.gate,
            &rows[start..end],
            &mut wanted[start..end],
        );
        wanted
    }

    /// Computes a layer at the wanted tokens, and first what this needs of the layers below.
    fn compute(&mut self, layer: usize, wanted: &[bool]) {
        if layer == 0 {
            return;
        }
        let mut rows = Vec::with_capacity(wanted.len());
        let places = wanted.iter().enumerate().filter(|(_, wanted)| **wanted);
        rows.extend(places.map(|(token, _)| (token + MARGIN) as u16));
        let (dilation, weights) = &self.weights.layers[layer - 1];
        self.compute(layer - 1, &widened(wanted, *dilation));
        let (below, above) = self.layers.split_at_mut(layer);
        let (input, output) = (&below[layer - 1], &mut above[0]);
        simd::convolve(self.level, weights, *dilation, &rows, input, output);
    }
}

/// The wanted tokens and those `dilation` away from them.
fn widened(wanted: &[bool], dilation: usize) -> Vec<bool> {
    let mut wider = wanted.to_vec();
    if let Some(reach) = wanted.len().checked_sub(dilation) {
        for token in 0..reach {
            wider[token] |= wanted[token + dilation];
            wider[token + dilation] |= wanted[token];
        }
    }
    wider
}
