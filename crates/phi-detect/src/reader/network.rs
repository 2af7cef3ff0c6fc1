//! The encoder over a window of pieces: table rows, layers of attention and two dense steps, and scores per class.
//!
//! Dense steps multiply whole numbers: activations of 14 bits with signed bytes, and attention 13 bits with 13.

use std::ops::Range;

use phi_kernels::{self as kernels, LANES, Level, Pair, Weights as Columns};

use super::weights::{Block, Dense, Layer, Norm, Weights};

/// Numbers per unit of a normalised activation, of queries, keys, values and inner activations.
const NORMALISED: f32 = 128.0;
const ATTENDING: f32 = 256.0;
/// Largest whole numbers, so that no sum of products leaves 32 bits.
const WHOLE_MAX: f32 = 8191.0;
const ASKED_MAX: f32 = 4095.0;
/// Sum of all shares of attention.
const SHARES: f32 = 16384.0;
const SHARES_SHIFT: u32 = 14;
/// Channels of a head.
const HEAD: usize = 32;
/// Pieces whose attention is computed together.
const TOGETHER: usize = 8;

/// Memory for one window.
pub(super) struct Window {
    weights: &'static Weights,
    /// Activations, `size` per piece.
    activations: Vec<f32>,
    /// Activations as whole numbers.
    inputs: Vec<Pair>,
    /// Queries, `size / 2` pairs per piece.
    queries: Vec<Pair>,
    /// Keys: per head and sixteen pieces, sixteen pairs of channels.
    keys: Vec<[Pair; LANES]>,
    /// Values: per head and sixteen channels, pairs of pieces.
    values: Vec<[Pair; LANES]>,
    /// Inner activations, `inner / 2` pairs per piece.
    inner: Vec<Pair>,
    sums: Vec<[i32; LANES]>,
    /// Sums as whole numbers.
    whole: Vec<[i16; LANES]>,
    /// Scores, one row of classes per piece.
    scores: Vec<f32>,
}

impl Window {
    pub(super) fn new() -> Self {
        let weights = Weights::get();
        let (pieces, size) = (weights.window, weights.size);
        let classes = weights.head.blocks.len() * LANES;
        Window {
            weights,
            activations: vec![0.0; pieces * size],
            inputs: vec![[0; 2]; pieces * size / 2],
            queries: vec![[0; 2]; pieces * size / 2],
            keys: vec![[[0; 2]; LANES]; pieces / LANES * size / 2],
            values: vec![[[0; 2]; LANES]; pieces / 2 * size / LANES],
            inner: vec![[0; 2]; pieces * weights.inner / 2],
            sums: vec![[0; LANES]; pieces],
            whole: vec![[0; LANES]; pieces],
            scores: vec![0.0; pieces * classes],
        }
    }

    /// Computes probabilities of all classes for each of at most `window` pieces; a row per piece.
    pub(super) fn read(
        &mut self,
        level: Level,
        pieces: impl ExactSizeIterator<Item = u16>,
    ) -> &[f32] {
        let count = pieces.len().min(self.weights.window);
        let size = self.weights.size;
        self.activations[..count * size].fill(0.0);
        let rows = self.activations.chunks_exact_mut(size);
        for ((place, id), row) in pieces.enumerate().zip(rows) {
            self.weights.words.add_row(usize::from(id), row);
            self.weights.places.add_row(place, row);
        }
        let weights = self.weights;
        normalise(level, &weights.norm, &mut self.activations[..count * size]);
        for layer in &weights.layers {
            self.attend(level, layer, count);
            self.transform(level, layer, count);
        }
        self.score(level, count)
    }

