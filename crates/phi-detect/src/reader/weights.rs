//! The reader's weights file: sections that begin at multiples of 64 bytes, written by `model/reader/export.py`.

use std::sync::OnceLock;

use phi_kernels::LANES;

/// The file; matrices are used in place.
static FILE: &[u8] = include_bytes!("weights.bin");

/// Bytes of a row of a packed matrix: two inputs of sixteen outputs.
type Packed = [u8; 2 * LANES];
/// Two pieces that are joined, the piece that they make, and its rank; lower ranks are joined first.
pub(super) type Merge = [u16; 4];

/// A table of rows of signed bytes, each with a scale.
pub(super) struct Table {
    bytes: &'static [u8],
    scales: Vec<f32>,
    width: usize,
}

/// A dense layer.
pub(super) struct Dense {
    /// Blocks of sixteen outputs.
    pub(super) blocks: Vec<Block>,
}

/// Sixteen outputs of a dense layer.
pub(super) struct Block {
    pub(super) weights: &'static [Packed],
    pub(super) scales: [f32; LANES],
    pub(super) biases: [f32; LANES],
}

/// Weights and biases of a normalisation.
pub(super) struct Norm {
    pub(super) weights: Vec<f32>,
    pub(super) biases: Vec<f32>,
}

/// One layer of the encoder.
pub(super) struct Layer {
    pub(super) attention: Dense,
    pub(super) attended: Dense,
    pub(super) attention_norm: Norm,
    pub(super) inner: Dense,
    pub(super) outer: Dense,
    pub(super) norm: Norm,
}

/// All weights of the reader.
pub(super) struct Weights {
    pub(super) size: usize,
    pub(super) inner: usize,
    pub(super) heads: usize,
    /// Pieces of a window.
    pub(super) window: usize,
    /// Pieces on either side that a piece attends to.
    pub(super) near: usize,
    pub(super) words: Table,
    pub(super) places: Table,
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
    pub(super) head: Dense,
    /// The piece of each byte.
    pub(super) bytes: Vec<u16>,
    /// Sorted by the two pieces.
    pub(super) merges: Vec<Merge>,
}

impl Table {
    /// Adds a row, as numbers, to `out`.
    pub(super) fn add_row(&self, row: usize, out: &mut [f32]) {
        let scale = self.scales[row];
        let bytes = &self.bytes[row * self.width..][..self.width];
        for (out, &byte) in out.iter_mut().zip(bytes) {
            *out += f32::from(byte as i8) * scale;
        }
    }
}

impl Weights {
    /// The weights, read at the first call.
    pub(super) fn get() -> &'static Self {
        static WEIGHTS: OnceLock<Weights> = OnceLock::new();
        WEIGHTS.get_or_init(|| Sections { rest: FILE }.weights())
    }
}

/// Reads the file's sections in order. It is part of the program: a damaged file fails a test, not a request.
struct Sections {
    rest: &'static [u8],
}

impl Sections {
    fn weights(mut self) -> Weights {
        let head = self.take(4 + 8 * 4);
        let numbers: [usize; 8] = std::array::from_fn(|at| number(&head[4 + 4 * at..]) as usize);
        let [pieces, size, inner, layers, heads, window, near, merges] = numbers;
        let words = self.table(pieces, size);
        let places = self.table(window, size);
        let norm = self.norm(size);
        let layers = (0..layers).map(|_| self.layer(size, inner)).collect();
        let head = self.dense(size, super::CLASSES.next_multiple_of(LANES));
        let bytes = self.shorts(256);
        let merges = self.shorts(merges * 4);
        Weights {
            size,
            inner,
            heads,
            window,
            near,
            words,
            places,
            norm,
            layers,
            head,
            bytes,
            merges: merges.as_chunks().0.to_vec(),
        }
    }

    /// Returns the next section, which has this many bytes.
    fn take(&mut self, bytes: usize) -> &'static [u8] {
        let (section, _) = self.rest.split_at(bytes);
        self.rest = &self.rest[bytes.next_multiple_of(64)..];
        section
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        let section = self.take(count * 4).as_chunks().0;
        section
            .iter()
            .map(|four| f32::from_le_bytes(*four))
            .collect()
    }

    fn shorts(&mut self, count: usize) -> Vec<u16> {
        let section = self.take(count * 2).as_chunks().0;
        section.iter().map(|two| u16::from_le_bytes(*two)).collect()
    }

    fn table(&mut self, rows: usize, width: usize) -> Table {
        let bytes = self.take(rows * width);
        let scales = self.floats(rows);
        Table {
            bytes,
            scales,
            width,
        }
    }

    fn norm(&mut self, size: usize) -> Norm {
        let weights = self.floats(size);
        let biases = self.floats(size);
        Norm { weights, biases }
    }

    fn dense(&mut self, inputs: usize, outputs: usize) -> Dense {
        let weights: &'static [Packed] = self.take(inputs * outputs).as_chunks().0;
        let scales = self.floats(outputs);
        let biases = self.floats(outputs);
        let scales = scales.as_chunks().0.iter();
        let blocks = weights.chunks_exact(inputs / 2).zip(scales);
        let blocks = blocks.zip(biases.as_chunks().0);
        let blocks = blocks.map(|((weights, scales), biases)| Block {
            weights,
            scales: *scales,
            biases: *biases,
        });
        Dense {
            blocks: blocks.collect(),
        }
    }

    fn layer(&mut self, size: usize, inner: usize) -> Layer {
        Layer {
            attention: self.dense(size, 3 * size),
            attended: self.dense(size, size),
            attention_norm: self.norm(size),
            inner: self.dense(size, inner),
            outer: self.dense(inner, size),
            norm: self.norm(size),
        }
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_file_has_its_checksum() {
        let (body, checksum) = FILE.split_at(FILE.len() - 8);
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        for eight in body.as_chunks().0 {
            hash = (hash ^ u64::from_le_bytes(*eight)).wrapping_mul(0x0100_0000_01B3);
        }
        assert_eq!(hash.to_le_bytes(), checksum);
    }

    #[test]
    fn sections_fill_the_file() {
        assert_eq!(&FILE[..4], b"PHR1");
        let weights = Weights::get();
        assert_eq!(weights.size % (2 * LANES), 0);
        let last = weights.merges.last().expect("a merge");
        let bytes: Vec<u8> = last.iter().flat_map(|short| short.to_le_bytes()).collect();
        let tail = &FILE[..FILE.len() - 8];
        let end = tail.len() - tail.iter().rev().take_while(|&&byte| byte == 0).count();
        assert!(
            tail[end - 8..].windows(8).any(|window| window == bytes)
                || tail[end - 7..end].len() == 7
        );
        assert!(FILE.len() < 20 << 20);
    }
}
