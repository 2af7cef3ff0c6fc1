//! Dilated convolutions one above the other, over the first layer of a window.
//!
//! Only the scores of some tokens are wanted, so each layer is computed only
//! where the one above it will look. Ordinary prose needs a fraction of the
//! arithmetic that way.

use super::WINDOW;
use super::set::Set;
use super::simd::{self, Level, Row, TAGS_MAX, WIDTH};
use super::weights::StackWeights;

/// Empty rows at both ends of a layer, so that a convolution may look past the text.
pub(super) const MARGIN: usize = 8;
/// Rows of a layer: a margin, a row a token, and a margin again.
pub(super) const STRIDE: usize = MARGIN + WINDOW + MARGIN;

/// The first layer: its rows, and of how many tokens they are.
#[derive(Clone, Copy)]
pub(super) struct First<'a> {
    pub(super) rows: &'a [Row],
    pub(super) tokens: usize,
}

/// Layers of so many parts of 64 channels each.
pub(super) struct Stack<const PARTS: usize> {
    weights: &'static StackWeights<PARTS>,
    /// Activations, layer by layer. What was not computed for the window at hand is of an earlier one.
    layers: Vec<[Row; PARTS]>,
    /// Where a layer is to be computed; kept for its memory.
    places: Vec<u16>,
}

impl<const PARTS: usize> Stack<PARTS> {
    pub(super) fn new(weights: &'static StackWeights<PARTS>) -> Self {
        Stack {
            weights,
            layers: vec![[[0; WIDTH]; PARTS]; weights.layers.len() * STRIDE],
            places: Vec::with_capacity(WINDOW),
        }
    }

    /// Computes all that the scores of the wanted tokens need.
    pub(super) fn compute(&mut self, level: Level, first: First<'_>, wanted: Set) {
        if wanted.is_empty() {
            return;
        }
        // Nothing stands past the end of the text.
        for layer in self.layers.chunks_exact_mut(STRIDE) {
            layer[MARGIN + first.tokens..][..MARGIN].fill([[0; WIDTH]; PARTS]);
        }
        self.compute_layer(level, self.weights.layers.len(), first, wanted);
    }

    /// Computes a layer at the wanted tokens, and before it what it needs of those below; layer 0 is the first.
    fn compute_layer(&mut self, level: Level, layer: usize, first: First<'_>, wanted: Set) {
        let Some(below) = layer.checked_sub(1) else {
            return;
        };
        let weights = &self.weights.layers[below];
        let needed = wanted.widened(weights.dilation, first.tokens);
        self.compute_layer(level, below, first, needed);
        self.places.clear();
        self.places
            .extend(wanted.iter().map(|token| (token + MARGIN) as u16));
        let (input, output) = self.layers.split_at_mut(below * STRIDE);
        let output = &mut output[..STRIDE];
        if below == 0 {
            let input: &[[Row; 1]] = first.rows.as_chunks().0;
            simd::convolve(level, weights, &self.places, input, output);
        } else {
            let input = &input[(below - 1) * STRIDE..];
            simd::convolve(level, weights, &self.places, input, output);
        }
    }

    /// The tag scores of a token that was among the wanted.
    pub(super) fn scores(&self, level: Level, token: usize) -> [i32; TAGS_MAX] {
        let top = (self.weights.layers.len() - 1) * STRIDE + MARGIN;
        simd::score(level, &self.weights.output, &self.layers[top + token])
    }
}