    /// Computes the attention of each piece to those near it.
    fn attend(&mut self, level: Level, layer: &Layer, count: usize) {
        let size = self.weights.size;
        whole(
            level,
            &self.activations[..count * size],
            NORMALISED,
            &mut self.inputs,
        );
        let per_part = size / LANES;
        for (number, block) in layer.attention.blocks.iter().enumerate() {
            let sums = &mut self.sums[..count];
            let columns = Columns::Bytes(block.weights);
            kernels::products(level, &self.inputs, size / 2, columns, sums);
            let most = if number / per_part == 2 {
                WHOLE_MAX
            } else {
                ASKED_MAX
            };
            attending(level, sums, block, most, &mut self.whole[..count]);
            match number / per_part {
                0 => self.keep_queries(number, count),
                1 => self.keep_keys(number - per_part, count),
                _ => self.keep_values(number - 2 * per_part, count),
            }
        }
        for head in 0..self.weights.heads {
            for first in (0..count).step_by(TOGETHER) {
                self.attend_from(level, head, first..count.min(first + TOGETHER), count);
            }
        }
        let activations = &mut self.activations[..count * size];
        add_dense(
            level,
            &layer.attended,
            &self.inputs,
            1.0 / ATTENDING,
            &mut self.sums,
            activations,
        );
        normalise(level, &layer.attention_norm, activations);
    }

    fn keep_queries(&mut self, block: usize, count: usize) {
        let stride = self.weights.size / 2;
        for (numbers, row) in self.whole[..count]
            .iter()
            .zip(self.queries.chunks_exact_mut(stride))
        {
            row[block * LANES / 2..][..LANES / 2].copy_from_slice(numbers.as_chunks().0);
        }
    }

    fn keep_keys(&mut self, block: usize, count: usize) {
        let groups = self.weights.window / LANES;
        let (head, half) = (block / 2, block % 2);
        for (piece, numbers) in self.whole[..count].iter().enumerate() {
            let group = (head * groups + piece / LANES) * (HEAD / 2) + half * LANES / 2;
            for (pair, &numbers) in numbers.as_chunks().0.iter().enumerate() {
                self.keys[group + pair][piece % LANES] = numbers;
            }
        }
    }

    fn keep_values(&mut self, block: usize, count: usize) {
        let pairs = self.weights.window / 2;
        for (piece, numbers) in self.whole[..count].iter().enumerate() {
            let row = &mut self.values[block * pairs + piece / 2];
            for (lane, &number) in numbers.iter().enumerate() {
                row[lane][piece % 2] = number;
            }
        }
    }

    /// Computes the attention of a few pieces in one head; the result is put into `inputs`.
    fn attend_from(&mut self, level: Level, head: usize, asking: Range<usize>, count: usize) {
        const NEAR_MAX: usize = 192;
        let Weights {
            size, near, window, ..
        } = *self.weights;
        let stride = size / 2;
        let from = asking.start.saturating_sub(near) / LANES * LANES;
        let to = count.min(asking.end + near);
        let mut scores = [[0; NEAR_MAX]; TOGETHER];
        let queries = &self.queries[asking.start * stride + head * HEAD / 2..];
        for group in from / LANES..to.div_ceil(LANES) {
            let at = (head * (window / LANES) + group) * (HEAD / 2);
            let columns = Columns::Words(&self.keys[at..][..HEAD / 2]);
            let mut sums = [[0; LANES]; TOGETHER];
            kernels::products(level, queries, stride, columns, &mut sums[..asking.len()]);
            for (scores, sums) in scores.iter_mut().zip(sums) {
                scores[group * LANES - from..][..LANES].copy_from_slice(&sums);
            }
        }
        let mut shares = [[[0; 2]; NEAR_MAX / 2]; TOGETHER];
        let factor = 1.0 / (ATTENDING * ATTENDING * (HEAD as f32).sqrt());
        for (piece, (scores, shares)) in asking.clone().zip(scores.iter().zip(&mut shares)) {
            let seen = piece.saturating_sub(near).max(from)..count.min(piece + near + 1);
            let seen = seen.start - from..seen.end - from;
            kernels::shares(
                level,
                &scores[seen.clone()],
                factor,
                SHARES,
                &mut shares.as_flattened_mut()[seen],
            );
        }
        let pairs = from / 2..to.div_ceil(2);
        for part in 0..HEAD / LANES {
            let block = head * HEAD / LANES + part;
            let columns = &self.values[block * (window / 2)..][pairs.clone()];
            let mut sums = [[0; LANES]; TOGETHER];
            let shares = shares.as_flattened();
            kernels::products(
                level,
                shares,
                NEAR_MAX / 2,
                Columns::Words(columns),
                &mut sums[..asking.len()],
            );
            for (piece, sums) in asking.clone().zip(sums) {
                let taken =
                    sums.map(|sum| ((sum + (1 << (SHARES_SHIFT - 1))) >> SHARES_SHIFT) as i16);
                let at = piece * stride + block * LANES / 2;
                self.inputs[at..][..LANES / 2].copy_from_slice(taken.as_chunks().0);
            }
        }
    }

