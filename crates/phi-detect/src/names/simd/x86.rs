//! The kernels for x86-64. Loads and stores go through array references of the exact size.
#![allow(clippy::needless_range_loop)] // see `convolve_block`

use super::portable::{self, finish, non_zero};
use super::stretches::STRETCH;
use super::{
    ACTIVATION_MAX, Convolution, Dense, Gate, Lists, Row, TAGS_MAX, TAPS, TableRow, WEIGHT_SHIFT,
    WIDTH,
};
use std::arch::x86_64::*;

/// Outputs whose 32-bit sums fit half of the registers of 128 bits.
const LANES: usize = 32;

/// Rows computed together, to load each weight once for all of them.
const BLOCK: usize = 4;

/// Groups of four channels in a row.
const GROUPS: usize = WIDTH / 4;

#[inline(always)]
pub(super) fn prefetch(line: &[u8]) {
    // SAFETY: every x86-64 processor has this instruction, and it may be given any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
}

#[target_feature(enable = "avx2,avx512f,avx512bw")]
pub(super) fn embed_512(table: &[TableRow], lists: &Lists, first: usize, out: &mut [Row]) {
    let one = _mm512_set1_epi16(1);
    for index in 0..out.len() {
        let place = first + index;
        let heads = lists.heads(place);
        let mut sums = [_mm512_setzero_si512(); 2];
        for part in 0..3 {
            let two = heads[part].map(|row| &table[row as usize]);
            add_rows_512(load_part(two[0], part), load_part(two[1], part), &mut sums);
        }
        if lists.has_rest(place) {
            for part in 0..3 {
                for &row in lists.rest_at(place + part) {
                    let row = load_part(&table[row as usize], part);
                    add_rows_512(row, _mm512_setzero_si512(), &mut sums);
                }
            }
        }
        for half in 0..2 {
            sums[half] = _mm512_srai_epi16::<1>(_mm512_adds_epi16(sums[half], one));
        }
        // Packing stops at 0 and 255.
        let sum = _mm512_packus_epi16(sums[0], sums[1]);
        let sum = _mm512_min_epu8(sum, _mm512_set1_epi8(ACTIVATION_MAX as i8));
        // SAFETY: all 64 channels.
        unsafe { _mm512_storeu_si512(out[index].as_mut_ptr().cast(), sum) };
    }
}

/// Adds two rows. Interleaved, they need no widening: products by one are added up by twos. The first sums are those of
/// the lower half of each quarter of the channels, which packing puts in order again.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw")]
fn add_rows_512(one: __m512i, other: __m512i, sums: &mut [__m512i; 2]) {
    let ones = _mm512_set1_epi8(1);
    let low = _mm512_maddubs_epi16(ones, _mm512_unpacklo_epi8(one, other));
    let high = _mm512_maddubs_epi16(ones, _mm512_unpackhi_epi8(one, other));
    *sums = [
        _mm512_add_epi16(sums[0], low),
        _mm512_add_epi16(sums[1], high),
    ];
}

/// Loads one of the three parts of a table's row.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw")]
fn load_part(row: &TableRow, part: usize) -> __m512i {
    load_row(&row.as_chunks::<WIDTH>().0[part])
}

