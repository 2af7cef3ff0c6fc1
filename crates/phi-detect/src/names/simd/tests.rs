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
    fn dense<const IN: usize, const OUT: usize>(&mut self, largest: i64) -> Dense<IN, OUT> {
        let mut weight = || ((self.next() % 255) as i64 * largest / 127 - largest) as i8;
        let packed = (0..IN / 4)
            .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| weight())))
            .collect();
        let bias = std::array::from_fn(|_| (self.next() % 20_000) as i32 - 10_000);
        Dense::new(packed, bias)
    }

    fn rows(&mut self, count: usize) -> Vec<Row> {
        (0..count)
            .map(|_| std::array::from_fn(|_| (self.next() % 128) as u8))
            .collect()
    }
}

#[test]
fn every_level_convolves_to_the_same_bits() {
    let mut noise = Noise(0x5EED);
    for dilation in [1, 2, 4] {
        // Sums of the first overflow 16 bits soon, those of the last never.
        let layer = noise.dense([127, 30, 5][dilation / 2]);
        let input = noise.rows(40);
        let rows: Vec<u16> = vec![4, 5, 9, 10, 11, 20, 35];
        let mut expected = vec![[0; WIDTH]; 40];
        convolve(
            Level::Portable,
            &layer,
            dilation,
            &rows,
            &input,
            &mut expected,
        );
        assert!(expected[20].iter().any(|value| *value > 0));
        for level in Level::available() {
            let mut output = vec![[0; WIDTH]; 40];
            convolve(level, &layer, dilation, &rows, &input, &mut output);
            assert_eq!(output, expected, "{level:?}");
        }
    }
}

#[test]
fn every_level_embeds_gates_and_scores_to_the_same_bits() {
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
    let layer = noise.dense(127);
    let gate_weights = Gate {
        weights: std::array::from_fn(|_| (noise.next() % 255) as i8),
        bias: 0,
    };
    let all = |level| {
        let mut rows = [[0; WIDTH]; 64];
        embed(level, &table, &lists, 0, &mut rows);
        let passing = gate(level, &gate_weights, &rows);
        (rows, passing, score(level, &layer, &rows[1]))
    };
    let expected = all(Level::Portable);
    assert!(expected.1.count_ones() > 8 && expected.1.count_zeros() > 8);
    for level in Level::available() {
        assert!(all(level) == expected, "{level:?}");
    }
}

#[test]
fn stretches_are_cut_where_sixteen_bits_would_overflow() {
    let groups = |weight: i8| vec![[[weight; 4]; WIDTH]; TAPS / 4];
    // Two products of 127 by 127 fit and four do not.
    assert_eq!(stretches(&groups(127)).len(), TAPS / 4);
    assert_eq!(stretches(&groups(-127)).len(), TAPS / 4);
    // 127 times 2 for each group: 129 groups would fit.
    assert_eq!(stretches(&groups(1)), vec![0..TAPS / 4; 1]);
    let cut = stretches(&groups(30));
    assert_eq!(
        cut.iter().map(ExactSizeIterator::len).sum::<usize>(),
        TAPS / 4
    );
    assert!(cut.iter().all(|stretch| stretch.len() <= 4));
}
