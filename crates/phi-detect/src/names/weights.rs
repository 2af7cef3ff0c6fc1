//! The weights file: its layout, and reading it.
//!
//! `model/export.py` writes it. Little-endian throughout: a header, sections in the order read below, and an FNV-1a
//! checksum of all that precedes it. The tables are used in place in the binary; only the convolutions are copied, into
//! the order the kernels want.

use std::ops::Range;
use std::sync::LazyLock;

use super::simd::{AROUND, Convolution, Dense, Gate, Screen, TAGS_MAX, TAPS, TableRow, WIDTH};

/// The file, placed so that its tables begin at a cache line: a row then has three of them, and not parts of four.
#[repr(C, align(64))]
struct Placed {
    before: [u8; TABLES_START.next_multiple_of(64) - TABLES_START],
    file: [u8; include_bytes!("weights.bin").len()],
}

static PLACED: Placed = Placed {
    before: [0; _],
    file: *include_bytes!("weights.bin"),
};

static FILE: &[u8] = &PLACED.file;
const MAGIC: &[u8; 8] = b"PHGNAME6";

/// Largest number of convolutions in a stack that the format can hold.
const LAYERS_MAX: usize = 6;
/// Numbers of four bytes in the header: seven counts, the wide stack's parts and layers, the dilations of both stacks,
/// and both ends of doubt.
const NUMBERS: usize = 7 + 2 + 2 * LAYERS_MAX + 2;
/// Offset at which the first layer's tables begin.
const TABLES_START: usize = MAGIC.len() + 4 * NUMBERS + FOLDS;
/// Parts of 64 channels in the layers of the wide stack.
pub(super) const WIDE_PARTS: usize = 2;
/// Accented letters with a plain counterpart lie in these ranges.
const FOLD_RANGES: [(u32, u32); 2] = [(0xC0, 0x250), (0x1E00, 0x1F00)];
/// A byte for each of them.
const FOLDS: usize = 0x190 + 0x100;

/// Steps of the confidence tables: half a unit of lead each.
pub(super) const STEPS: usize = 21;
/// Kinds that have a confidence table.
const KINDS: usize = 3;

/// Convolutions one above the other, and the tag scores at the end.
pub(super) struct StackWeights<const PARTS: usize> {
    /// The lowest takes the first layer's single part, the higher layers as many as they give.
    pub(super) layers: Vec<Convolution<PARTS>>,
    pub(super) output: Dense<TAGS_MAX>,
}

/// The trained model, ready to run.
pub(super) struct Weights {
    folds: &'static [u8],
    /// All rows of the first layer: words, then grams, then contexts.
    pub(super) table: &'static [TableRow],
    words: usize,
    grams: usize,
    pub(super) gate: Gate,
    /// One after each narrow layer but the last.
    pub(super) gates: Vec<Gate>,
    /// Screen of the tokens that pass the first gate.
    pub(super) screen: Screen,
    pub(super) narrow: StackWeights<1>,
    pub(super) wide: StackWeights<WIDE_PARTS>,
    /// Range of the narrow stack's lead of a reported kind over "nothing" in which it is uncertain.
    pub(super) doubt: Range<i32>,
    /// Percentage of correct findings for each reported kind, by the lead of the tags over "nothing".
    pub(super) confidence: &'static [[u8; STEPS]],
    vocabulary: &'static [[u8; 8]],
    bucket_starts: &'static [[u8; 4]],
    prints: &'static [[u8; 2]],
    classes: &'static [u8],
}