/// Loads 64 bytes.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw")]
fn load_row<T>(bytes: &[T; WIDTH]) -> __m512i {
    const { assert!(size_of::<T>() == 1) };
    // SAFETY: the array holds the 64 bytes that are read.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
pub(super) fn embed_256(table: &[TableRow], lists: &Lists, first: usize, out: &mut [Row]) {
    let one = _mm256_set1_epi16(1);
    for index in 0..out.len() {
        let place = first + index;
        let heads = lists.heads(place);
        let mut sums = [[_mm256_setzero_si256(); 2]; 2];
        for part in 0..3 {
            let two = heads[part].map(|row| &table[row as usize].as_chunks::<WIDTH>().0[part]);
            for half in 0..2 {
                let two = [load_bytes(two[0], half * 32), load_bytes(two[1], half * 32)];
                add_rows_256(two[0], two[1], &mut sums[half]);
            }
        }
        if lists.has_rest(place) {
            for part in 0..3 {
                for &row in lists.rest_at(place + part) {
                    let row = &table[row as usize].as_chunks::<WIDTH>().0[part];
                    for half in 0..2 {
                        let row = load_bytes(row, half * 32);
                        add_rows_256(row, _mm256_setzero_si256(), &mut sums[half]);
                    }
                }
            }
        }
        for half in 0..2 {
            for sum in 0..2 {
                let rounded = _mm256_adds_epi16(sums[half][sum], one);
                sums[half][sum] = _mm256_srai_epi16::<1>(rounded);
            }
            // Packing stops at 0 and 255.
            let sum = _mm256_packus_epi16(sums[half][0], sums[half][1]);
            let sum = _mm256_min_epu8(sum, _mm256_set1_epi8(ACTIVATION_MAX as i8));
            // SAFETY: 32 of the 64 channels, from a multiple of 32.
            unsafe { _mm256_storeu_si256(out[index].as_mut_ptr().add(half * 32).cast(), sum) };
        }
    }
}

/// Adds half of two rows, see `add_rows_512`.
#[inline]
#[target_feature(enable = "avx2")]
fn add_rows_256(one: __m256i, other: __m256i, sums: &mut [__m256i; 2]) {
    let ones = _mm256_set1_epi8(1);
    let low = _mm256_maddubs_epi16(ones, _mm256_unpacklo_epi8(one, other));
    let high = _mm256_maddubs_epi16(ones, _mm256_unpackhi_epi8(one, other));
    *sums = [
        _mm256_add_epi16(sums[0], low),
        _mm256_add_epi16(sums[1], high),
    ];
}

/// Runs the gate for little work, see `Level::gentle`: every token is asked.
#[target_feature(enable = "avx2")]
pub(super) fn gate_128(gate: &Gate, rows: &[Row]) -> u64 {
    let ones = _mm_set1_epi16(1);
    let mut passing = 0;
    for (place, row) in rows.iter().enumerate() {
        let mut sums = _mm_setzero_si128();
        for part in 0..WIDTH / 16 {
            // SAFETY: 16 of the 64 channels, from a multiple of 16.
            let (values, weights) = unsafe {
                (
                    _mm_loadu_si128(row.as_ptr().add(part * 16).cast()),
                    _mm_loadu_si128(gate.weights.as_ptr().add(part * 16).cast()),
                )
            };
            let pairs = _mm_maddubs_epi16(values, weights);
            sums = _mm_add_epi32(sums, _mm_madd_epi16(pairs, ones));
        }
        passing |= u64::from(sum_of(sums) + gate.bias > 0) << place;
    }
    passing
}

#[target_feature(enable = "avx2")]
pub(super) fn gate_256(gate: &Gate, rows: &[Row]) -> u64 {
    let ones = _mm256_set1_epi16(1);
    let weights = [load_bytes(&gate.weights, 0), load_bytes(&gate.weights, 32)];
    let mut passing = 0;
    for (place, row) in rows.iter().enumerate() {
        let low = _mm256_maddubs_epi16(load_bytes(row, 0), weights[0]);
        let high = _mm256_maddubs_epi16(load_bytes(row, 32), weights[1]);
        let sums = _mm256_add_epi32(_mm256_madd_epi16(low, ones), _mm256_madd_epi16(high, ones));
        let sums = _mm_add_epi32(
            _mm256_castsi256_si128(sums),
            _mm256_extracti128_si256::<1>(sums),
        );
        passing |= u64::from(sum_of(sums) + gate.bias > 0) << place;
    }
    passing
}

/// Runs the gate with dot products, sixteen tokens at a time.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
pub(super) fn gate_512(gate: &Gate, rows: &[Row]) -> u64 {
    let weights = load_row(&gate.weights);
    let bound = _mm512_set1_epi32(-gate.bias);
    let (blocks, rest) = rows.as_chunks::<16>();
    let mut passing = 0;
    for block in 0..blocks.len() {
        let mut sums = [_mm512_setzero_si512(); 16];
        for place in 0..16 {
            sums[place] = products(&blocks[block][place], weights);
        }
        let above = _mm512_cmpgt_epi32_mask(sums_of_sixteen(&sums), bound);
        passing |= u64::from(above) << (block * 16);
    }
    for place in 0..rest.len() {
        let sum = _mm512_reduce_add_epi32(products(&rest[place], weights));
        passing |= u64::from(sum + gate.bias > 0) << (blocks.len() * 16 + place);
    }
    passing
}

/// Multiplies a row by the weights of its channels, and adds the products up by fours.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
fn products(row: &Row, weights: __m512i) -> __m512i {
    _mm512_dpbusd_epi32(_mm512_setzero_si512(), load_row(row), weights)
}

/// Returns the sum of all lanes of each of sixteen vectors, in their order.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw")]
fn sums_of_sixteen(vectors: &[__m512i; 16]) -> __m512i {
    // The sums of four vectors side by side, once for every quarter of a register.
    let mut fours = [_mm512_setzero_si512(); 4];
    for four in 0..4 {
        let mut twos = [_mm512_setzero_si512(); 2];
        for two in 0..2 {
            let (one, other) = (vectors[four * 4 + two * 2], vectors[four * 4 + two * 2 + 1]);
            let low = _mm512_unpacklo_epi32(one, other);
            twos[two] = _mm512_add_epi32(low, _mm512_unpackhi_epi32(one, other));
        }
        let low = _mm512_unpacklo_epi64(twos[0], twos[1]);
        fours[four] = _mm512_add_epi32(low, _mm512_unpackhi_epi64(twos[0], twos[1]));
    }
    let first = added_quarters(fours[0], fours[1]);
    added_quarters(first, added_quarters(fours[2], fours[3]))
}

/// Adds up neighbouring quarters of both, those of the first vector first.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw")]
fn added_quarters(one: __m512i, other: __m512i) -> __m512i {
    let even = _mm512_shuffle_i32x4::<0b10_00_10_00>(one, other);
    _mm512_add_epi32(even, _mm512_shuffle_i32x4::<0b11_01_11_01>(one, other))
}

/// Returns the sum of all four lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn sum_of(lanes: __m128i) -> i32 {
    let twos = _mm_add_epi32(lanes, _mm_shuffle_epi32::<0b01_00_11_10>(lanes));
    _mm_cvtsi128_si32(_mm_add_epi32(
        twos,
        _mm_shuffle_epi32::<0b10_11_00_01>(twos),
    ))
}

