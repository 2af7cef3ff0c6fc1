//! Arithmetic on numbers with a fraction, in one fixed order.
//!
//! Rust adds and multiplies 32-bit floats as IEEE 754 says and never merges two steps into one, so that the same steps in the
//! same order give the same bits on every processor. Sums are kept in sixteen lanes, whatever the vectors' width.
//!
//! Loops are written out: closures of `map` and `from_fn` are inlined in release builds alone, and without that the reader takes
//! three times as long.

use crate::shapes::{LANES, Pair};

/// Adding and subtracting this number rounds to a whole number, halves to even.
const ROUNDER: f32 = 12_582_912.0;

/// Makes a function that is compiled for every level, and picks one when it is called.
macro_rules! on_every_level {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, reason = "kernels take slices and their strides, without a type in between")]
        pub fn $name(level: crate::Level, $($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn plain($($arg: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn for_256($($arg: $type),*) $(-> $result)? {
                plain($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512dq")]
            fn for_512($($arg: $type),*) $(-> $result)? {
                plain($($arg),*)
            }

            match level {
                crate::Level::Portable => plain($($arg),*),
                // Every processor of this kind has NEON, for which plain Rust is compiled.
                #[cfg(target_arch = "aarch64")]
                crate::Level::Neon => plain($($arg),*),
                // SAFETY: a level is only made for a processor that has its features.
                #[cfg(target_arch = "x86_64")]
                crate::Level::Avx2 => unsafe { for_256($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                crate::Level::Avx512 | crate::Level::Avx512Vnni => unsafe { for_512($($arg),*) },
            }
        }
    };
}

on_every_level! {
    /// Writes `values * factor` as whole numbers between `-limit` and `limit`.
    to_whole(values: &[f32], factor: f32, limit: f32, out: &mut [Pair]) {
        for (value, out) in values.iter().zip(out.as_flattened_mut()) {
            *out = whole(value * factor, limit);
        }
    }
}

on_every_level! {
    /// Writes sums of a block of columns, times their scales and plus their biases, to the rows of `out`: row `n` begins at `n * stride`.
    scale(sums: &[[i32; LANES]], scales: &[f32; LANES], biases: &[f32; LANES], out: &mut [f32], stride: usize) {
        for (sums, row) in sums.iter().zip(out.chunks_mut(stride)) {
            let scaled = scaled(sums, scales, biases);
            row[..LANES].copy_from_slice(&scaled);
        }
    }
}

on_every_level! {
    /// Writes sums of a block of columns, times their scales and plus their biases, as whole numbers.
    scale_to_whole(sums: &[[i32; LANES]], scales: &[f32; LANES], biases: &[f32; LANES], limit: f32, out: &mut [[i16; LANES]]) {
        for (sums, out) in sums.iter().zip(out) {
            for (value, out) in scaled(sums, scales, biases).iter().zip(out) {
                *out = whole(*value, limit);
            }
        }
    }
}

on_every_level! {
    /// Adds sums of a block of columns, times their scales and plus their biases, to the rows of `out`.
    scale_and_add(sums: &[[i32; LANES]], scales: &[f32; LANES], biases: &[f32; LANES], out: &mut [f32], stride: usize) {
        for (sums, row) in sums.iter().zip(out.chunks_mut(stride)) {
            let scaled = scaled(sums, scales, biases);
            for (value, more) in row[..LANES].iter_mut().zip(scaled) {
                *value += more;
            }
        }
    }
}

on_every_level! {
    /// Writes whole numbers, after the smooth step GELU, of sums of a block of columns.
    activate(sums: &[[i32; LANES]], scales: &[f32; LANES], biases: &[f32; LANES], factor: f32, limit: f32, out: &mut [Pair], stride: usize) {
        for (sums, row) in sums.iter().zip(out.chunks_mut(stride)) {
            let scaled = scaled(sums, scales, biases);
            for (value, out) in scaled.iter().zip(row.as_flattened_mut()) {
                *out = whole(gelu(*value) * factor, limit);
            }
        }
    }
}

on_every_level! {
    /// Normalises each row of `weights.len()` numbers to mean 0 and variance 1, then applies weights and biases.
    normalise(rows: &mut [f32], weights: &[f32], biases: &[f32]) {
        let size = weights.len() as f32;
        for row in rows.chunks_exact_mut(weights.len()) {
            let mean = lane_sum(row, |value| value) / size;
            let variance = lane_sum(row, |value| (value - mean) * (value - mean)) / size;
            let factor = 1.0 / (variance + 1e-6).sqrt();
            for ((value, weight), bias) in row.iter_mut().zip(weights).zip(biases) {
                *value = (*value - mean) * factor * weight + bias;
            }
        }
    }
}

on_every_level! {
    /// Turns scores into shares of `total`, as whole numbers; scores are sums times `factor`.
    shares(scores: &[i32], factor: f32, total: f32, out: &mut [i16]) {
        const MOST: usize = 256;
        let mut values = [0.0; MOST];
        let count = scores.len().min(MOST);
        let most = scores.iter().fold(i32::MIN, |most, &score| most.max(score));
        for (value, &score) in values.iter_mut().zip(scores) {
            *value = exp(score.wrapping_sub(most) as f32 * factor);
        }
        let padded = count.next_multiple_of(LANES);
        values[count..padded].fill(0.0);
        let scale = total / lane_sum(&values[..padded], |value| value);
        for (out, value) in out.iter_mut().zip(&values[..count]) {
            *out = whole(value * scale, total);
        }
    }
}

on_every_level! {
    /// Turns scores into probabilities, in place.
    probabilities(scores: &mut [f32]) {
        let most = scores.iter().fold(f32::MIN, |most, &score| if score > most { score } else { most });
        let mut sum = 0.0;
        for score in scores.iter_mut() {
            *score = exp(*score - most);
            sum += *score;
        }
        for score in scores {
            *score /= sum;
        }
    }
}

/// The sum of a function of all numbers; their count is a multiple of sixteen.
#[inline(always)]
fn lane_sum(row: &[f32], function: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    for part in row.as_chunks::<LANES>().0 {
        for (lane, &value) in lanes.iter_mut().zip(part) {
            *lane += function(value);
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[inline(always)]
fn scaled(sums: &[i32; LANES], scales: &[f32; LANES], biases: &[f32; LANES]) -> [f32; LANES] {
    let mut values = [0.0; LANES];
    for (lane, value) in values.iter_mut().enumerate() {
        *value = sums[lane] as f32 * scales[lane] + biases[lane];
    }
    values
}

/// The nearest whole number between `-limit` and `limit`.
#[inline(always)]
fn whole(value: f32, limit: f32) -> i16 {
    let value = if value > limit { limit } else { value };
    let value = if value < -limit { -limit } else { value };
    ((value + ROUNDER).to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32) as i16
}

/// Computes a smooth step (GELU): the number, scaled by how far it is above 0.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    const FACTOR: f32 = 1.595_769;
    let inner = FACTOR * (x + 0.044_715 * x * x * x);
    x / (1.0 + exp(-inner))
}

/// Returns e to the power of x, to about six digits; x is taken for at most 80 and at least -80.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let x = if x > 80.0 { 80.0 } else { x };
    let x = if x < -80.0 { -80.0 } else { x };
    let rounded = x * LOG2_E + ROUNDER;
    let power = (rounded.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32);
    let number = rounded - ROUNDER;
    let rest = x - number * LN_2[0] - number * LN_2[1];
    let terms = [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0];
    let mut sum = 0.0;
    for term in terms {
        sum = sum * rest + term;
    }
    (sum * rest + 1.0) * f32::from_bits(((power + 127) << 23) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    fn numbers() -> Vec<f32> {
        (0..384)
            .map(|at| ((at * 7919 % 1000) as f32 - 500.0) / 61.0)
            .collect()
    }

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for step in -800..=800 {
            let x = step as f32 / 10.0;
            let (ours, theirs) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((ours / theirs - 1.0).abs() < 1e-5, "{x}: {ours} {theirs}");
        }
    }

    #[test]
    fn shares_add_up_to_the_total() {
        let scores: Vec<i32> = (0..129).map(|at| at * 37 % 1000).collect();
        let mut out = vec![0; scores.len()];
        shares(Level::Portable, &scores, 0.01, 16384.0, &mut out);
        let sum: i32 = out.iter().map(|&share| i32::from(share)).sum();
        assert!((sum - 16384).abs() < 129, "{sum}");
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        let sums: Vec<[i32; LANES]> = (0..21)
            .map(|row| {
                std::array::from_fn(|lane| (row * 911 + lane as i32 * 373) % 100_000 - 50_000)
            })
            .collect();
        let scales = std::array::from_fn(|lane| 0.0001 * (lane as f32 + 1.0));
        let biases = std::array::from_fn(|lane| lane as f32 / 7.0 - 1.0);
        let run = |level: Level| {
            let mut rows = numbers();
            normalise(level, &mut rows, &numbers()[..128], &numbers()[..128]);
            let mut out = vec![0.0; 21 * 32];
            scale(level, &sums, &scales, &biases, &mut out, 32);
            scale_and_add(level, &sums, &scales, &biases, &mut out, 32);
            let mut active = vec![[0; 2]; 21 * 8];
            activate(
                level,
                &sums,
                &scales,
                &biases,
                256.0,
                8191.0,
                &mut active,
                8,
            );
            let mut whole = vec![[0; 2]; 192];
            to_whole(level, &rows, 128.0, 8191.0, &mut whole);
            let mut share = vec![0; 150];
            shares(
                level,
                sums.as_flattened()[..150].try_into().unwrap_or(&[]),
                0.0003,
                16384.0,
                &mut share,
            );
            let mut likely = numbers()[..45].to_vec();
            probabilities(level, &mut likely);
            let bits = |all: &[f32]| all.iter().map(|one| one.to_bits()).collect::<Vec<_>>();
            (bits(&rows), bits(&out), active, whole, share, bits(&likely))
        };
        let plain = run(Level::Portable);
        for level in Level::supported() {
            assert!(run(level) == plain, "{level:?}");
        }
    }
}
