//! The kernels in plain Rust, for every processor, and the reference for all other kernels.
//!
//! Written so that the compiler turns the inner loops into whatever vector
//! instructions every processor of the target has.
#![deny(unsafe_code)]

use super::{
    ACTIVATION_MAX, Convolution, Dense, Gate, Lists, Row, TAGS_MAX, TAPS, TableRow, WEIGHT_SHIFT,
    WIDTH,
};

pub(super) fn embed(table: &[TableRow], lists: &Lists, first: usize, out: &mut [Row]) {
    for (place, activations) in (first..).zip(out) {
        let mut sums = [0_i16; WIDTH];
        for (part, head) in lists.heads(place).iter().enumerate() {
            for &row in head.iter().chain(lists.rest_at(place + part)) {
                let values = &table[row as usize].as_chunks::<WIDTH>().0[part];
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum = sum.wrapping_add(i16::from(*value as i8));
                }
            }
        }
        for (activation, sum) in activations.iter_mut().zip(sums) {
            *activation = (sum.saturating_add(1) >> 1).clamp(0, ACTIVATION_MAX as i16) as u8;
        }
    }
}

pub(super) fn gate(gate: &Gate, rows: &[Row]) -> u64 {
    let mut passing = 0;
    for (place, row) in rows.iter().enumerate() {
        let products = row.iter().zip(&gate.weights);
        let sum: i32 = products
            .map(|(value, weight)| i32::from(i16::from(*value) * i16::from(*weight)))
            .sum();
        passing |= u64::from(sum + gate.bias > 0) << place;
    }
    passing
}

pub(super) fn convolve<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (dilation, layer) = (layer.dilation, &layer.parts[part]);
    for &row in rows {
        let row = usize::from(row);
        let inputs = Inputs::of([&input[row - dilation], &input[row], &input[row + dilation]]);
        let mut sums = layer.bias;
        for (values, places) in inputs.fours() {
            let weights = places.map(|place| &layer.plain[usize::from(place)]);
            let first = two_products([values[0], values[1]], [weights[0], weights[1]]);
            let second = two_products([values[2], values[3]], [weights[2], weights[3]]);
            for ((sum, first), second) in sums.iter_mut().zip(first).zip(second) {
                *sum += i32::from(first) + i32::from(second);
            }
        }
        finish(&sums, &input[row][part % IN], &mut output[row][part]);
    }
}

/// Multiplies two inputs by their weights, for every output. The sum fits 16 bits: it is at most 2 times 127 times 127.
/// So the multiplications are done in half the width of the sums.
#[inline(always)]
fn two_products(values: [i16; 2], weights: [&[i16; WIDTH]; 2]) -> [i16; WIDTH] {
    std::array::from_fn(|output| values[0] * weights[0][output] + values[1] * weights[1][output])
}

/// Adds the residual and narrows to activations.
pub(super) fn finish(sums: &[i32; WIDTH], residuals: &Row, output: &mut Row) {
    for ((out, sum), residual) in output.iter_mut().zip(sums).zip(residuals) {
        *out = narrow(sum + (i32::from(*residual) << WEIGHT_SHIFT));
    }
}

/// The inputs of a convolution that are not zero; about half of all are.
struct Inputs<const IN: usize> {
    values: [[[i16; WIDTH]; IN]; TAPS],
    places: [[[u16; WIDTH]; IN]; TAPS],
    /// A multiple of four: the last are filled up with zeros.
    count: usize,
}

impl<const IN: usize> Inputs<IN> {
    #[inline(always)]
    fn of(taps: [&[Row; IN]; TAPS]) -> Self {
        let mut inputs = Inputs {
            values: [[[0; WIDTH]; IN]; TAPS],
            places: [[[0; WIDTH]; IN]; TAPS],
            count: 0,
        };
        let values = inputs.values.as_flattened_mut().as_flattened_mut();
        let places = inputs.places.as_flattened_mut().as_flattened_mut();
        let mut count = 0;
        for (part, row) in taps.into_iter().flatten().enumerate() {
            let mut rest = non_zero(row);
            while rest != 0 {
                let place = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                values[count] = i16::from(row[place]);
                places[count] = (part * WIDTH + place) as u16;
                count += 1;
            }
        }
        inputs.count = count.next_multiple_of(4);
        inputs
    }

    /// Iterates over four values each, and their inputs.
    #[inline(always)]
    fn fours(&self) -> impl Iterator<Item = ([i16; 4], [u16; 4])> {
        let values = self.values.as_flattened().as_flattened();
        let places = self.places.as_flattened().as_flattened();
        let values = values[..self.count].as_chunks().0;
        let places = places[..self.count].as_chunks().0;
        values.iter().copied().zip(places.iter().copied())
    }
}

/// Returns which inputs are not zero, one bit each.
#[inline(always)]
pub(super) fn non_zero(input: &Row) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let mut set = 0;
    for (place, eight) in input.as_chunks().0.iter().enumerate() {
        // Adding 127 carries any activation but zero into the high bit of its byte.
        let high = ((u64::from_le_bytes(*eight) + ONES * 0x7F) >> 7) & ONES;
        // The multiplication gathers the eight bits in the top byte.
        set |= (high.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place);
    }
    set
}

pub(super) fn score<const IN: usize>(
    layer: &Dense<TAGS_MAX>,
    input: &[Row; IN],
) -> [i32; TAGS_MAX] {
    let mut scores = layer.bias;
    for (value, weights) in input.as_flattened().iter().zip(&layer.plain) {
        for (score, weight) in scores.iter_mut().zip(weights) {
            *score += i32::from(i16::from(*value) * weight);
        }
    }
    scores
}

/// Returns the weighted sum of the units of a screen.
#[inline(always)]
pub(super) fn weigh(units: &[i32; TAGS_MAX], weights: &[i8; TAGS_MAX]) -> i32 {
    let units = units.iter().map(|unit| unit.max(&0) >> WEIGHT_SHIFT);
    let products = units
        .zip(weights)
        .map(|(unit, weight)| unit * i32::from(*weight));
    products.sum()
}

/// Returns the activation of a sum.
fn narrow(sum: i32) -> u8 {
    ((sum + (1 << (WEIGHT_SHIFT - 1))) >> WEIGHT_SHIFT).clamp(0, ACTIVATION_MAX) as u8
}
