//! The model's arithmetic: three kernels, each in plain Rust and for the vector units.
//!
//! All of it is exact integer arithmetic, so every path gives the same bits;
//! the tests compare them. This is the one module of the project that may use
//! `unsafe`: to call a function compiled for a processor feature after asking
//! for that feature, and for vector loads whose bounds the array types fix.
#![allow(unsafe_code)]

use std::sync::OnceLock;

/// Channels of every layer.
pub(super) const WIDTH: usize = 64;
/// Inputs of a convolution: three positions.
pub(super) const TAPS: usize = 3 * WIDTH;
/// Tags, padded to a vector.
pub(super) const TAGS_MAX: usize = 16;
/// Fractional bits of a convolution's weights.
const WEIGHT_SHIFT: i32 = 7;
/// Largest activation: 7 bits, so that no 16-bit partial sum can overflow.
const ACTIVATION_MAX: i32 = 127;

/// Sums of the first layer.
pub(super) type Sums = [i16; WIDTH];
/// Activations of one token.
pub(super) type Row = [u8; WIDTH];
/// A row of an embedding table: what the token adds to its follower, itself and its predecessor.
pub(super) type TableRow = [u8; TAPS];

/// One convolution, with weights in the order the vector kernels read them:
/// `[inputs / 4][outputs][4]`, and once more as `[outputs][inputs]` for plain code.
pub(super) struct Dense<const IN: usize, const OUT: usize> {
    pub(super) packed: Vec<[[i8; 4]; OUT]>,
    pub(super) plain: Vec<[i16; IN]>,
    pub(super) bias: [i32; OUT],
}

/// Which kernels this machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// 512-bit dot products.
    Avx512Vnni,
    /// 256-bit dot products.
    AvxVnni,
    /// 256-bit multiply and add.
    Avx2,
    /// Plain Rust.
    Portable,
}

impl Level {
    /// The best level of this processor, asked once.
    pub(super) fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| Level::available()[0])
    }

    /// Every level this processor can run, best first.
    pub(super) fn available() -> Vec<Level> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = std::arch::is_x86_feature_detected!("avx2");
            if avx2
                && std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512bw")
                && std::arch::is_x86_feature_detected!("avx512vnni")
            {
                levels.push(Level::Avx512Vnni);
            }
            if avx2 && std::arch::is_x86_feature_detected!("avxvnni") {
                levels.push(Level::AvxVnni);
            }
            if avx2 {
                levels.push(Level::Avx2);
            }
        }
        levels.push(Level::Portable);
        levels
    }
}

/// Adds table rows to the sums of a token (`sums[1]`) and its two neighbours.
pub(super) fn add_rows(level: Level, sums: &mut [Sums; 3], rows: &[&TableRow]) {
    #[cfg(target_arch = "x86_64")]
    if level != Level::Portable {
        // SAFETY: every level above `Portable` implies AVX2, which `available` asked for.
        return unsafe { x86::add_rows(sums, rows) };
    }
    let _ = level;
    add_rows_portable(sums, rows);
}

/// The first layer's activations from its sums.
pub(super) fn activate(level: Level, sums: &Sums, out: &mut Row) {
    #[cfg(target_arch = "x86_64")]
    if level != Level::Portable {
        // SAFETY: as in `add_rows`.
        return unsafe { x86::activate(sums, out) };
    }
    let _ = level;
    activate_portable(sums, out);
}

/// A dilated convolution with its residual, at the listed rows of `input` into the same rows of `output`.
///
/// Every listed row must have `dilation` rows on either side.
pub(super) fn convolve(
    level: Level,
    layer: &Dense<TAPS, WIDTH>,
    dilation: usize,
    rows: &[u16],
    input: &[Row],
    output: &mut [Row],
) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `available` asked for the features of this level.
        Level::Avx512Vnni => unsafe {
            x86::convolve_512(layer, dilation, rows, input, output);
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `available` asked for the features of this level.
        Level::AvxVnni => unsafe { x86::convolve_vnni(layer, dilation, rows, input, output) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `available` asked for the features of this level.
        Level::Avx2 => unsafe { x86::convolve_avx2(layer, dilation, rows, input, output) },
        _ => convolve_portable(layer, dilation, rows, input, output),
    }
}

