//! Kernels for x86-64. Callers have asked the processor for the features of a level (`Level::supported`).
#![allow(unsafe_code)]
#![allow(clippy::needless_range_loop)] // sums stay in registers when their places are constants

use std::arch::{asm, x86_64::*};

use crate::Level;
use crate::shapes::{LANES, Pair, Weights};

/// Rows computed together, so that each weight is loaded once for all of them, and those behind the last of these.
const ROWS_512: usize = 16;
const ROWS_256: usize = 4;
const REST: usize = 4;

/// Multiplies rows with a block of columns; `products` has checked that the rows are long enough.
pub(crate) fn products(
    level: Level,
    rows: &[Pair],
    stride: usize,
    weights: Weights<'_>,
    out: &mut [[i32; LANES]],
) {
    let together = if level == Level::Avx2 {
        ROWS_256
    } else {
        ROWS_512
    };
    let mut number = 0;
    while number < out.len() {
        let count = match out.len() - number {
            left if left >= together => together,
            left if left >= REST => REST,
            _ => 1,
        };
        let rows = &rows[number * stride..];
        let out = &mut out[number..number + count];
        match weights {
            Weights::Bytes(all) => tile(level, count, rows, stride, all, out),
            Weights::Words(all) => tile(level, count, rows, stride, all, out),
        }
        number += count;
    }
}

/// Weights of a pair of rows in one of the two stored forms.
trait Stored: Copy {
    /// The weights as sixteen pairs of 16-bit numbers.
    ///
    /// # Safety
    /// The processor must have AVX-512.
    unsafe fn load_512(&self) -> __m512i;
    /// Half of the weights, as eight pairs.
    ///
    /// # Safety
    /// The processor must have AVX2, and `half` must be 0 or 1.
    unsafe fn load_256(&self, half: usize) -> __m256i;
}