/// Computes the scores for little work: products are added up in 16 bits first, which saves a step for each of four
/// registers.
#[target_feature(enable = "avx2")]
pub(super) fn score_128<const IN: usize>(
    layer: &Dense<TAGS_MAX>,
    input: &[Row; IN],
) -> [i32; TAGS_MAX] {
    let ones = _mm_set1_epi16(1);
    let values: &[[u8; 4]] = input.as_flattened().as_chunks().0;
    let mut sums = [_mm_setzero_si128(); TAGS_MAX / 4];
    for stretch in &layer.stretches {
        let mut shorts = [_mm_setzero_si128(); TAGS_MAX / 4];
        for group in 0..STRETCH {
            let four = values[usize::from(stretch.groups[group])];
            let values = _mm_set1_epi32(i32::from_le_bytes(four));
            let weights = &stretch.weights[group].0;
            for lane in 0..TAGS_MAX / 4 {
                let products = _mm_maddubs_epi16(values, load_fours(weights, lane * 4));
                shorts[lane] = _mm_add_epi16(shorts[lane], products);
            }
        }
        for lane in 0..TAGS_MAX / 4 {
            sums[lane] = _mm_add_epi32(sums[lane], _mm_madd_epi16(shorts[lane], ones));
        }
    }
    let mut scores = layer.bias;
    for lane in 0..TAGS_MAX / 4 {
        // SAFETY: four of the sixteen scores, from a multiple of four.
        unsafe {
            let place = scores.as_mut_ptr().add(lane * 4).cast();
            _mm_storeu_si128(place, _mm_add_epi32(sums[lane], _mm_loadu_si128(place)));
        }
    }
    scores
}

#[target_feature(enable = "avx2")]
pub(super) fn score_256<const IN: usize>(
    layer: &Dense<TAGS_MAX>,
    input: &[Row; IN],
) -> [i32; TAGS_MAX] {
    let ones = _mm256_set1_epi16(1);
    let values: &[[u8; 4]] = input.as_flattened().as_chunks().0;
    let weights = &layer.packed[..values.len()];
    let mut sums = [load_i32(&layer.bias, 0), load_i32(&layer.bias, 8)];
    for group in 0..values.len() {
        let values = _mm256_set1_epi32(i32::from_le_bytes(values[group]));
        for half in 0..2 {
            let pairs = _mm256_maddubs_epi16(values, load_256(&weights[group].0, half * 8));
            sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(pairs, ones));
        }
    }
    let mut scores = [0; TAGS_MAX];
    for half in 0..2 {
        // SAFETY: eight lanes fit at 0 and at 8 of sixteen.
        unsafe { _mm256_storeu_si256(scores.as_mut_ptr().add(half * 8).cast(), sums[half]) };
    }
    scores
}

