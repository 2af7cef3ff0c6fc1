//! The model's arithmetic: a few kernels, each in plain Rust and for the vector units.
//!
//! All of it is exact integer arithmetic, so every path gives the same bits;
//! the tests compare them. This is the one module of the project that may use
//! `unsafe`: to call a function compiled for a processor feature after asking
//! for that feature, and for vector loads whose bounds the array types fix.
#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
mod arm;
mod portable;
#[cfg(target_arch = "x86_64")]
mod stretches;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;
#[cfg(target_arch = "x86_64")]
use stretches::Stretch;

/// Channels of the first layer, and of every part of a layer above it.
pub(super) const WIDTH: usize = 64;
/// Positions that a convolution looks at: before, at and after a token.
pub(super) const TAPS: usize = 3;
/// Tags, padded to a vector.
pub(super) const TAGS_MAX: usize = 16;
/// Fractional bits of a convolution's weights.
const WEIGHT_SHIFT: i32 = 7;
/// Largest activation: 7 bits, so that no 16-bit partial sum can overflow.
const ACTIVATION_MAX: i32 = 127;

/// Activations of one token; wide layers have several for each.
pub(super) type Row = [u8; WIDTH];
/// A row of an embedding table: what the token adds to its follower, itself and its predecessor.
pub(super) type TableRow = [u8; TAPS * WIDTH];

/// A dilated convolution to `PARTS` parts of 64 channels.
pub(super) struct Convolution<const PARTS: usize> {
    pub(super) dilation: usize,
    /// Inputs in the order of the three positions, and of the channels at each.
    pub(super) parts: [Dense<WIDTH>; PARTS],
}

/// One part of a convolution, or the scores at the end.
pub(super) struct Dense<const OUT: usize> {
    /// Weights as `[inputs / 4][outputs][4]`, for kernels that multiply and add by fours.
    packed: Vec<Fours<OUT>>,
    /// Weights as `[inputs / 2][outputs][2]`, for the kernel that does so by twos.
    #[cfg(target_arch = "x86_64")]
    pairs: Vec<[[i16; 2]; OUT]>,
    /// Weights as `[inputs][outputs]`, for plain code.
    plain: Vec<[i16; OUT]>,
    /// The fours in another order, for kernels that add products up in 16 bits first.
    #[cfg(target_arch = "x86_64")]
    stretches: Vec<Stretch<OUT>>,
    bias: [i32; OUT],
}

/// The weights of four inputs. A load of 64 bytes takes twice as long if it crosses a cache line.
#[repr(align(64))]
struct Fours<const OUT: usize>([[i8; 4]; OUT]);

impl<const OUT: usize> Dense<OUT> {
    /// Takes weights in the order `[inputs / 4][outputs][4]`.
    pub(super) fn new(packed: Vec<[[i8; 4]; OUT]>, bias: [i32; OUT]) -> Self {
        let weights = |input: usize| {
            std::array::from_fn(|output| i16::from(packed[input / 4][output][input % 4]))
        };
        let plain: Vec<[i16; OUT]> = (0..packed.len() * 4).map(weights).collect();
        Dense {
            #[cfg(target_arch = "x86_64")]
            pairs: x86::pairs(&plain),
            #[cfg(target_arch = "x86_64")]
            stretches: Stretch::all(&packed),
            packed: packed.into_iter().map(Fours).collect(),
            plain,
            bias,
        }
    }
}

/// A weighted sum per token; positive means that the token might be part of a finding.
pub(super) struct Gate {
    pub(super) weights: [i8; WIDTH],
    pub(super) bias: i32,
}

/// Tokens on either side of one that a screen looks at.
pub(super) const AROUND: usize = 2;

/// A layer of a few units over the rows of a token and those around it, and a gate above it.
pub(super) struct Screen {
    pub(super) units: Dense<TAGS_MAX>,
    pub(super) weights: [i8; TAGS_MAX],
    pub(super) bias: i32,
}

/// The rows of the table that are summed, for consecutive places of a text.
pub(super) struct Lists {
    /// The two rows that every place has.
    heads: Vec<[u32; 2]>,
    /// Further rows of rare words.
    rest: Vec<u32>,
    /// Index at which the rest of each place starts, and at which the last ends.
    starts: Vec<u32>,
}

/// Kernels that this machine runs.
#[expect(dead_code, reason = "each kind of processor makes its own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// 512-bit dot products.
    Avx512Vnni,
    /// 512-bit multiply and add.
    Avx512,
    /// 256-bit dot products.
    AvxVnni,
    /// 256-bit multiply and add.
    Avx2,
    /// 128-bit multiply and add on processors that have more, see `gentle`.
    Avx2By128,
    /// Instructions that every x86-64 processor has.
    Sse2,
    /// 128-bit dot products of ARM.
    NeonDot,
    /// Instructions that every 64-bit ARM processor has.
    Neon,
    /// Plain Rust.
    Portable,
}