impl Weights {
    /// The model in this binary.
    pub(super) fn get() -> &'static Weights {
        static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights::read(FILE));
        &WEIGHTS
    }

    fn read(file: &'static [u8]) -> Weights {
        let mut rest = Reader { rest: file };
        assert_eq!(rest.take(8), MAGIC, "not a weights file of this version");
        let [
            words,
            grams,
            contexts,
            layers,
            vocabulary_bits,
            bucket_bits,
            lexicon,
        ] = std::array::from_fn(|_| rest.number());
        let dilations = rest.numbers();
        assert_eq!(rest.number(), WIDE_PARTS, "as wide as this code");
        let wide_layers = rest.number();
        let wide_dilations = rest.numbers();
        let doubt = rest.signed()..rest.signed();
        Weights {
            folds: rest.take(FOLDS),
            table: rest.rows(words + grams + contexts),
            words,
            grams,
            gate: rest.gate(),
            gates: (1..layers).map(|_| rest.gate()).collect(),
            screen: rest.screen(),
            narrow: rest.stack(&dilations[..layers]),
            wide: rest.stack(&wide_dilations[..wide_layers]),
            doubt,
            confidence: rest.rows(KINDS),
            vocabulary: rest.rows(1 << vocabulary_bits),
            bucket_starts: rest.rows((1 << bucket_bits) + 1),
            prints: rest.rows(lexicon),
            classes: rest.take(lexicon),
        }
    }

    /// Returns the index of a word's row in the table.
    #[inline]
    pub(super) fn word_row(&self, row: u16) -> u32 {
        u32::from(row)
    }

    /// Returns the index of a gram's row in the table.
    pub(super) fn gram_row(&self, row: usize) -> u32 {
        (self.words + row) as u32
    }

    /// Returns the index of a context's row in the table.
    #[inline]
    pub(super) fn context_row(&self, row: u8) -> u32 {
        (self.words + self.grams) as u32 + u32::from(row)
    }

    /// The row of a folded word, if it is a known one, by its hash.
    #[inline]
    pub(super) fn word(&self, hash: u64) -> Option<u16> {
        let mask = self.vocabulary.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.vocabulary[slot];
            let row = u16::from_le_bytes([entry[4], entry[5]]);
            if row == 0 {
                return None;
            }
            if u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]) == (hash >> 32) as u32 {
                return Some(row);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Returns the class of a folded word in the name, place and word lists, by its hash; 0 if it is in no list.
    pub(super) fn lexicon_class(&self, hash: u64) -> u8 {
        let bucket = hash as usize & (self.bucket_starts.len() - 2);
        let start = u32::from_le_bytes(self.bucket_starts[bucket]) as usize;
        let end = u32::from_le_bytes(self.bucket_starts[bucket + 1]) as usize;
        let print = ((hash >> 48) as u16).to_le_bytes();
        self.prints[start..end]
            .iter()
            .position(|candidate| *candidate == print)
            .map_or(0, |place| self.classes[start + place])
    }

    /// The plain ASCII letter of an accented one, with whether it was a capital.
    pub(super) fn fold(&self, letter: char) -> Option<(u8, bool)> {
        let code = letter as u32;
        let mut offset = 0;
        for (start, end) in FOLD_RANGES {
            if (start..end).contains(&code) {
                let byte = self.folds[(offset + code - start) as usize];
                return (byte != 0).then_some((byte & 0x7F, byte & 0x80 != 0));
            }
            offset += end - start;
        }
        None
    }
}

struct Reader {
    rest: &'static [u8],
}

impl Reader {
    fn take(&mut self, count: usize) -> &'static [u8] {
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken
    }

    fn rows<const N: usize>(&mut self, count: usize) -> &'static [[u8; N]] {
        self.take(count * N).as_chunks().0
    }

    fn number(&mut self) -> usize {
        u32::from_le_bytes(self.rows(1)[0]) as usize
    }

    fn signed(&mut self) -> i32 {
        i32::from_le_bytes(self.rows(1)[0])
    }

    fn numbers(&mut self) -> [usize; LAYERS_MAX] {
        std::array::from_fn(|_| self.number())
    }

    fn gate(&mut self) -> Gate {
        Gate {
            weights: self.bytes(),
            bias: self.signed(),
        }
    }

    fn screen(&mut self) -> Screen {
        Screen {
            units: self.dense((2 * AROUND + 1) * WIDTH),
            weights: self.bytes(),
            bias: self.signed(),
        }
    }

    fn bytes<const N: usize>(&mut self) -> [i8; N] {
        self.rows(1)[0].map(|byte| byte as i8)
    }

    fn stack<const PARTS: usize>(&mut self, dilations: &[usize]) -> StackWeights<PARTS> {
        let mut parts_below = 1;
        let mut layers = Vec::with_capacity(dilations.len());
        for &dilation in dilations {
            let parts = std::array::from_fn(|_| self.dense(TAPS * parts_below * WIDTH));
            layers.push(Convolution { dilation, parts });
            parts_below = PARTS;
        }
        let output = self.dense(parts_below * WIDTH);
        StackWeights { layers, output }
    }

    fn dense<const OUT: usize>(&mut self, inputs: usize) -> Dense<OUT> {
        let bytes: &[[u8; 4]] = self.rows(inputs / 4 * OUT);
        let signed = |four: [u8; 4]| four.map(|byte| byte as i8);
        let packed: Vec<[[i8; 4]; OUT]> = bytes
            .chunks_exact(OUT)
            .map(|group| std::array::from_fn(|output| signed(group[output])))
            .collect();
        let bias = std::array::from_fn(|_| self.signed());
        Dense::new(packed, bias)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_file_is_whole() {
        let (body, checksum) = FILE.split_at(FILE.len() - 8);
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        for byte in body {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
        assert_eq!(hash.to_le_bytes(), checksum);
        assert!(FILE.len() <= 8_000_000);
    }

    #[test]
    fn the_sections_fill_the_file() {
        let weights = Weights::get();
        assert!(weights.table.as_ptr().cast::<[u64; 8]>().is_aligned());
        let folds = FOLD_RANGES.map(|(start, end)| (end - start) as usize);
        assert_eq!(weights.folds.len(), folds.iter().sum::<usize>());
        assert_eq!(weights.prints.len(), weights.classes.len());
        let last = weights.bucket_starts.last().expect("one bucket at least");
        assert_eq!(u32::from_le_bytes(*last) as usize, weights.classes.len());
        let end = weights.classes.as_ptr_range().end;
        assert_eq!(end, FILE[..FILE.len() - 8].as_ptr_range().end);
    }
}
