//! The network over a window of tokens: table sums, then dilated convolutions, then tag scores.
//!
//! A gate looks at every token after the first layer and lets through those
//! that might be part of a finding; only their scores are wanted, so each
//! layer above is computed only where the one above it will look. Ordinary
//! prose needs a fraction of the arithmetic that way.

use super::WINDOW;
use super::decode::Decoder;
use super::set::Set;
use super::simd::{self, Level, Lists, Row, WIDTH};
use super::token::{Tokens, outside};
use super::weights::Weights;

/// Tokens on either side that can influence a token's scores, rounded up.
pub(super) const REACH: usize = 16;
/// Empty rows at both ends, so that a convolution may look past the text.
const MARGIN: usize = 8;

/// A stretch of tokens, their table rows, and room for the layers.
pub(super) struct Window {
    weights: &'static Weights,
    level: Level,
    spans: Vec<(u32, u32)>,
    /// Shifted by one: place 0 is what stands before the first token.
    lists: Lists,
    /// Activations, layer by layer: a margin, a row a token, and a margin again.
    layers: Vec<Row>,
    /// Rows of a layer.
    stride: usize,
    /// Where a layer is to be computed; kept for its memory.
    places: Vec<u16>,
}

impl Window {
    /// An empty window at the start of a text of this many bytes.
    pub(super) fn new(weights: &'static Weights, level: Level, text_bytes: usize) -> Self {
        // Few texts have more tokens than this.
        let tokens = WINDOW.min(text_bytes / 3 + 4);
        let mut window = Window {
            weights,
            level,
            spans: Vec::with_capacity(tokens),
            lists: Lists::with_capacity(tokens + 2),
            layers: Vec::new(),
            stride: 0,
            places: Vec::new(),
        };
        window.push_outside();
        window
    }

    /// How many tokens it holds.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Takes tokens until the window is full; whether the text has ended.
    pub(super) fn fill(&mut self, tokens: &mut Tokens<'_>) -> bool {
        while self.spans.len() < WINDOW {
            match self.lists.push(|rows| tokens.next(rows)) {
                Some(span) => self.spans.push(span),
                None => {
                    self.push_outside();
                    return true;
                }
            }
        }
        false
    }

    fn push_outside(&mut self) {
        let outside = outside(self.weights);
        self.lists.push(|rows| {
            rows.extend(outside);
            Some(())
        });
    }

    /// Forgets the first `count` tokens.
    pub(super) fn slide(&mut self, count: usize) {
        self.spans.drain(..count);
        self.lists.forget(count);
    }

    /// Hands the decoder the scores of those tokens from `start` to `end` that the gate lets through,
    /// unless they and all beside them begin where findings are unwanted.
    pub(super) fn scores(
        &mut self,
        start: usize,
        end: usize,
        is_unwanted: Option<&dyn Fn(usize) -> bool>,
        decoder: &mut Decoder<'_>,
    ) {
        self.embed();
        let mut wanted = self.wanted(start, end);
        if let Some(is_unwanted) = is_unwanted {
            // A run at the edge may go on in the next window.
            for run in wanted
                .runs()
                .filter(|run| run.start > start && run.end < end)
            {
                let mut spans = self.spans[run.clone()].iter();
                if spans.all(|span| is_unwanted(span.0 as usize)) {
                    wanted.remove(run);
                }
            }
        }
        if wanted.is_empty() {
            decoder.flush();
            return;
        }
        self.make_room();
        let top = self.weights.layers.len();
        self.compute(top, wanted);
        let rows = &self.layers[top * self.stride + MARGIN..];
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
        let count = self.lists.len() - 2;
        if self.layers.is_empty() {
            // The first window is the largest.
            self.stride = self.spans.len() + 2 * MARGIN;
            self.layers = vec![[0; WIDTH]; self.stride];
        }
        let rows = &mut self.layers[MARGIN..][..count];
        simd::embed(self.level, self.weights.table, &self.lists, rows);
    }

    /// Makes sure that there are all layers, with nothing past the end of the text.
    fn make_room(&mut self) {
        let count = self.lists.len() - 2;
        let layers = self.weights.layers.len() + 1;
        self.layers.resize(self.stride * layers, [0; WIDTH]);
        for layer in self.layers.chunks_exact_mut(self.stride) {
            layer[MARGIN + count..][..MARGIN].fill([0; WIDTH]);
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
        let (below, above) = self.layers.split_at_mut(layer * self.stride);
        let input = &below[(layer - 1) * self.stride..];
        let output = &mut above[..self.stride];
        simd::convolve(self.level, weights, *dilation, &self.places, input, output);
    }
}