impl Lists {
    /// Makes empty lists with room for this many places of the usual kind.
    pub(super) fn with_capacity(places: usize) -> Self {
        let mut lists = Lists {
            heads: Vec::with_capacity(places),
            rest: Vec::new(),
            starts: Vec::with_capacity(places + 1),
        };
        lists.clear();
        lists
    }

    /// Forgets all places.
    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.rest.clear();
        self.starts.clear();
        self.starts.push(0);
    }

    /// Returns the buffer for rows of the next place beyond its first two.
    #[inline]
    pub(super) fn rest(&mut self) -> &mut Vec<u32> {
        &mut self.rest
    }

    /// Adds a place with these rows, and those put into `rest` since the last.
    #[inline]
    pub(super) fn push(&mut self, head: [u32; 2]) {
        self.heads.push(head);
        self.starts.push(self.rest.len() as u32);
    }

    /// Returns the number of places.
    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    /// The two rows of each of three places.
    #[inline]
    fn heads(&self, first: usize) -> &[[u32; 2]; 3] {
        let heads = self.heads.get(first..).and_then(<[_]>::first_chunk);
        heads.unwrap_or(&[[0; 2]; 3])
    }

    /// Whether one of three places has more than its two rows.
    #[inline]
    fn has_rest(&self, first: usize) -> bool {
        self.starts[first] != self.starts[first + 3]
    }

    /// The rows of a place besides its two.
    #[inline]
    fn rest_at(&self, place: usize) -> &[u32] {
        &self.rest[self.starts[place] as usize..self.starts[place + 1] as usize]
    }

    /// Forgets the first `count` places.
    pub(super) fn forget(&mut self, count: usize) {
        self.heads.drain(..count);
        self.starts.drain(..count);
        let gone = self.starts[0];
        self.rest.drain(..gone as usize);
        for start in &mut self.starts {
            *start -= gone;
        }
    }
}

impl Level {
    /// The best level of this processor, asked once.
    pub(crate) fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| Level::available()[0])
    }

    /// Returns the level for little work. Processors that have wide registers and no dot products run slower for a
    /// while after multiplications in them, and so does the rest of the program.
    pub(super) fn gentle(self) -> Level {
        match self {
            Level::Avx512 | Level::Avx2 => Level::Avx2By128,
            other => other,
        }
    }

    /// The best level without dot products or registers of 512 bits, as on processors of ten years ago.
    pub(crate) fn older() -> Level {
        let mut levels = Level::available().into_iter();
        let is_older = |level: &Level| matches!(level, Level::Avx2 | Level::Neon);
        levels.find(is_older).unwrap_or_else(Level::common)
    }

    /// The best level of every processor of this kind.
    pub(crate) fn common() -> Level {
        if cfg!(target_arch = "x86_64") {
            Level::Sse2
        } else if cfg!(target_arch = "aarch64") {
            Level::Neon
        } else {
            Level::Portable
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn has_avx2(self) -> bool {
        matches!(
            self,
            Level::Avx512Vnni | Level::Avx512 | Level::AvxVnni | Level::Avx2 | Level::Avx2By128
        )
    }

    /// Every level this processor can run, best first.
    pub(super) fn available() -> Vec<Level> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = std::arch::is_x86_feature_detected!("avx2");
            let avx512 = avx2
                && std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512bw");
            if avx512 && std::arch::is_x86_feature_detected!("avx512vnni") {
                levels.push(Level::Avx512Vnni);
            }
            if avx2 && std::arch::is_x86_feature_detected!("avxvnni") {
                levels.push(Level::AvxVnni);
            }
            if avx512 {
                levels.push(Level::Avx512);
            }
            if avx2 {
                levels.extend([Level::Avx2, Level::Avx2By128]);
            }
            levels.push(Level::Sse2);
        }
        #[cfg(target_arch = "aarch64")]
        {
            if std::arch::is_aarch64_feature_detected!("dotprod") {
                levels.push(Level::NeonDot);
            }
            levels.push(Level::Neon);
        }
        levels.push(Level::Portable);
        levels
    }
}

/// Asks for a row of the table that `embed` will want soon: the table is larger than the
/// nearer caches, and all rows of a window can be on their way at once.
#[inline(always)]
pub(super) fn prefetch(table: &[TableRow], row: u32) {
    #[cfg(target_arch = "x86_64")]
    if let Some(row) = table.get(row as usize) {
        for line in row.chunks(64) {
            x86::prefetch(line);
        }
    }
    let _ = (table, row);
}

/// Computes the first layer: for each row of `out` the activations of a token, from the lists of its predecessor (which
/// has the row's own place), itself and its follower.
///
/// The first row of `out` is that of the place `first + 1` of the lists.
pub(super) fn embed(
    level: Level,
    table: &[TableRow],
    lists: &Lists,
    first: usize,
    out: &mut [Row],
) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `available` asked for the features of this level.
        Level::Avx512Vnni | Level::Avx512 => unsafe { x86::embed_512(table, lists, first, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: these levels imply AVX2, which `available` asked for.
        Level::AvxVnni | Level::Avx2 | Level::Avx2By128 => unsafe {
            x86::embed_256(table, lists, first, out);
        },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: every 64-bit ARM processor has NEON.
        Level::NeonDot | Level::Neon => unsafe { arm::embed(table, lists, first, out) },
        _ => portable::embed(table, lists, first, out),
    }
}