/// The tag scores of one token.
pub(super) fn score(level: Level, layer: &Dense<WIDTH, TAGS_MAX>, input: &Row) -> [i32; TAGS_MAX] {
    #[cfg(target_arch = "x86_64")]
    if level != Level::Portable {
        // SAFETY: as in `add_rows`.
        return unsafe { x86::score(layer, input) };
    }
    let _ = level;
    score_portable(layer, input)
}

#[inline(always)]
fn add_rows_portable(sums: &mut [Sums; 3], rows: &[&TableRow]) {
    // The three parts of a row lie in the order follower, itself, predecessor.
    for row in rows {
        for (part, sum) in [2, 1, 0].into_iter().zip(row.chunks_exact(WIDTH)) {
            for (total, value) in sums[part].iter_mut().zip(sum) {
                *total = total.wrapping_add(i16::from(*value as i8));
            }
        }
    }
}

#[inline(always)]
fn activate_portable(sums: &Sums, out: &mut Row) {
    for (activation, sum) in out.iter_mut().zip(sums) {
        *activation = (sum.saturating_add(1) >> 1).clamp(0, ACTIVATION_MAX as i16) as u8;
    }
}

fn convolve_portable(
    layer: &Dense<TAPS, WIDTH>,
    dilation: usize,
    rows: &[u16],
    input: &[Row],
    output: &mut [Row],
) {
    for &row in rows {
        let row = usize::from(row);
        let mut taps = [0i16; TAPS];
        for (tap, from) in [row - dilation, row, row + dilation]
            .into_iter()
            .enumerate()
        {
            for (to, value) in taps[tap * WIDTH..].iter_mut().zip(&input[from]) {
                *to = i16::from(*value);
            }
        }
        for (channel, weights) in layer.plain.iter().enumerate() {
            let residual = i32::from(input[row][channel]) << WEIGHT_SHIFT;
            output[row][channel] = narrow(dot(weights, &taps) + layer.bias[channel] + residual);
        }
    }
}

fn score_portable(layer: &Dense<WIDTH, TAGS_MAX>, input: &Row) -> [i32; TAGS_MAX] {
    let wide = input.map(i16::from);
    let mut scores = layer.bias;
    for (score, weights) in scores.iter_mut().zip(&layer.plain) {
        *score += dot(weights, &wide);
    }
    scores
}

#[inline(always)]
fn dot<const N: usize>(left: &[i16; N], right: &[i16; N]) -> i32 {
    left.iter()
        .zip(right)
        .map(|(a, b)| i32::from(*a) * i32::from(*b))
        .sum()
}