    /// Computes the two dense steps of a layer.
    fn transform(&mut self, level: Level, layer: &Layer, count: usize) {
        let Weights { size, inner, .. } = *self.weights;
        let activations = &mut self.activations[..count * size];
        whole(level, activations, NORMALISED, &mut self.inputs);
        let sums = &mut self.sums[..count];
        for (number, block) in layer.inner.blocks.iter().enumerate() {
            kernels::products(
                level,
                &self.inputs,
                size / 2,
                Columns::Bytes(block.weights),
                sums,
            );
            let scales = block.scales.map(|scale| scale / NORMALISED);
            let out = &mut self.inner[number * LANES / 2..];
            kernels::activate(
                level,
                sums,
                &scales,
                &block.biases,
                ATTENDING,
                WHOLE_MAX,
                out,
                inner / 2,
            );
        }
        add_dense(
            level,
            &layer.outer,
            &self.inner,
            1.0 / ATTENDING,
            &mut self.sums,
            activations,
        );
        normalise(level, &layer.norm, activations);
    }

    /// Computes the probabilities of the classes.
    fn score(&mut self, level: Level, count: usize) -> &[f32] {
        let size = self.weights.size;
        let head = &self.weights.head;
        let classes = head.blocks.len() * LANES;
        whole(
            level,
            &self.activations[..count * size],
            NORMALISED,
            &mut self.inputs,
        );
        let sums = &mut self.sums[..count];
        for (number, block) in head.blocks.iter().enumerate() {
            kernels::products(
                level,
                &self.inputs,
                size / 2,
                Columns::Bytes(block.weights),
                sums,
            );
            let scales = block.scales.map(|scale| scale / NORMALISED);
            let out = &mut self.scores[number * LANES..];
            kernels::scale(level, sums, &scales, &block.biases, out, classes);
        }
        let scores = &mut self.scores[..count * classes];
        for row in scores.chunks_exact_mut(classes) {
            kernels::probabilities(level, row);
        }
        scores
    }
}

/// Sums as whole numbers of queries, keys and values.
fn attending(
    level: Level,
    sums: &[[i32; LANES]],
    block: &Block,
    most: f32,
    out: &mut [[i16; LANES]],
) {
    const FACTOR: f32 = ATTENDING / NORMALISED;
    let scales = block.scales.map(|scale| scale * FACTOR);
    let biases = block.biases.map(|bias| bias * ATTENDING);
    kernels::scale_to_whole(level, sums, &scales, &biases, most, out);
}

fn whole(level: Level, values: &[f32], factor: f32, out: &mut [Pair]) {
    kernels::to_whole(level, values, factor, WHOLE_MAX, out);
}

fn normalise(level: Level, norm: &Norm, rows: &mut [f32]) {
    kernels::normalise(level, rows, &norm.weights, &norm.biases);
}

/// Adds what a dense layer makes of `inputs` to the activations.
fn add_dense(
    level: Level,
    dense: &Dense,
    inputs: &[Pair],
    factor: f32,
    sums: &mut [[i32; LANES]],
    activations: &mut [f32],
) {
    let size = dense.blocks.len() * LANES;
    let sums = &mut sums[..activations.len() / size];
    for (number, block) in dense.blocks.iter().enumerate() {
        let columns = Columns::Bytes(block.weights);
        kernels::products(level, inputs, columns.pairs(), columns, sums);
        let scales = block.scales.map(|scale| scale * factor);
        let out = &mut activations[number * LANES..];
        kernels::scale_and_add(level, sums, &scales, &block.biases, out, size);
    }
}
