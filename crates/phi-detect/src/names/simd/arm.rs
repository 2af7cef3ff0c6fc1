//! The kernels for 64-bit ARM. Loads and stores go through array references of the exact size.
//! Activations are at most 127, so they are the same as signed bytes.
#![allow(clippy::needless_range_loop)] // see `convolve_block`

use super::{
    ACTIVATION_MAX, Convolution, Dense, Gate, Lists, Row, TAGS_MAX, TAPS, TableRow, WEIGHT_SHIFT,
    WIDTH,
};
use std::arch::aarch64::*;
use std::arch::asm;

/// Rows computed together, to load each weight once for all of them.
const BLOCK: usize = 4;

/// Outputs at a time: with more, the sums of a block and its weights would not fit the registers.
const LANES: usize = 16;

/// Groups of four channels in a row.
const GROUPS: usize = WIDTH / 4;

#[target_feature(enable = "neon")]
pub(super) fn embed(table: &[TableRow], lists: &Lists, first: usize, out: &mut [Row]) {
    for (place, activations) in (first..).zip(out) {
        let heads = lists.heads(place);
        let mut sums = [vdupq_n_s16(0); WIDTH / 8];
        for part in 0..3 {
            for head in 0..2 {
                add_row(&table[heads[part][head] as usize], part, &mut sums);
            }
        }
        if lists.has_rest(place) {
            for part in 0..3 {
                for &row in lists.rest_at(place + part) {
                    add_row(&table[row as usize], part, &mut sums);
                }
            }
        }
        for sixteen in 0..WIDTH / 16 {
            let [low, high]: [int16x8_t; 2] = sums.as_chunks().0[sixteen];
            // Halves, rounds up and stops at 0 and 255.
            let halves = vqrshrun_high_n_s16::<1>(vqrshrun_n_s16::<1>(low), high);
            store(&mut activations.as_chunks_mut().0[sixteen], halves);
        }
    }
}

/// Adds one of the three parts of a table's row.
#[inline]
#[target_feature(enable = "neon")]
fn add_row(row: &TableRow, part: usize, sums: &mut [int16x8_t; WIDTH / 8]) {
    let channels = row.as_chunks::<WIDTH>().0[part].as_chunks().0;
    for sixteen in 0..WIDTH / 16 {
        let bytes = load(&channels[sixteen]);
        let sums = &mut sums.as_chunks_mut::<2>().0[sixteen];
        sums[0] = vaddw_s8(sums[0], vget_low_s8(bytes));
        sums[1] = vaddw_high_s8(sums[1], bytes);
    }
}

#[target_feature(enable = "neon")]
pub(super) fn gate(gate: &Gate, rows: &[Row]) -> u64 {
    let weights: &[[i8; 16]] = gate.weights.as_chunks().0;
    let mut passing = 0;
    for (place, row) in rows.iter().enumerate() {
        let mut sums = vdupq_n_s32(0);
        for (values, weights) in row.as_chunks().0.iter().zip(weights) {
            let (values, weights) = (load(values), load(weights));
            // Two products fit 16 bits.
            let products = vmull_s8(vget_low_s8(values), vget_low_s8(weights));
            sums = vpadalq_s16(sums, vmlal_high_s8(products, values, weights));
        }
        passing |= u64::from(vaddvq_s32(sums) + gate.bias > 0) << place;
    }
    passing
}

#[target_feature(enable = "neon")]
pub(super) fn convolve<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (dilation, layer) = (layer.dilation, &layer.parts[part]);
    let bias = layer.bias.as_chunks().0;
    for &row in rows {
        let row = usize::from(row);
        let mut sums = [[vdupq_n_s32(0); LANES / 4]; WIDTH / LANES];
        for lanes in 0..WIDTH / LANES {
            sums[lanes] = load_sums(&bias[lanes]);
        }
        for (place, weights) in layer.plain.as_chunks().0.iter().enumerate() {
            let inputs = &input[row + place / IN * dilation - dilation][place % IN];
            add_products(&mut sums, inputs, weights);
        }
        let residuals = input[row][part % IN].as_chunks().0;
        let activations = output[row][part].as_chunks_mut().0;
        for lanes in 0..WIDTH / LANES {
            finish(&sums[lanes], &residuals[lanes], &mut activations[lanes]);
        }
    }
}

#[target_feature(enable = "neon")]
pub(super) fn score<const IN: usize>(
    layer: &Dense<TAGS_MAX>,
    input: &[Row; IN],
) -> [i32; TAGS_MAX] {
    let mut sums = [load_sums(&layer.bias)];
    for (inputs, weights) in input.iter().zip(layer.plain.as_chunks().0) {
        add_products(&mut sums, inputs, weights);
    }
    store_sums(&sums[0])
}