/// Returns which of up to 64 tokens the gate lets through, one bit each.
pub(super) fn gate(level: Level, gate: &Gate, rows: &[Row]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    match level {
        // SAFETY: this level implies AVX2, which `available` asked for.
        Level::Avx2By128 => return unsafe { x86::gate_128(gate, rows) },
        // SAFETY: `available` asked for the features of this level.
        Level::Avx512Vnni => return unsafe { x86::gate_512(gate, rows) },
        // SAFETY: as above.
        level if level.has_avx2() => return unsafe { x86::gate_256(gate, rows) },
        _ => {}
    }
    #[cfg(target_arch = "aarch64")]
    if level != Level::Portable {
        // SAFETY: every 64-bit ARM processor has NEON.
        return unsafe { arm::gate(gate, rows) };
    }
    let _ = level;
    portable::gate(gate, rows)
}

/// Whether a token may still be part of a finding, by its row and those around it.
pub(super) fn screen(level: Level, screen: &Screen, rows: &[Row; 2 * AROUND + 1]) -> bool {
    let units = score(level, &screen.units, rows);
    weigh(level, &units, &screen.weights) + screen.bias > 0
}

/// Returns the weighted sum of the units of a screen.
fn weigh(level: Level, units: &[i32; TAGS_MAX], weights: &[i8; TAGS_MAX]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if level.has_avx2() {
        // SAFETY: this level implies AVX2, which `available` asked for.
        return unsafe { x86::weigh(units, weights) };
    }
    let _ = level;
    portable::weigh(units, weights)
}

/// Computes a dilated convolution with its residual, at the listed rows of `input` into the same rows of `output`. If
/// there are more parts out than in, the residual is the input's parts in turn.
///
/// Every listed row must have `dilation` rows on either side.
pub(super) fn convolve<const IN: usize, const OUT: usize>(
    level: Level,
    layer: &Convolution<OUT>,
    rows: &[u16],
    input: &[[Row; IN]],
    output: &mut [[Row; OUT]],
) {
    // Part by part, since the weights of one fit the nearest cache.
    for part in 0..OUT {
        match level {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` asked for the features of this level.
            Level::Avx512Vnni => unsafe { x86::convolve_512(layer, part, rows, input, output) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` asked for the features of this level.
            Level::Avx512 => unsafe {
                x86::convolve_512_by_twos(layer, part, rows, input, output);
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` asked for the features of this level.
            Level::Avx2By128 => unsafe { x86::convolve_by_128(layer, part, rows, input, output) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` asked for the features of this level.
            Level::AvxVnni => unsafe { x86::convolve_256(layer, part, rows, input, output) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` asked for the features of this level.
            Level::Avx2 => unsafe { x86::convolve_256_by_twos(layer, part, rows, input, output) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: every x86-64 processor has SSE2.
            Level::Sse2 => unsafe { x86::convolve_sse2(layer, part, rows, input, output) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: `available` asked for the feature of this level.
            Level::NeonDot => unsafe { arm::convolve_dot(layer, part, rows, input, output) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: every 64-bit ARM processor has NEON.
            Level::Neon => unsafe { arm::convolve(layer, part, rows, input, output) },
            _ => portable::convolve(layer, part, rows, input, output),
        }
    }
}

/// Returns the tag scores of one token, or other sums of whole rows.
pub(super) fn score<const IN: usize>(
    level: Level,
    layer: &Dense<TAGS_MAX>,
    input: &[Row; IN],
) -> [i32; TAGS_MAX] {
    #[cfg(target_arch = "x86_64")]
    match level {
        // SAFETY: `available` asked for the features of this level.
        Level::Avx512Vnni => return unsafe { x86::score_512_vnni(layer, input) },
        // SAFETY: as above.
        Level::Avx512 => return unsafe { x86::score_512(layer, input) },
        // SAFETY: this level implies AVX2, which `available` asked for.
        Level::Avx2By128 => return unsafe { x86::score_128(layer, input) },
        // SAFETY: as above.
        level if level.has_avx2() => return unsafe { x86::score_256(layer, input) },
        _ => {}
    }
    #[cfg(target_arch = "aarch64")]
    match level {
        // SAFETY: `available` asked for the feature of this level.
        Level::NeonDot => return unsafe { arm::score_dot(layer, input) },
        // SAFETY: every 64-bit ARM processor has NEON.
        Level::Neon => return unsafe { arm::score(layer, input) },
        _ => {}
    }
    let _ = level;
    portable::score(layer, input)
}

#[cfg(test)]
mod tests;