#[target_feature(enable = "avx2,avx512f,avx512bw")]
pub(super) fn score_512<const IN: usize>(
    layer: &Dense<TAGS_MAX>,
    input: &[Row; IN],
) -> [i32; TAGS_MAX] {
    let ones = _mm512_set1_epi16(1);
    let values: &[[u8; 4]] = input.as_flattened().as_chunks().0;
    let weights = &layer.packed[..values.len()];
    // SAFETY: sixteen sums.
    let mut sums = unsafe { _mm512_loadu_si512(layer.bias.as_ptr().cast()) };
    for group in 0..values.len() {
        let values = _mm512_set1_epi32(i32::from_le_bytes(values[group]));
        let pairs = _mm512_maddubs_epi16(values, load_512(&weights[group].0, 0));
        sums = _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, ones));
    }
    let mut scores = [0; TAGS_MAX];
    // SAFETY: as above.
    unsafe { _mm512_storeu_si512(scores.as_mut_ptr().cast(), sums) };
    scores
}

/// Computes the scores with dot products.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
pub(super) fn score_512_vnni<const IN: usize>(
    layer: &Dense<TAGS_MAX>,
    input: &[Row; IN],
) -> [i32; TAGS_MAX] {
    // A dot product has a latency of several steps: `SUMS` independent sums keep the pipeline full.
    const SUMS: usize = 4;
    let values: &[[u8; 4]] = input.as_flattened().as_chunks().0;
    let weights = &layer.packed[..values.len()];
    let mut sums = [_mm512_setzero_si512(); SUMS];
    // SAFETY: sixteen sums.
    sums[0] = unsafe { _mm512_loadu_si512(layer.bias.as_ptr().cast()) };
    for group in (0..values.len()).step_by(SUMS) {
        for sum in 0..SUMS {
            let four = _mm512_set1_epi32(i32::from_le_bytes(values[group + sum]));
            let weights = load_512(&weights[group + sum].0, 0);
            sums[sum] = _mm512_dpbusd_epi32(sums[sum], four, weights);
        }
    }
    let low = _mm512_add_epi32(sums[0], sums[1]);
    let sum = _mm512_add_epi32(low, _mm512_add_epi32(sums[2], sums[3]));
    let mut scores = [0; TAGS_MAX];
    // SAFETY: as above.
    unsafe { _mm512_storeu_si512(scores.as_mut_ptr().cast(), sum) };
    scores
}

/// Returns the weighted sum of the units of a screen.
#[target_feature(enable = "avx2")]
pub(super) fn weigh(units: &[i32; TAGS_MAX], weights: &[i8; TAGS_MAX]) -> i32 {
    portable::weigh(units, weights)
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
pub(super) fn convolve_512<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (blocks, rest) = rows.as_chunks();
    for block in blocks {
        convolve_block::<BLOCK, IN, OUT>(layer, part, block, input, output);
    }
    match *rest {
        [] => {}
        [one] => convolve_block(layer, part, &[one], input, output),
        [one, two] => convolve_block(layer, part, &[one, two], input, output),
        [one, two, three] => convolve_block(layer, part, &[one, two, three], input, output),
        _ => unreachable!("a rest is shorter than a block"),
    }
}