fn narrow(sum: i32) -> u8 {
    ((sum + (1 << (WEIGHT_SHIFT - 1))) >> WEIGHT_SHIFT).clamp(0, ACTIVATION_MAX) as u8
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! The same kernels for x86-64. Loads and stores go through array references of the exact size.

    use super::{ACTIVATION_MAX, Dense, Row, Sums, TAGS_MAX, TAPS, TableRow, WEIGHT_SHIFT, WIDTH};
    use std::arch::x86_64::*;

    /// Rows computed together, to load each weight once for all of them.
    const BLOCK: usize = 4;

    #[target_feature(enable = "avx2")]
    pub(super) fn add_rows(sums: &mut [Sums; 3], rows: &[&TableRow]) {
        super::add_rows_portable(sums, rows);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn activate(sums: &Sums, out: &mut Row) {
        super::activate_portable(sums, out);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn score(layer: &Dense<WIDTH, TAGS_MAX>, input: &Row) -> [i32; TAGS_MAX] {
        let mut sums = [load_i32(&layer.bias, 0), load_i32(&layer.bias, 8)];
        let ones = _mm256_set1_epi16(1);
        for (group, weights) in layer.packed.iter().enumerate() {
            let values = _mm256_set1_epi32(four(input, group));
            for (half, sum) in sums.iter_mut().enumerate() {
                let pairs = _mm256_maddubs_epi16(values, load_256(weights, half * 8));
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
            }
        }
        let mut scores = [0; TAGS_MAX];
        for (half, sum) in sums.into_iter().enumerate() {
            // SAFETY: eight lanes fit at 0 and at 8 of sixteen.
            unsafe { _mm256_storeu_si256(scores.as_mut_ptr().add(half * 8).cast(), sum) };
        }
        scores
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
    pub(super) fn convolve_512(
        layer: &Dense<TAPS, WIDTH>,
        dilation: usize,
        rows: &[u16],
        input: &[Row],
        output: &mut [Row],
    ) {
        for block in rows.chunks(BLOCK) {
            // A short last block computes its last row more than once.
            let row: [usize; BLOCK] =
                std::array::from_fn(|i| usize::from(block[i.min(block.len() - 1)]));
            let mut sums = [[_mm512_setzero_si512(); WIDTH / 16]; BLOCK];
            for tap in 0..3 {
                let taps: [&Row; BLOCK] =
                    std::array::from_fn(|i| &input[row[i] + tap * dilation - dilation]);
                for group in 0..WIDTH / 4 {
                    let weights = &layer.packed[tap * (WIDTH / 4) + group];
                    let lanes: [__m512i; WIDTH / 16] =
                        std::array::from_fn(|part| load_512(weights, part * 16));
                    for (values, sums) in taps.iter().zip(&mut sums) {
                        let values = _mm512_set1_epi32(four(values, group));
                        for (sum, weights) in sums.iter_mut().zip(lanes) {
                            *sum = _mm512_dpbusd_epi32(*sum, values, weights);
                        }
                    }
                }
            }
            for (row, sums) in row.into_iter().zip(sums) {
                finish_512(layer, &input[row], sums, &mut output[row]);
            }
        }
    }

    /// Adds bias and residual, and narrows to activations.
    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
    fn finish_512(
        layer: &Dense<TAPS, WIDTH>,
        input: &Row,
        sums: [__m512i; WIDTH / 16],
        output: &mut Row,
    ) {
        let half = _mm512_set1_epi32(1 << (WEIGHT_SHIFT - 1));
        for (part, sum) in sums.into_iter().enumerate() {
            // SAFETY: 16 of the 64 channels, from a multiple of 16.
            let (residual, bias) = unsafe {
                (
                    _mm_loadu_si128(input.as_ptr().add(part * 16).cast()),
                    _mm512_loadu_si512(layer.bias.as_ptr().add(part * 16).cast()),
                )
            };
            let residual =
                _mm512_slli_epi32::<{ WEIGHT_SHIFT as u32 }>(_mm512_cvtepu8_epi32(residual));
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

    /// Both 256-bit kernels; they differ in how four products are added to a sum.
    macro_rules! convolve_256 {
        ($name:ident, $features:literal, |$sum:ident, $values:ident, $weights:ident| $add:expr) => {
            #[target_feature(enable = $features)]
            pub(super) fn $name(
                layer: &Dense<TAPS, WIDTH>,
                dilation: usize,
                rows: &[u16],
                input: &[Row],
                output: &mut [Row],
            ) {
                for &row in rows {
                    let row = usize::from(row);
                    let mut sums = [_mm256_setzero_si256(); WIDTH / 8];
                    for tap in 0..3 {
                        let taps = &input[row + tap * dilation - dilation];
                        for group in 0..WIDTH / 4 {
                            let weights = &layer.packed[tap * (WIDTH / 4) + group];
                            let $values = _mm256_set1_epi32(four(taps, group));
                            for (part, sum) in sums.iter_mut().enumerate() {
                                let ($sum, $weights) = (*sum, load_256(weights, part * 8));
                                *sum = $add;
                            }
                        }
                    }
                    let mut totals = [0; WIDTH];
                    for (part, sum) in sums.into_iter().enumerate() {
                        // SAFETY: eight of the 64 lanes, from a multiple of eight.
                        unsafe {
                            _mm256_storeu_si256(totals.as_mut_ptr().add(part * 8).cast(), sum)
                        };
                    }
                    for (channel, total) in totals.into_iter().enumerate() {
                        let residual = i32::from(input[row][channel]) << WEIGHT_SHIFT;
                        output[row][channel] =
                            super::narrow(total + layer.bias[channel] + residual);
                    }
                }
            }
        };
    }

    convolve_256!(convolve_vnni, "avx2,avxvnni", |sum, values, weights| {
        _mm256_dpbusd_avx_epi32(sum, values, weights)
    });
    convolve_256!(convolve_avx2, "avx2", |sum, values, weights| {
        _mm256_add_epi32(
            sum,
            _mm256_madd_epi16(_mm256_maddubs_epi16(values, weights), _mm256_set1_epi16(1)),
        )
    });

    /// Four neighbouring activations as one lane.
    #[inline(always)]
    fn four(row: &Row, group: usize) -> i32 {
        i32::from_le_bytes([
            row[group * 4],
            row[group * 4 + 1],
            row[group * 4 + 2],
            row[group * 4 + 3],
        ])
    }

    /// The weights of sixteen outputs.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load_512(weights: &[[i8; 4]; WIDTH], first: usize) -> __m512i {
        let part: &[[i8; 4]] = &weights[first..first + 16];
        // SAFETY: the slice holds the 64 bytes that are read.
        unsafe { _mm512_loadu_si512(part.as_ptr().cast()) }
    }

    /// The weights of eight outputs.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_256<const OUT: usize>(weights: &[[i8; 4]; OUT], first: usize) -> __m256i {
        let part: &[[i8; 4]] = &weights[first..first + 8];
        // SAFETY: the slice holds the 32 bytes that are read.
        unsafe { _mm256_loadu_si256(part.as_ptr().cast()) }
    }

    /// Eight of sixteen sums.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_i32(sums: &[i32; TAGS_MAX], first: usize) -> __m256i {
        let part: &[i32] = &sums[first..first + 8];
        // SAFETY: the slice holds the 32 bytes that are read.
        unsafe { _mm256_loadu_si256(part.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
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

        fn dense<const IN: usize, const OUT: usize>(&mut self) -> Dense<IN, OUT> {
            let mut layer = Dense {
                packed: vec![[[0; 4]; OUT]; IN / 4],
                plain: vec![[0; IN]; OUT],
                bias: std::array::from_fn(|_| (self.next() % 20_000) as i32 - 10_000),
            };
            for input in 0..IN {
                for output in 0..OUT {
                    let weight = (self.next() % 255) as i32 - 127;
                    layer.packed[input / 4][output][input % 4] = weight as i8;
                    layer.plain[output][input] = weight as i16;
                }
            }
            layer
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
            let layer = noise.dense();
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
    fn every_level_adds_activates_and_scores_to_the_same_bits() {
        let mut noise = Noise(0xC0FFEE);
        let tables: Vec<TableRow> = (0..11)
            .map(|_| std::array::from_fn(|_| noise.next() as u8))
            .collect();
        let rows: Vec<&TableRow> = tables.iter().collect();
        let layer = noise.dense();
        let all = |level| {
            let mut sums = [[3; WIDTH]; 3];
            add_rows(level, &mut sums, &rows);
            let mut row = [0; WIDTH];
            activate(level, &sums[1], &mut row);
            (sums, row, score(level, &layer, &row))
        };
        let expected = all(Level::Portable);
        for level in Level::available() {
            assert_eq!(all(level), expected, "{level:?}");
        }
    }
}
