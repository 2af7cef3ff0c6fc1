//! Kernels for 64-bit ARM, all of whose processors have NEON.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use crate::shapes::{LANES, Pair, Weights};

/// Rows computed together, so that each weight is loaded once for all of them.
const ROWS: usize = 4;
/// Sums of a vector, and vectors of a row of sums.
const WIDTH: usize = 4;
const VECTORS: usize = LANES / WIDTH;

/// Multiplies rows with a block of columns; `products` has checked that the rows are long enough.
pub(crate) fn products(
    rows: &[Pair],
    stride: usize,
    weights: Weights<'_>,
    out: &mut [[i32; LANES]],
) {
    let mut number = 0;
    while number < out.len() {
        let count = if out.len() - number >= ROWS { ROWS } else { 1 };
        let rows = &rows[number * stride..];
        let out = &mut out[number..number + count];
        match weights {
            Weights::Bytes(all) => tile(count, rows, stride, all, out),
            Weights::Words(all) => tile(count, rows, stride, all, out),
        }
        number += count;
    }
}

/// Weights of a pair of rows in one of the two stored forms.
trait Stored {
    /// The weights of the first and of the second row, as four vectors of 16-bit numbers: columns 0 to 7 and 8 to 15 of each.
    fn load(&self) -> [[int16x8_t; 2]; 2];
}

impl Stored for [u8; 2 * LANES] {
    #[inline(always)]
    fn load(&self) -> [[int16x8_t; 2]; 2] {
        // SAFETY: the array has the 32 bytes that are read, and every processor of this kind has NEON.
        unsafe {
            let int8x16x2_t(first, second) = vld2q_s8(self.as_ptr().cast());
            let wide = |all| [vmovl_s8(vget_low_s8(all)), vmovl_high_s8(all)];
            [wide(first), wide(second)]
        }
    }
}

impl Stored for [Pair; LANES] {
    #[inline(always)]
    fn load(&self) -> [[int16x8_t; 2]; 2] {
        let at = self.as_ptr().cast::<i16>();
        // SAFETY: the array has the 32 numbers that are read, and every processor of this kind has NEON.
        unsafe {
            let int16x8x2_t(first, second) = vld2q_s16(at);
            let int16x8x2_t(third, fourth) = vld2q_s16(at.add(LANES));
            [[first, third], [second, fourth]]
        }
    }
}

fn tile<W: Stored>(
    count: usize,
    rows: &[Pair],
    stride: usize,
    weights: &[W],
    out: &mut [[i32; LANES]],
) {
    if count == ROWS {
        tile_of::<W, ROWS>(rows, stride, weights, out);
    } else {
        tile_of::<W, 1>(rows, stride, weights, out);
    }
}

#[inline(always)]
fn tile_of<W: Stored, const ROWS: usize>(
    rows: &[Pair],
    stride: usize,
    weights: &[W],
    out: &mut [[i32; LANES]],
) {
    // SAFETY: every processor of this kind has NEON.
    let mut sums = [[unsafe { vdupq_n_s32(0) }; VECTORS]; ROWS];
    for (pair, weight) in weights.iter().enumerate() {
        let weight = weight.load();
        for (row, sums) in sums.iter_mut().enumerate() {
            let two = rows[row * stride + pair];
            for (number, [low, high]) in two.into_iter().zip(weight) {
                // SAFETY: as above.
                unsafe {
                    sums[0] = vmlal_n_s16(sums[0], vget_low_s16(low), number);
                    sums[1] = vmlal_high_n_s16(sums[1], low, number);
                    sums[2] = vmlal_n_s16(sums[2], vget_low_s16(high), number);
                    sums[3] = vmlal_high_n_s16(sums[3], high, number);
                }
            }
        }
    }
    for (out, sums) in out.iter_mut().zip(sums) {
        for (four, sum) in out.as_chunks_mut::<WIDTH>().0.iter_mut().zip(sums) {
            // SAFETY: four numbers of 32 bits are written to four.
            unsafe { vst1q_s32(four.as_mut_ptr(), sum) };
        }
    }
}