/// Computes rows that share the weights.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
fn convolve_block<const ROWS: usize, const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16; ROWS],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (dilation, layer) = (layer.dilation, &layer.parts[part]);
    // Plain counted loops: iterators over vectors and closures are not always
    // compiled for this processor, and then cost a call per instruction.
    let mut sums = [[_mm512_setzero_si512(); WIDTH / 16]; ROWS];
    // The parts of three positions.
    for place in 0..TAPS * IN {
        let (shift, from) = (place / IN * dilation, place % IN);
        let taps = rows.map(|row| &input[usize::from(row) + shift - dilation][from]);
        for group in 0..GROUPS {
            let weights = &layer.packed[place * GROUPS + group].0;
            let lanes = [
                load_512(weights, 0),
                load_512(weights, 16),
                load_512(weights, 32),
                load_512(weights, 48),
            ];
            for row in 0..ROWS {
                let four = taps[row].as_chunks().0[group];
                let values = _mm512_set1_epi32(i32::from_le_bytes(four));
                for lane in 0..WIDTH / 16 {
                    sums[row][lane] = _mm512_dpbusd_epi32(sums[row][lane], values, lanes[lane]);
                }
            }
        }
    }
    for place in 0..ROWS {
        let row = usize::from(rows[place]);
        let residual = &input[row][part % IN];
        finish_512(layer, residual, &sums[place], &mut output[row][part]);
    }
}

/// Adds bias and residual, and narrows to activations.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw")]
fn finish_512(layer: &Dense<WIDTH>, input: &Row, sums: &[__m512i; WIDTH / 16], output: &mut Row) {
    let half = _mm512_set1_epi32(1 << (WEIGHT_SHIFT - 1));
    for part in 0..WIDTH / 16 {
        let sum = sums[part];
        // SAFETY: 16 of the 64 channels, from a multiple of 16.
        let (residual, bias) = unsafe {
            (
                _mm_loadu_si128(input.as_ptr().add(part * 16).cast()),
                _mm512_loadu_si512(layer.bias.as_ptr().add(part * 16).cast()),
            )
        };
        let residual = _mm512_slli_epi32::<{ WEIGHT_SHIFT as u32 }>(_mm512_cvtepu8_epi32(residual));
        let sum = _mm512_add_epi32(_mm512_add_epi32(sum, bias), residual);
        let sum = _mm512_srai_epi32::<{ WEIGHT_SHIFT as u32 }>(_mm512_add_epi32(sum, half));
        let sum = _mm512_max_epi32(sum, _mm512_setzero_si512());
        let sum = _mm512_min_epi32(sum, _mm512_set1_epi32(ACTIVATION_MAX));
        // SAFETY: as above.
        unsafe {
            _mm_storeu_si128(
                output.as_mut_ptr().add(part * 16).cast(),
                _mm512_cvtepi32_epi8(sum),
            );
        }
    }
}

/// Computes one part of a convolution without dot products: pairs of products are added up in 16 bits for as long as
/// they fit, and then in 32.
#[target_feature(enable = "avx2,avx512f,avx512bw")]
pub(super) fn convolve_512_by_twos<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (dilation, layer) = (layer.dilation, &layer.parts[part]);
    let ones = _mm512_set1_epi16(1);
    for &row in rows {
        let row = usize::from(row);
        let values = fours([&input[row - dilation], &input[row], &input[row + dilation]]);
        let values = values.as_flattened().as_flattened();
        let mut sums = [_mm512_setzero_si512(); WIDTH / 16];
        for stretch in &layer.stretches {
            let mut shorts = [_mm512_setzero_si512(); WIDTH / 16];
            for group in 0..STRETCH {
                let values = _mm512_set1_epi32(values[usize::from(stretch.groups[group])]);
                let weights = &stretch.weights[group].0;
                for lane in 0..WIDTH / 16 {
                    let products = _mm512_maddubs_epi16(values, load_512(weights, lane * 16));
                    shorts[lane] = _mm512_add_epi16(shorts[lane], products);
                }
            }
            for lane in 0..WIDTH / 16 {
                let wide = _mm512_madd_epi16(shorts[lane], ones);
                sums[lane] = _mm512_add_epi32(sums[lane], wide);
            }
        }
        let residual = &input[row][part % IN];
        finish_512(layer, residual, &sums, &mut output[row][part]);
    }
}

