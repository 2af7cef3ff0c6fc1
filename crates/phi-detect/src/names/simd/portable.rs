//! The kernels in plain Rust, for every processor; what they compute is the law for the others.
//!
//! Written so that the compiler turns the inner loops into whatever vector
//! instructions every processor of the target has.
#![deny(unsafe_code)]

use super::{
    ACTIVATION_MAX, Dense, Gate, Lists, Row, TAGS_MAX, TAPS, TableRow, WEIGHT_SHIFT, WIDTH,
};

pub(super) fn embed(table: &[TableRow], lists: &Lists, out: &mut [Row]) {
    for (place, activations) in out.iter_mut().enumerate() {
        let mut sums = [0_i16; WIDTH];
        for part in 0..3 {
            for &row in lists.at(place + part) {
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

pub(super) fn convolve(
    layer: &Dense<TAPS, WIDTH>,
    dilation: usize,
    rows: &[u16],
    input: &[Row],
    output: &mut [Row],
) {
    for &row in rows {
        let row = usize::from(row);
        let mut sums = layer.bias;
        for tap in 0..3 {
            let weights = &layer.plain[tap * WIDTH..][..WIDTH];
            add_products(&mut sums, &input[row + tap * dilation - dilation], weights);
        }
        let residuals = input[row];
        for ((out, sum), residual) in output[row].iter_mut().zip(sums).zip(residuals) {
            *out = narrow(sum + (i32::from(residual) << WEIGHT_SHIFT));
        }
    }
}

pub(super) fn score(layer: &Dense<WIDTH, TAGS_MAX>, input: &Row) -> [i32; TAGS_MAX] {
    let mut scores = layer.bias;
    add_products(&mut scores, input, &layer.plain);
    scores
}

/// Adds each input times its weights.
///
/// About half of all activations are zero and are passed over. The others are taken
/// four at a time: two products fit 16 bits (at most 2 times 127 times 127), so that
/// half of the work is done in half the width.
#[inline(always)]
fn add_products<const OUT: usize>(sums: &mut [i32; OUT], input: &Row, weights: &[[i16; OUT]]) {
    let mut rest = non_zero(input);
    while rest != 0 {
        let [a, b, c, d] = std::array::from_fn(|_| take(&mut rest, input, weights));
        for output in 0..OUT {
            let first = a.0 * a.1[output] + b.0 * b.1[output];
            let second = c.0 * c.1[output] + d.0 * d.1[output];
            sums[output] += i32::from(first) + i32::from(second);
        }
    }
}

/// Takes the next input out of the set, with its weights; zero when none is left.
#[inline(always)]
fn take<'a, const OUT: usize>(
    rest: &mut u64,
    input: &Row,
    weights: &'a [[i16; OUT]],
) -> (i16, &'a [i16; OUT]) {
    let place = rest.trailing_zeros() as usize;
    let value = input.get(place).copied().unwrap_or(0);
    *rest &= rest.wrapping_sub(1);
    (i16::from(value), &weights[place % WIDTH])
}

/// Which inputs are not zero, one bit each.
fn non_zero(input: &Row) -> u64 {
    let mut set = 0;
    for (place, eight) in input.as_chunks().0.iter().enumerate() {
        // Adding 127 carries any activation but zero into the high bit of its byte.
        let high = (u64::from_le_bytes(*eight) + u64::MAX / 255 * 0x7F) >> 7 & u64::MAX / 255;
        // The multiplication gathers the eight bits in the top byte.
        set |= (high.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place);
    }
    set
}

/// The activation of a sum.
pub(super) fn narrow(sum: i32) -> u8 {
    ((sum + (1 << (WEIGHT_SHIFT - 1))) >> WEIGHT_SHIFT).clamp(0, ACTIVATION_MAX) as u8
}