impl Stored for [u8; 2 * LANES] {
    #[inline(always)]
    unsafe fn load_512(&self) -> __m512i {
        // SAFETY: the array has the 32 bytes that are read; the caller has the features.
        unsafe { _mm512_cvtepi8_epi16(_mm256_loadu_si256(self.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn load_256(&self, half: usize) -> __m256i {
        // SAFETY: sixteen of the 32 bytes; the caller has the features.
        unsafe { _mm256_cvtepi8_epi16(_mm_loadu_si128(self.as_ptr().cast::<__m128i>().add(half))) }
    }
}

impl Stored for [Pair; LANES] {
    #[inline(always)]
    unsafe fn load_512(&self) -> __m512i {
        // SAFETY: the array has the 64 bytes that are read; the caller has the features.
        unsafe { _mm512_loadu_si512(self.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn load_256(&self, half: usize) -> __m256i {
        // SAFETY: 32 of the 64 bytes; the caller has the features.
        unsafe { _mm256_loadu_si256(self.as_ptr().cast::<__m256i>().add(half)) }
    }
}

/// Computes one row, a few, or as many as the level takes together.
#[inline(always)]
fn tile<W: Stored>(
    level: Level,
    count: usize,
    rows: &[Pair],
    stride: usize,
    weights: &[W],
    out: &mut [[i32; LANES]],
) {
    let rows = rows.as_ptr();
    // SAFETY: a level is only made for a processor that has its features, and `products` has checked the lengths.
    unsafe {
        match (level, count) {
            (Level::Avx512Vnni, 1) => tile_vnni::<W, 1>(rows, stride, weights, out),
            (Level::Avx512Vnni, REST) => tile_vnni::<W, REST>(rows, stride, weights, out),
            (Level::Avx512Vnni, _) => tile_vnni::<W, ROWS_512>(rows, stride, weights, out),
            (Level::Avx512, 1) => tile_512::<W, 1>(rows, stride, weights, out),
            (Level::Avx512, REST) => tile_512::<W, REST>(rows, stride, weights, out),
            (Level::Avx512, _) => tile_512::<W, ROWS_512>(rows, stride, weights, out),
            (_, 1) => tile_256::<W, 1>(rows, stride, weights, out),
            _ => tile_256::<W, ROWS_256>(rows, stride, weights, out),
        }
    }
}

/// # Safety
/// Each of the rows must have as many pairs as there are weights.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
unsafe fn tile_vnni<W: Stored, const ROWS: usize>(
    rows: *const Pair,
    stride: usize,
    weights: &[W],
    out: &mut [[i32; LANES]],
) {
    let mut sums = [_mm512_setzero_si512(); ROWS];
    for (pair, weight) in weights.iter().enumerate() {
        // SAFETY: the function has the features, and the pair is of the row.
        unsafe {
            let weight = weight.load_512();
            for row in 0..ROWS {
                add_products(&mut sums[row], weight, rows.add(row * stride + pair));
            }
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        // SAFETY: the array has sixteen numbers of 32 bits.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sum) };
    }
}

/// # Safety
/// Each of the rows must have as many pairs as there are weights.
#[target_feature(enable = "avx2,avx512f,avx512bw")]
unsafe fn tile_512<W: Stored, const ROWS: usize>(
    rows: *const Pair,
    stride: usize,
    weights: &[W],
    out: &mut [[i32; LANES]],
) {
    let mut sums = [_mm512_setzero_si512(); ROWS];
    for (pair, weight) in weights.iter().enumerate() {
        // SAFETY: the function has the features, and the pair is of the row.
        unsafe {
            let weight = weight.load_512();
            for row in 0..ROWS {
                let two = _mm512_set1_epi32(pair_at(rows, row * stride + pair));
                sums[row] = _mm512_add_epi32(sums[row], _mm512_madd_epi16(two, weight));
            }
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        // SAFETY: the array has sixteen numbers of 32 bits.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sum) };
    }
}

/// # Safety
/// Each of the rows must have as many pairs as there are weights.
#[target_feature(enable = "avx2")]
unsafe fn tile_256<W: Stored, const ROWS: usize>(
    rows: *const Pair,
    stride: usize,
    weights: &[W],
    out: &mut [[i32; LANES]],
) {
    let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
    for (pair, weight) in weights.iter().enumerate() {
        // SAFETY: the function has the features, and the pair is of the row.
        unsafe {
            let weight = [weight.load_256(0), weight.load_256(1)];
            for row in 0..ROWS {
                let two = _mm256_set1_epi32(pair_at(rows, row * stride + pair));
                for half in 0..2 {
                    let products = _mm256_madd_epi16(two, weight[half]);
                    sums[row][half] = _mm256_add_epi32(sums[row][half], products);
                }
            }
        }
    }
    for (out, sums) in out.iter_mut().zip(sums) {
        for (half, sum) in sums.into_iter().enumerate() {
            // SAFETY: eight numbers of 32 bits, in either half of the array.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast::<__m256i>().add(half), sum) };
        }
    }
}

/// Adds the products of one pair of a row with sixteen pairs of weights.
///
/// Written as an instruction, because the compiler makes two of the intrinsic for it: a product and a sum.
///
/// # Safety
/// The processor must have AVX-512 with VNNI, and the pair must be readable.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn add_products(sum: &mut __m512i, weight: __m512i, pair: *const Pair) {
    // SAFETY: the instruction reads the 32 bits of the pair, and changes nothing but the sum.
    unsafe {
        asm!(
            "vpdpwssd {sum}, {weight}, dword ptr [{pair}]{{1to16}}",
            sum = inout(zmm_reg) *sum,
            weight = in(zmm_reg) weight,
            pair = in(reg) pair,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
}

/// Two numbers of a row as one of 32 bits.
///
/// # Safety
/// The pair must be of the rows.
#[inline(always)]
unsafe fn pair_at(rows: *const Pair, at: usize) -> i32 {
    // SAFETY: a pair has 32 bits.
    unsafe { rows.add(at).cast::<i32>().read_unaligned() }
}