/// Computes one part of a convolution with registers of 128 bits.
#[target_feature(enable = "avx2")]
pub(super) fn convolve_by_128<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (dilation, layer) = (layer.dilation, &layer.parts[part]);
    let ones = _mm_set1_epi16(1);
    for &row in rows {
        let row = usize::from(row);
        let values = fours([&input[row - dilation], &input[row], &input[row + dilation]]);
        let values = values.as_flattened().as_flattened();
        let mut sums = [[_mm_setzero_si128(); 4]; WIDTH / 16];
        // Sixteen outputs at a time: more sums than that there are no registers for.
        for first in 0..WIDTH / 16 {
            for stretch in &layer.stretches {
                let mut shorts = [_mm_setzero_si128(); 4];
                for group in 0..STRETCH {
                    let values = _mm_set1_epi32(values[usize::from(stretch.groups[group])]);
                    let weights = &stretch.weights[group].0;
                    for lane in 0..4 {
                        let weights = load_fours(weights, first * 16 + lane * 4);
                        let products = _mm_maddubs_epi16(values, weights);
                        shorts[lane] = _mm_add_epi16(shorts[lane], products);
                    }
                }
                for lane in 0..4 {
                    let wide = _mm_madd_epi16(shorts[lane], ones);
                    sums[first][lane] = _mm_add_epi32(sums[first][lane], wide);
                }
            }
        }
        let mut halves = [[_mm256_setzero_si256(); 4]; 2];
        for eight in 0..WIDTH / 8 {
            let two = &sums[eight / 2][eight % 2 * 2..];
            halves[eight / 4][eight % 4] = _mm256_set_m128i(two[1], two[0]);
        }
        let (residual, output) = (&input[row][part % IN], &mut output[row][part]);
        finish_256::<0>(layer, residual, &halves[0], output);
        finish_256::<{ WIDTH / 2 }>(layer, residual, &halves[1], output);
    }
}

/// Returns the inputs of a convolution side by side, four to a number.
#[inline]
#[target_feature(enable = "avx2")]
fn fours<const IN: usize>(taps: [&[Row; IN]; TAPS]) -> [[[i32; GROUPS]; IN]; TAPS] {
    let mut fours = [[[0; GROUPS]; IN]; TAPS];
    for tap in 0..TAPS {
        for part in 0..IN {
            for half in 0..2 {
                let bytes = load_bytes(&taps[tap][part], half * 32);
                // SAFETY: 8 of the 16 numbers, from a multiple of 8.
                unsafe {
                    let place = fours[tap][part].as_mut_ptr().add(half * 8).cast();
                    _mm256_storeu_si256(place, bytes);
                }
            }
        }
    }
    fours
}

/// Computes one part of a convolution with registers of 256 bits.
#[target_feature(enable = "avx2")]
pub(super) fn convolve_256_by_twos<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (dilation, layer) = (layer.dilation, &layer.parts[part]);
    let ones = _mm256_set1_epi16(1);
    for &row in rows {
        let row = usize::from(row);
        let values = fours([&input[row - dilation], &input[row], &input[row + dilation]]);
        let values = values.as_flattened().as_flattened();
        // Half of the outputs at a time, as there are registers for.
        let mut halves = [[_mm256_setzero_si256(); 4]; 2];
        for half in 0..2 {
            for stretch in &layer.stretches {
                let mut shorts = [_mm256_setzero_si256(); 4];
                for group in 0..STRETCH {
                    let values = _mm256_set1_epi32(values[usize::from(stretch.groups[group])]);
                    let weights = &stretch.weights[group].0;
                    for lane in 0..4 {
                        let weights = load_256(weights, half * 32 + lane * 8);
                        let products = _mm256_maddubs_epi16(values, weights);
                        shorts[lane] = _mm256_add_epi16(shorts[lane], products);
                    }
                }
                for lane in 0..4 {
                    let wide = _mm256_madd_epi16(shorts[lane], ones);
                    halves[half][lane] = _mm256_add_epi32(halves[half][lane], wide);
                }
            }
        }
        let (residual, output) = (&input[row][part % IN], &mut output[row][part]);
        finish_256::<0>(layer, residual, &halves[0], output);
        finish_256::<{ WIDTH / 2 }>(layer, residual, &halves[1], output);
    }
}

