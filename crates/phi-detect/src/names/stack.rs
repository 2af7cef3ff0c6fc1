//! Dilated convolutions one above the other, over the first layer of a window.
//!
//! Only the scores of some tokens are wanted, so each layer is computed only at the tokens that the one above it reads.
//! After each layer a gate may hold tokens back, around which the layers above, which look further and further, are
//! then not computed. Ordinary prose needs a fraction of the arithmetic that way.

use super::WINDOW;
use super::set::Set;
use super::simd::{self, Gate, Level, Row, TAGS_MAX, WIDTH};
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

/// Layers of `PARTS` parts of 64 channels each.
pub(super) struct Stack<const PARTS: usize> {
    weights: &'static StackWeights<PARTS>,
    /// Activations, layer by layer. What was not computed for the window at hand is of an earlier one.
    layers: Vec<[Row; PARTS]>,
    /// Tokens at which each layer was computed for the window at hand.
    computed: Vec<Set>,
    /// Tokens at which a layer is to be computed; kept to reuse its memory.
    places: Vec<u16>,
}

impl<const PARTS: usize> Stack<PARTS> {
    pub(super) fn new(weights: &'static StackWeights<PARTS>) -> Self {
        Stack {
            weights,
            layers: vec![[[0; WIDTH]; PARTS]; weights.layers.len() * STRIDE],
            computed: vec![Set::default(); weights.layers.len()],
            places: Vec::with_capacity(WINDOW),
        }
    }

    /// Computes all that the scores of the wanted tokens need. Each gate may hold back some of them after its layer.
    /// Returns the tokens that can be scored: those that all gates let through, and those between two of them, because
    /// gates may not split a finding.
    pub(super) fn compute(
        &mut self,
        level: Level,
        first: First<'_>,
        mut wanted: Set,
        gates: &[Gate],
    ) -> Set {
        if wanted.is_empty() {
            return wanted;
        }
        // The rows past the end of the text are zero.
        for layer in self.layers.chunks_exact_mut(STRIDE) {
            layer[MARGIN + first.tokens..][..MARGIN].fill([[0; WIDTH]; PARTS]);
        }
        self.computed.fill(Set::default());
        for (layer, gate) in gates.iter().enumerate() {
            self.compute_layer(level, layer + 1, first, wanted);
            wanted = self.passing(level, layer, wanted, gate);
        }
        if !gates.is_empty() {
            wanted = wanted.without_small_gaps(first.tokens);
        }
        self.compute_layer(level, self.weights.layers.len(), first, wanted);
        wanted
    }

    /// Returns which of these tokens the gate after a layer lets through.
    fn passing(&self, level: Level, layer: usize, tokens: Set, gate: &Gate) -> Set {
        let rows = self.layers[layer * STRIDE + MARGIN..].as_flattened();
        let mut passing = Set::default();
        tokens.iter().for_each(|token| {
            let row = &rows[token * PARTS..][..1];
            passing.add(token, simd::gate(level, gate, row));
        });
        passing
    }

    /// Computes a layer at the wanted tokens that lack it, and before it what it needs of those below; layer 0 is the
    /// first.
    fn compute_layer(&mut self, level: Level, layer: usize, first: First<'_>, wanted: Set) {
        let Some(below) = layer.checked_sub(1) else {
            return;
        };
        let weights = &self.weights.layers[below];
        let wanted = wanted.without(self.computed[below]);
        if wanted.is_empty() {
            return;
        }
        self.computed[below] = self.computed[below].joined(wanted);
        let needed = wanted.widened(weights.dilation, first.tokens);
        self.compute_layer(level, below, first, needed);
        self.places.clear();
        wanted
            .iter()
            .for_each(|token| self.places.push((token + MARGIN) as u16));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::weights::Weights;

    fn gate(bias: i32) -> Gate {
        let weights = [0; WIDTH];
        Gate { weights, bias }
    }

    #[test]
    fn gates_drop_tokens_without_changing_rest() {
        let rows: Vec<Row> = (0..STRIDE)
            .map(|row| std::array::from_fn(|channel| (row * 31 + channel * 7) as u8 % 128))
            .collect();
        let first = First {
            rows: &rows,
            tokens: WINDOW,
        };
        let mut wanted = Set::default();
        wanted.add(3, 0b1011);
        wanted.add(200, 1);
        let mut stack = Stack::new(&Weights::get().narrow);
        let scores = |stack: &Stack<1>| -> Vec<_> {
            let all = wanted.iter();
            all.map(|token| stack.scores(Level::Portable, token))
                .collect()
        };
        stack.compute(Level::Portable, first, wanted, &[]);
        let expected = scores(&stack);
        // Layer by layer, with gates that let everything through.
        let open = [gate(1), gate(1), gate(1)];
        let left = stack.compute(Level::Portable, first, wanted, &open);
        let with_gap = (3..7).chain([200]);
        assert!(left.iter().eq(with_gap), "with the one between");
        assert_eq!(scores(&stack), expected);
        let shut = [gate(1), gate(0), gate(1)];
        let left = stack.compute(Level::Portable, first, wanted, &shut);
        assert!(left.is_empty());
    }
}
