//! Products of rows of 16-bit numbers with a block of sixteen columns.

use crate::Level;
use crate::shapes::{LANES, Pair, Weights};

/// Multiplies rows with a block of columns: `out[row]` is the sum, over the pairs of the row, of their products with the weights.
///
/// Row `n` begins at pair `n * stride` of `rows` and has as many pairs as the weights. Sums must fit 32 bits.
///
/// # Panics
///
/// If `rows` is shorter than the rows that `out` asks for.
pub fn products(
    level: Level,
    rows: &[Pair],
    stride: usize,
    weights: Weights<'_>,
    out: &mut [[i32; LANES]],
) {
    let needed = out.len().saturating_sub(1) * stride + weights.pairs();
    assert!(out.is_empty() || needed <= rows.len(), "rows are too short");
    match level {
        Level::Portable => portable(rows, stride, weights, out),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => crate::arm::products(rows, stride, weights, out),
        #[cfg(target_arch = "x86_64")]
        _ => crate::x86::products(level, rows, stride, weights, out),
    }
}

/// Computes the sums in plain Rust.
fn portable(rows: &[Pair], stride: usize, weights: Weights<'_>, out: &mut [[i32; LANES]]) {
    for (number, out) in out.iter_mut().enumerate() {
        let row = &rows[number * stride..][..weights.pairs()];
        *out = [0; LANES];
        match weights {
            Weights::Bytes(all) => {
                for (&[one, two], weights) in row.iter().zip(all) {
                    for (sum, weight) in out.iter_mut().zip(weights.as_chunks::<2>().0) {
                        *sum += i32::from(one) * i32::from(weight[0] as i8)
                            + i32::from(two) * i32::from(weight[1] as i8);
                    }
                }
            }
            Weights::Words(all) => {
                for (&[one, two], weights) in row.iter().zip(all) {
                    for (sum, weight) in out.iter_mut().zip(weights) {
                        *sum += i32::from(one) * i32::from(weight[0])
                            + i32::from(two) * i32::from(weight[1]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random and are the same each time.
    fn numbers(count: usize, seed: u64, max: i64) -> Vec<i64> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) as i64) % (2 * max + 1) - max
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn every_level_gives_the_plain_sums() {
        for (rows, pairs, extra) in [(1, 1, 0), (7, 5, 3), (8, 192, 0), (21, 64, 1), (33, 256, 2)] {
            let stride = pairs + extra;
            let flat = numbers(rows * stride * 2, 7, 8191);
            let table: Vec<Pair> = flat
                .chunks_exact(2)
                .map(|two| [two[0] as i16, two[1] as i16])
                .collect();
            let bytes: Vec<[u8; 2 * LANES]> = numbers(pairs * 2 * LANES, 11, 127)
                .chunks_exact(2 * LANES)
                .map(|part| std::array::from_fn(|at| part[at] as i8 as u8))
                .collect();
            let words: Vec<[Pair; LANES]> = numbers(pairs * 2 * LANES, 13, 2047)
                .chunks_exact(2 * LANES)
                .map(|part| {
                    std::array::from_fn(|at| [part[2 * at] as i16, part[2 * at + 1] as i16])
                })
                .collect();
            for weights in [Weights::Bytes(&bytes), Weights::Words(&words)] {
                let mut plain = vec![[0; LANES]; rows];
                products(Level::Portable, &table, stride, weights, &mut plain);
                for level in Level::supported() {
                    let mut out = vec![[1; LANES]; rows];
                    products(level, &table, stride, weights, &mut out);
                    assert_eq!(out, plain, "{level:?} {rows} {pairs}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "rows are too short")]
    fn short_rows_are_refused() {
        let weights = [[1; 2 * LANES]; 4];
        let mut out = [[0; LANES]; 2];
        products(
            Level::best(),
            &[[1, 1]; 7],
            4,
            Weights::Bytes(&weights),
            &mut out,
        );
    }
}
