//! The model's arithmetic: five kernels, each in plain Rust and for the vector units.
//!
//! All of it is exact integer arithmetic, so every path gives the same bits;
//! the tests compare them. This is the one module of the project that may use
//! `unsafe`: to call a function compiled for a processor feature after asking
//! for that feature, and for vector loads whose bounds the array types fix.
#![allow(unsafe_code)]
#![allow(clippy::needless_range_loop)] // see `convolve_512`

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
/// `[inputs / 4][outputs][4]`, and once more as `[inputs][outputs]` for plain code.
pub(super) struct Dense<const IN: usize, const OUT: usize> {
    pub(super) packed: Vec<[[i8; 4]; OUT]>,
    pub(super) plain: Vec<[i16; OUT]>,
    pub(super) bias: [i32; OUT],
}

/// A weighted sum per token; positive means that the token might be part of a finding.
pub(super) struct Gate {
    pub(super) weights: [i16; WIDTH],
    pub(super) bias: i32,
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

/// The first layer's activations from its sums, token by token.
pub(super) fn activate(level: Level, sums: &[Sums], out: &mut [Row]) {
    #[cfg(target_arch = "x86_64")]
    if level != Level::Portable {
        // SAFETY: as in `add_rows`.
        return unsafe { x86::activate(sums, out) };
    }
    let _ = level;
    activate_portable(sums, out);
}

/// Which tokens the gate lets through.
pub(super) fn gate(level: Level, gate: &Gate, rows: &[Row], out: &mut [bool]) {
    #[cfg(target_arch = "x86_64")]
    if level != Level::Portable {
        // SAFETY: as in `add_rows`.
        return unsafe { x86::gate(gate, rows, out) };
    }
    let _ = level;
    gate_portable(gate, rows, out);
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
fn activate_portable(sums: &[Sums], out: &mut [Row]) {
    for (row, sums) in out.iter_mut().zip(sums) {
        for (activation, sum) in row.iter_mut().zip(sums) {
            *activation = (sum.saturating_add(1) >> 1).clamp(0, ACTIVATION_MAX as i16) as u8;
        }
    }
}

#[inline(always)]
fn gate_portable(gate: &Gate, rows: &[Row], out: &mut [bool]) {
    for (passes, row) in out.iter_mut().zip(rows) {
        let products = row.iter().zip(&gate.weights);
        let sum: i32 = products
            .map(|(value, weight)| i32::from(i16::from(*value) * weight))
            .sum();
        *passes = sum + gate.bias > 0;
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
        let mut sums = layer.bias;
        for (tap, from) in [row - dilation, row, row + dilation]
            .into_iter()
            .enumerate()
        {
            add_products(&mut sums, &input[from], &layer.plain[tap * WIDTH..]);
        }
        let residuals = input[row];
        for ((out, sum), residual) in output[row].iter_mut().zip(sums).zip(residuals) {
            *out = narrow(sum + (i32::from(residual) << WEIGHT_SHIFT));
        }
    }
}

fn score_portable(layer: &Dense<WIDTH, TAGS_MAX>, input: &Row) -> [i32; TAGS_MAX] {
    let mut scores = layer.bias;
    add_products(&mut scores, input, &layer.plain);
    scores
}

/// Adds each input times its weights; about half of all activations are zero.
#[inline(always)]
fn add_products<const OUT: usize>(sums: &mut [i32; OUT], input: &Row, weights: &[[i16; OUT]]) {
    for (value, weights) in input.iter().zip(weights) {
        if *value == 0 {
            continue;
        }
        let value = i16::from(*value);
        for (sum, weight) in sums.iter_mut().zip(weights) {
            // At most 127 times 127 either way, which fits.
            *sum += i32::from(value * weight);
        }
    }
}

fn narrow(sum: i32) -> u8 {
    ((sum + (1 << (WEIGHT_SHIFT - 1))) >> WEIGHT_SHIFT).clamp(0, ACTIVATION_MAX) as u8
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! The same kernels for x86-64. Loads and stores go through array references of the exact size.

    use super::{
        ACTIVATION_MAX, Dense, Gate, Row, Sums, TAGS_MAX, TAPS, TableRow, WEIGHT_SHIFT, WIDTH,
    };
    use std::arch::x86_64::*;

    /// Rows computed together, to load each weight once for all of them.
    const BLOCK: usize = 4;

    #[target_feature(enable = "avx2")]
    pub(super) fn add_rows(sums: &mut [Sums; 3], rows: &[&TableRow]) {
        // A row's parts lie in the order follower, itself, predecessor.
        for part in 0..3 {
            let sums = &mut sums[2 - part];
            for lane in 0..WIDTH / 16 {
                // SAFETY: 16 of the 64 sums, from a multiple of 16.
                let place = unsafe { sums.as_mut_ptr().add(lane * 16) }.cast::<__m256i>();
                // SAFETY: as above.
                let mut sum = unsafe { _mm256_loadu_si256(place) };
                for row in rows {
                    // SAFETY: 16 of the row's 192 bytes, from a multiple of 16.
                    let bytes = unsafe {
                        _mm_loadu_si128(row.as_ptr().add(part * WIDTH + lane * 16).cast())
                    };
                    sum = _mm256_add_epi16(sum, _mm256_cvtepi8_epi16(bytes));
                }
                // SAFETY: as above.
                unsafe { _mm256_storeu_si256(place, sum) };
            }
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn activate(sums: &[Sums], out: &mut [Row]) {
        super::activate_portable(sums, out);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn gate(gate: &Gate, rows: &[Row], out: &mut [bool]) {
        super::gate_portable(gate, rows, out);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn score(layer: &Dense<WIDTH, TAGS_MAX>, input: &Row) -> [i32; TAGS_MAX] {
        let mut sums = [load_i32(&layer.bias, 0), load_i32(&layer.bias, 8)];
        let ones = _mm256_set1_epi16(1);
        let values: &[[u8; 4]] = input.as_chunks().0;
        for group in 0..WIDTH / 4 {
            let weights = &layer.packed[group];
            let values = _mm256_set1_epi32(i32::from_le_bytes(values[group]));
            for half in 0..2 {
                let pairs = _mm256_maddubs_epi16(values, load_256(weights, half * 8));
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

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
    pub(super) fn convolve_512(
        layer: &Dense<TAPS, WIDTH>,
        dilation: usize,
        rows: &[u16],
        input: &[Row],
        output: &mut [Row],
    ) {
        // Plain counted loops: iterators over vectors and closures are not always
        // compiled for this processor, and then cost a call per instruction.
        for block in rows.chunks(BLOCK) {
            // A short last block computes its first row more than once.
            let mut row = [usize::from(block[0]); BLOCK];
            for (place, given) in row.iter_mut().zip(block) {
                *place = usize::from(*given);
            }
            let mut sums = [[_mm512_setzero_si512(); WIDTH / 16]; BLOCK];
            for tap in 0..3 {
                let shift = tap * dilation;
                let taps = [
                    input[row[0] + shift - dilation].as_chunks().0,
                    input[row[1] + shift - dilation].as_chunks().0,
                    input[row[2] + shift - dilation].as_chunks().0,
                    input[row[3] + shift - dilation].as_chunks().0,
                ];
                for group in 0..WIDTH / 4 {
                    let weights = &layer.packed[tap * (WIDTH / 4) + group];
                    let lanes = [
                        load_512(weights, 0),
                        load_512(weights, 16),
                        load_512(weights, 32),
                        load_512(weights, 48),
                    ];
                    for i in 0..BLOCK {
                        let four: [u8; 4] = taps[i][group];
                        let values = _mm512_set1_epi32(i32::from_le_bytes(four));
                        for part in 0..WIDTH / 16 {
                            sums[i][part] = _mm512_dpbusd_epi32(sums[i][part], values, lanes[part]);
                        }
                    }
                }
            }
            for i in 0..BLOCK {
                finish_512(layer, &input[row[i]], &sums[i], &mut output[row[i]]);
            }
        }
    }

    /// Adds bias and residual, and narrows to activations.
    #[inline]
    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
    fn finish_512(
        layer: &Dense<TAPS, WIDTH>,
        input: &Row,
        sums: &[__m512i; WIDTH / 16],
        output: &mut Row,
    ) {
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
                        let taps: &[[u8; 4]] = input[row + tap * dilation - dilation].as_chunks().0;
                        for group in 0..WIDTH / 4 {
                            let weights = &layer.packed[tap * (WIDTH / 4) + group];
                            let $values = _mm256_set1_epi32(i32::from_le_bytes(taps[group]));
                            for part in 0..WIDTH / 8 {
                                let ($sum, $weights) = (sums[part], load_256(weights, part * 8));
                                sums[part] = $add;
                            }
                        }
                    }
                    let mut totals = [0; WIDTH];
                    for part in 0..WIDTH / 8 {
                        // SAFETY: eight of the 64 lanes, from a multiple of eight.
                        unsafe {
                            let place = totals.as_mut_ptr().add(part * 8).cast();
                            _mm256_storeu_si256(place, sums[part]);
                        };
                    }
                    for channel in 0..WIDTH {
                        let residual = i32::from(input[row][channel]) << WEIGHT_SHIFT;
                        output[row][channel] =
                            super::narrow(totals[channel] + layer.bias[channel] + residual);
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
mod tests;
