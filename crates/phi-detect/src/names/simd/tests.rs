//! Every level must compute the same bits.

use super::*;

/// A fixed stream of numbers that look random.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Weights up to a largest one.
    fn dense<const OUT: usize>(&mut self, inputs: usize, largest: i64) -> Dense<OUT> {
        let mut weight = || ((self.next() % 255) as i64 * largest / 127 - largest) as i8;
        let packed = (0..inputs / 4)
            .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| weight())))
            .collect();
        let bias = std::array::from_fn(|_| (self.next() % 20_000) as i32 - 10_000);
        Dense::new(packed, bias)
    }

    /// Activations, about half of them zero.
    fn row(&mut self) -> Row {
        std::array::from_fn(|_| (self.next() % 255).saturating_sub(127) as u8)
    }
}

#[test]
fn every_level_convolves_to_the_same_bits() {
    compare_convolutions::<1, 1>();
    compare_convolutions::<1, 2>();
    compare_convolutions::<2, 2>();
}

fn compare_convolutions<const IN: usize, const OUT: usize>() {
    let mut noise = Noise(0x5EED);
    for dilation in [1, 2, 4] {
        // Sums of the first overflow 16 bits soon, those of the last never.
        let largest = [127, 30, 5][dilation / 2];
        let layer = Convolution {
            dilation,
            parts: std::array::from_fn(|_| noise.dense(TAPS * IN * WIDTH, largest)),
        };
        let input: Vec<[Row; IN]> = (0..40)
            .map(|_| std::array::from_fn(|_| noise.row()))
            .collect();
        // Beside four that are computed together, three, two or one.
        let rows = &[4, 5, 9, 10, 11, 20, 35][..7 - dilation / 2];
        let mut expected = vec![[[0; WIDTH]; OUT]; 40];
        convolve(Level::Portable, &layer, rows, &input, &mut expected);
        for &row in rows {
            let row = usize::from(row);
            assert_eq!(expected[row], by_definition(&layer, row, &input));
        }
        for level in Level::available() {
            let mut output = vec![[[0; WIDTH]; OUT]; 40];
            convolve(level, &layer, rows, &input, &mut output);
            assert_eq!(output, expected, "{level:?}, {IN} to {OUT} parts");
        }
    }
}

/// Computes a convolution at one row by its definition.
fn by_definition<const IN: usize, const OUT: usize>(
    layer: &Convolution<OUT>,
    row: usize,
    input: &[[Row; IN]],
) -> [[u8; WIDTH]; OUT] {
    let (before, after) = (row - layer.dilation, row + layer.dilation);
    let inputs = [input[before], input[row], input[after]];
    let inputs = inputs.as_flattened().as_flattened();
    std::array::from_fn(|part| {
        std::array::from_fn(|channel| {
            let dense = &layer.parts[part];
            let weight = |place: usize| i32::from(dense.packed[place / 4].0[channel][place % 4]);
            let products = inputs.iter().enumerate();
            let sum: i32 = products
                .map(|(place, value)| i32::from(*value) * weight(place))
                .sum();
            let residual = i32::from(input[row][part % IN][channel]) * 128;
            ((sum + dense.bias[channel] + residual + 64) >> 7).clamp(0, 127) as u8
        })
    })
}

#[test]
fn simd_levels_agree_bit_for_bit() {
    let mut noise = Noise(0xC0FFEE);
    let table: Vec<TableRow> = (0..50)
        .map(|_| std::array::from_fn(|_| noise.next() as u8))
        .collect();
    let mut lists = Lists::with_capacity(0);
    for place in 0..72_u32 {
        let mut row = || (noise.next() % 50) as u32;
        lists
            .rest()
            .extend((0..(place % 24).saturating_sub(12)).map(|_| row()));
        lists.push([row(), row()]);
    }
    let narrow = noise.dense(WIDTH, 127);
    let wide = noise.dense(2 * WIDTH, 127);
    let gate_weights = Gate {
        weights: std::array::from_fn(|_| (noise.next() % 255) as i8),
        bias: 0,
    };
    let fine = Screen {
        units: noise.dense((2 * AROUND + 1) * WIDTH, 60),
        weights: std::array::from_fn(|_| (noise.next() % 255) as i8),
        bias: 0,
    };
    let all = |level| {
        let mut rows = [[0; WIDTH]; 64];
        embed(level, &table, &lists, 0, &mut rows);
        let passing = gate(level, &gate_weights, &rows);
        let one = score(level, &narrow, &[rows[1]]);
        let two = score(level, &wide, &[rows[1], rows[2]]);
        let screened = rows
            .windows(2 * AROUND + 1)
            .map(|rows| screen(level, &fine, rows.as_array().unwrap()))
            .collect::<Vec<_>>();
        (rows, passing, one, two, screened)
    };
    let expected = all(Level::Portable);
    assert!(expected.1.count_ones() > 8 && expected.1.count_zeros() > 8);
    assert!(expected.4.contains(&true) && expected.4.contains(&false));
    for level in Level::available() {
        assert!(all(level) == expected, "{level:?}");
    }
}

#[test]
fn simd_levels_share_gate_threshold() {
    let mut noise = Noise(0x6A7E);
    let row = noise.row();
    let weights = std::array::from_fn(|_| (noise.next() % 255) as i8);
    let products = row.iter().zip(&weights);
    let sum: i32 = products
        .map(|(value, weight)| i32::from(*value) * i32::from(*weight))
        .sum();
    for level in Level::available() {
        // One more than are computed together anywhere.
        for (above, passing) in [(0, 0), (1, (1 << 17) - 1)] {
            let bias = above - sum;
            assert_eq!(
                gate(level, &Gate { weights, bias }, &[row; 17]),
                passing,
                "{level:?}"
            );
        }
    }
}