/// Adds the inputs of a row, times their weights, to the sums of all outputs. Inputs that are zero, about half of all,
/// are passed over.
#[inline]
#[target_feature(enable = "neon")]
fn add_products<const OUT: usize, const SIXTEENS: usize>(
    sums: &mut [[int32x4_t; LANES / 4]; SIXTEENS],
    inputs: &Row,
    weights: &[[i16; OUT]; WIDTH],
) {
    const { assert!(OUT == SIXTEENS * LANES) };
    let mut rest = non_zero(inputs);
    while rest != 0 {
        let channel = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let value = i16::from(inputs[channel]);
        let eights: &[[i16; 8]] = weights[channel].as_chunks().0;
        for eight in 0..OUT / 8 {
            let weights = load_i16(&eights[eight]);
            let sums = &mut sums[eight / 2].as_chunks_mut::<2>().0[eight % 2];
            sums[0] = vmlal_n_s16(sums[0], vget_low_s16(weights), value);
            sums[1] = vmlal_high_n_s16(sums[1], weights, value);
        }
    }
}

/// Returns which inputs are not zero, one bit each.
#[inline]
#[target_feature(enable = "neon")]
fn non_zero(input: &Row) -> u64 {
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    let bits = vreinterpretq_u8_s8(load(&BITS));
    let sixteens = input.as_chunks().0;
    let set = |part: usize| {
        let values = load(&sixteens[part]);
        vandq_u8(vtstq_s8(values, values), bits)
    };
    // Adding neighbours three times gathers eight bits in a byte.
    let twos = [vpaddq_u8(set(0), set(1)), vpaddq_u8(set(2), set(3))];
    let fours = vpaddq_u8(twos[0], twos[1]);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)))
}

/// Computes the scores with dot products.
#[target_feature(enable = "dotprod")]
pub(super) fn score_dot<const IN: usize>(
    layer: &Dense<TAGS_MAX>,
    input: &[Row; IN],
) -> [i32; TAGS_MAX] {
    let values: &[[u8; 16]] = input.as_flattened().as_chunks().0;
    let mut sums = [load_sums(&layer.bias)];
    for (values, groups) in values.iter().zip(layer.packed.as_chunks::<4>().0) {
        let values = [load(values)];
        add_dots::<0, 1>(&mut sums, &groups[0].0, &values);
        add_dots::<1, 1>(&mut sums, &groups[1].0, &values);
        add_dots::<2, 1>(&mut sums, &groups[2].0, &values);
        add_dots::<3, 1>(&mut sums, &groups[3].0, &values);
    }
    store_sums(&sums[0])
}

/// Computes one part of a convolution with dot products.
#[target_feature(enable = "dotprod")]
pub(super) fn convolve_dot<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (blocks, rest) = rows.as_chunks::<BLOCK>();
    for block in blocks {
        convolve_block(layer, part, block, input, output);
    }
    match *rest {
        [a, b, c] => convolve_block(layer, part, &[a, b, c], input, output),
        [a, b] => convolve_block(layer, part, &[a, b], input, output),
        [a] => convolve_block(layer, part, &[a], input, output),
        _ => {}
    }
}

/// Computes some rows together.
#[inline]
#[target_feature(enable = "dotprod")]
fn convolve_block<const ROWS: usize, const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    part: usize,
    rows: &[u16; ROWS],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    let (dilation, layer) = (layer.dilation, &layer.parts[part]);
    let rows = rows.map(usize::from);
    let packed: &[[_; GROUPS]] = layer.packed.as_chunks().0;
    // Plain counted loops: iterators that call closures are not always compiled for this feature, and then cost a
    // call per instruction.
    for lanes in 0..WIDTH / LANES {
        let bias = &layer.bias.as_chunks::<LANES>().0[lanes];
        let mut sums = [load_sums(bias); ROWS];
        for place in 0..TAPS * IN {
            let (shift, from) = (place / IN * dilation, place % IN);
            for sixteen in 0..WIDTH / 16 {
                let mut values = [vdupq_n_s8(0); ROWS];
                for i in 0..ROWS {
                    let inputs = &input[rows[i] + shift - dilation][from];
                    values[i] = load(&inputs.as_chunks().0[sixteen]);
                }
                let groups = &packed[place].as_chunks::<4>().0[sixteen];
                let weights = |group: usize| &groups[group].0.as_chunks::<LANES>().0[lanes];
                add_dots::<0, ROWS>(&mut sums, weights(0), &values);
                add_dots::<1, ROWS>(&mut sums, weights(1), &values);
                add_dots::<2, ROWS>(&mut sums, weights(2), &values);
                add_dots::<3, ROWS>(&mut sums, weights(3), &values);
            }
        }
        for i in 0..ROWS {
            let residuals = &input[rows[i]][part % IN].as_chunks().0[lanes];
            let activations = &mut output[rows[i]][part].as_chunks_mut().0[lanes];
            finish(&sums[i], residuals, activations);
        }
    }
}