/// Computes one part of a convolution with dot products of 256 bits.
#[target_feature(enable = "avx2,avxvnni")]
pub(super) fn convolve_256<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (dilation, layer) = (layer.dilation, &layer.parts[part]);
    for &row in rows {
        let row = usize::from(row);
        let mut sums = [_mm256_setzero_si256(); WIDTH / 8];
        for place in 0..TAPS * IN {
            let inputs = &input[row + place / IN * dilation - dilation][place % IN];
            let taps: &[[u8; 4]] = inputs.as_chunks().0;
            for group in 0..GROUPS {
                let weights = &layer.packed[place * GROUPS + group].0;
                let values = _mm256_set1_epi32(i32::from_le_bytes(taps[group]));
                for lane in 0..WIDTH / 8 {
                    let weights = load_256(weights, lane * 8);
                    sums[lane] = _mm256_dpbusd_avx_epi32(sums[lane], values, weights);
                }
            }
        }
        let halves: &[[__m256i; 4]] = sums.as_chunks().0;
        let (residual, output) = (&input[row][part % IN], &mut output[row][part]);
        finish_256::<0>(layer, residual, &halves[0], output);
        finish_256::<{ WIDTH / 2 }>(layer, residual, &halves[1], output);
    }
}

/// Adds bias and residual to the sums of 32 outputs from `FIRST` on, and narrows to activations.
#[inline]
#[target_feature(enable = "avx2")]
fn finish_256<const FIRST: usize>(
    layer: &Dense<WIDTH>,
    input: &Row,
    sums: &[__m256i; 4],
    output: &mut Row,
) {
    let half = _mm256_set1_epi32(1 << (WEIGHT_SHIFT - 1));
    let residuals = load_bytes(input, FIRST);
    let residuals = [
        _mm256_castsi256_si128(residuals),
        _mm256_extracti128_si256::<1>(residuals),
    ];
    let mut totals = *sums;
    for part in 0..4 {
        let eight = match part % 2 {
            0 => residuals[part / 2],
            _ => _mm_srli_si128::<8>(residuals[part / 2]),
        };
        let residual = _mm256_slli_epi32::<WEIGHT_SHIFT>(_mm256_cvtepu8_epi32(eight));
        let bias = load_i32(&layer.bias, FIRST + part * 8);
        let sum = _mm256_add_epi32(_mm256_add_epi32(totals[part], bias), residual);
        totals[part] = _mm256_srai_epi32::<WEIGHT_SHIFT>(_mm256_add_epi32(sum, half));
    }
    // Packing stops at the ends of the range and takes quarters from both in turn; the shuffle puts them in order.
    let low = _mm256_packs_epi32(totals[0], totals[1]);
    let high = _mm256_packs_epi32(totals[2], totals[3]);
    let packed = _mm256_packus_epi16(low, high);
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let packed = _mm256_permutevar8x32_epi32(packed, order);
    let packed = _mm256_min_epu8(packed, _mm256_set1_epi8(ACTIVATION_MAX as i8));
    let place = &mut output[FIRST..FIRST + WIDTH / 2];
    // SAFETY: the slice holds the 32 bytes that are written.
    unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), packed) };
}

/// Returns weights in the order of `convolve_sse2`.
pub(super) fn pairs<const OUT: usize>(plain: &[[i16; OUT]]) -> Vec<[[i16; 2]; OUT]> {
    let pair = |two: &[[i16; OUT]; 2]| std::array::from_fn(|output| two.map(|one| one[output]));
    plain.as_chunks().0.iter().map(pair).collect()
}

/// Computes one part of a convolution with the instructions that every x86-64 processor has. The compiler does not find
/// the one that multiplies and adds pairs by itself, and takes twice as long.
#[target_feature(enable = "sse2")]
pub(super) fn convolve_sse2<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (dilation, layer) = (layer.dilation, &layer.parts[part]);
    let mut pairs = Pairs::new();
    for &row in rows {
        let row = usize::from(row);
        pairs.set([&input[row - dilation], &input[row], &input[row + dilation]]);
        let mut sums = layer.bias;
        for first in (0..WIDTH).step_by(LANES) {
            let mut totals = [_mm_setzero_si128(); LANES / 4];
            for (values, place) in pairs.iter() {
                let values = _mm_set1_epi32(values);
                let weights = &layer.pairs[place];
                for four in 0..LANES / 4 {
                    let products = _mm_madd_epi16(load_128(weights, first + four * 4), values);
                    totals[four] = _mm_add_epi32(totals[four], products);
                }
            }
            for four in 0..LANES / 4 {
                // SAFETY: four of the 64 sums, from a multiple of four.
                unsafe {
                    let place = sums.as_mut_ptr().add(first + four * 4).cast();
                    let sum = _mm_add_epi32(totals[four], _mm_loadu_si128(place));
                    _mm_storeu_si128(place, sum);
                }
            }
        }
        finish(&sums, &input[row][part % IN], &mut output[row][part]);
    }
}

/// Neighbouring inputs of a convolution that are not both zero; a quarter of them are.
struct Pairs<const IN: usize> {
    /// The two values side by side.
    values: [[[i32; WIDTH / 2]; IN]; TAPS],
    places: [[[u16; WIDTH / 2]; IN]; TAPS],
    count: usize,
}

impl<const IN: usize> Pairs<IN> {
    fn new() -> Self {
        Pairs {
            values: [[[0; WIDTH / 2]; IN]; TAPS],
            places: [[[0; WIDTH / 2]; IN]; TAPS],
            count: 0,
        }
    }

    #[inline(always)]
    fn set(&mut self, taps: [&[Row; IN]; TAPS]) {
        let values = self.values.as_flattened_mut().as_flattened_mut();
        let places = self.places.as_flattened_mut().as_flattened_mut();
        let mut count = 0;
        for (part, row) in taps.into_iter().flatten().enumerate() {
            let set = non_zero(row);
            let mut rest = (set | set >> 1) & (u64::MAX / 3);
            while rest != 0 {
                let place = rest.trailing_zeros() as usize / 2;
                rest &= rest - 1;
                let [first, second] = row.as_chunks().0[place].map(i32::from);
                values[count] = first | second << 16;
                places[count] = (part * WIDTH / 2 + place) as u16;
                count += 1;
            }
        }
        self.count = count;
    }

    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = (i32, usize)> {
        let values = self.values.as_flattened().as_flattened();
        let places = &self.places.as_flattened().as_flattened()[..self.count];
        let places = places.iter().map(|place| usize::from(*place));
        values.iter().copied().zip(places)
    }
}

/// Loads the weights of four outputs for two inputs.
#[inline]
#[target_feature(enable = "sse2")]
fn load_128(weights: &[[i16; 2]; WIDTH], first: usize) -> __m128i {
    let part: &[[i16; 2]] = &weights[first..first + 4];
    // SAFETY: the slice holds the 16 bytes that are read.
    unsafe { _mm_loadu_si128(part.as_ptr().cast()) }
}

/// Loads the weights of four outputs for four inputs.
#[inline]
#[target_feature(enable = "avx2")]
fn load_fours<const OUT: usize>(weights: &[[i8; 4]; OUT], first: usize) -> __m128i {
    let part: &[[i8; 4]] = &weights[first..first + 4];
    // SAFETY: the slice holds the 16 bytes that are read.
    unsafe { _mm_loadu_si128(part.as_ptr().cast()) }
}

/// Loads the weights of sixteen outputs.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_512<const OUT: usize>(weights: &[[i8; 4]; OUT], first: usize) -> __m512i {
    let part: &[[i8; 4]] = &weights[first..first + 16];
    // SAFETY: the slice holds the 64 bytes that are read.
    unsafe { _mm512_loadu_si512(part.as_ptr().cast()) }
}

/// Loads the weights of eight outputs.
#[inline]
#[target_feature(enable = "avx2")]
fn load_256<const OUT: usize>(weights: &[[i8; 4]; OUT], first: usize) -> __m256i {
    let part: &[[i8; 4]] = &weights[first..first + 8];
    // SAFETY: the slice holds the 32 bytes that are read.
    unsafe { _mm256_loadu_si256(part.as_ptr().cast()) }
}

/// Loads 32 of 64 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn load_bytes<T>(bytes: &[T; WIDTH], first: usize) -> __m256i {
    const { assert!(size_of::<T>() == 1) };
    let part: &[T] = &bytes[first..first + 32];
    // SAFETY: the slice holds the 32 bytes that are read.
    unsafe { _mm256_loadu_si256(part.as_ptr().cast()) }
}

/// Loads eight sums.
#[inline]
#[target_feature(enable = "avx2")]
fn load_i32<const COUNT: usize>(sums: &[i32; COUNT], first: usize) -> __m256i {
    let part: &[i32] = &sums[first..first + 8];
    // SAFETY: the slice holds the 32 bytes that are read.
    unsafe { _mm256_loadu_si256(part.as_ptr().cast()) }
}