/// Adds one of four groups of inputs, times its weights, to the sums of each row.
#[inline]
#[target_feature(enable = "dotprod")]
fn add_dots<const GROUP: usize, const ROWS: usize>(
    sums: &mut [[int32x4_t; LANES / 4]; ROWS],
    weights: &[[i8; 4]; LANES],
    values: &[int8x16_t; ROWS],
) {
    for four in 0..LANES / 4 {
        let weights = load_fours(&weights.as_chunks().0[four]);
        for i in 0..ROWS {
            sums[i][four] = dot::<GROUP>(sums[i][four], weights, values[i]);
        }
    }
}

/// Adds to the sums of four outputs one of four groups of inputs, times its weights.
#[inline]
#[target_feature(enable = "dotprod")]
fn dot<const GROUP: usize>(
    mut sums: int32x4_t,
    weights: int8x16_t,
    values: int8x16_t,
) -> int32x4_t {
    // The standard library's function for this is not stable yet.
    // SAFETY: the instruction reads and writes these registers alone, and comes with the feature.
    unsafe {
        asm!(
            "sdot {sums:v}.4s, {weights:v}.16b, {values:v}.4b[{group}]",
            sums = inout(vreg) sums,
            weights = in(vreg) weights,
            values = in(vreg) values,
            group = const GROUP,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}

/// Adds the residuals of sixteen outputs to their sums, and narrows to activations.
#[inline]
#[target_feature(enable = "neon")]
fn finish(sums: &[int32x4_t; LANES / 4], residuals: &[u8; LANES], output: &mut [u8; LANES]) {
    let residuals = load(residuals);
    let residuals = [vmovl_s8(vget_low_s8(residuals)), vmovl_high_s8(residuals)];
    let mut shorts = [vdupq_n_u16(0); 2];
    for half in 0..2 {
        let one = 1 << WEIGHT_SHIFT;
        let low = vmlal_n_s16(sums[half * 2], vget_low_s16(residuals[half]), one);
        let high = vmlal_high_n_s16(sums[half * 2 + 1], residuals[half], one);
        // Rounds, and stops at both ends of the range.
        let low = vqrshrun_n_s32::<WEIGHT_SHIFT>(low);
        shorts[half] = vqrshrun_high_n_s32::<WEIGHT_SHIFT>(low, high);
    }
    let bytes = vqmovn_high_u16(vqmovn_u16(shorts[0]), shorts[1]);
    store(output, bytes);
}

/// Loads sixteen channels.
#[inline]
#[target_feature(enable = "neon")]
fn load<T>(bytes: &[T; 16]) -> int8x16_t {
    const { assert!(size_of::<T>() == 1) };
    // SAFETY: the array holds the 16 bytes that are read.
    unsafe { vld1q_s8(bytes.as_ptr().cast()) }
}

/// Loads the weights of four outputs for four inputs.
#[inline]
#[target_feature(enable = "neon")]
fn load_fours(weights: &[[i8; 4]; 4]) -> int8x16_t {
    // SAFETY: the array holds the 16 bytes that are read.
    unsafe { vld1q_s8(weights.as_ptr().cast()) }
}

/// Loads the weights of eight outputs for one input.
#[inline]
#[target_feature(enable = "neon")]
fn load_i16(weights: &[i16; 8]) -> int16x8_t {
    // SAFETY: the array holds the 16 bytes that are read.
    unsafe { vld1q_s16(weights.as_ptr()) }
}

/// Loads the sums of sixteen outputs.
#[inline]
#[target_feature(enable = "neon")]
fn load_sums(sums: &[i32; LANES]) -> [int32x4_t; LANES / 4] {
    let mut lanes = [vdupq_n_s32(0); LANES / 4];
    for (lanes, four) in lanes.iter_mut().zip(sums.as_chunks::<4>().0) {
        // SAFETY: the array holds the 16 bytes that are read.
        *lanes = unsafe { vld1q_s32(four.as_ptr()) };
    }
    lanes
}

/// Stores the sums of sixteen lanes in an array.
#[inline]
#[target_feature(enable = "neon")]
fn store_sums(lanes: &[int32x4_t; LANES / 4]) -> [i32; LANES] {
    let mut sums = [0; LANES];
    for (lanes, four) in lanes.iter().zip(sums.as_chunks_mut::<4>().0) {
        // SAFETY: the array has room for the 16 bytes that are written.
        unsafe { vst1q_s32(four.as_mut_ptr(), *lanes) };
    }
    sums
}

/// Writes sixteen activations, clamped to the largest.
#[inline]
#[target_feature(enable = "neon")]
fn store(channels: &mut [u8; 16], values: uint8x16_t) {
    let values = vminq_u8(values, vdupq_n_u8(ACTIVATION_MAX as u8));
    // SAFETY: the array has room for the 16 bytes that are written.
    unsafe { vst1q_u8(channels.as_mut_ptr(), values) };
}
