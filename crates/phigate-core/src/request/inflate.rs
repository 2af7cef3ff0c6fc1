//! Telling compressed data by its content: the beginning of a zlib stream is inflated, and nothing of it is kept.
//!
//! Two bytes mark a zlib stream, and one of some twenty thousand hashes begins with them too, so the marks alone prove
//! nothing. RFC 1950 and RFC 1951.

/// Bytes that have to come out without an error. Random bits very rarely give this many.
const OUTPUT_MIN: usize = 48;

/// Deflate with the usual window.
const METHOD: u8 = 0x78;

/// The levels of compression, each with the check bits that fit the method.
const FLAGS: &[u8] = &[0x01, 0x5e, 0x9c, 0xda];

/// Bits of the longest code.
const CODE_BITS_MAX: usize = 15;

/// Whether bytes begin a zlib stream.
pub(super) fn is_zlib(bytes: &[u8]) -> bool {
    let [method, flags, rest @ ..] = bytes else {
        return false;
    };
    *method == METHOD && FLAGS.contains(flags) && Inflater::new(rest).reaches(OUTPUT_MIN)
}

/// Reader of a deflated stream that counts its bytes, up to the first that makes no sense.
struct Inflater<'b> {
    bytes: &'b [u8],
    /// The next bit.
    at: usize,
    output: usize,
}

/// A code of RFC 1951: the number of codes of each length, and the symbols in order.
struct Code {
    counts: [usize; CODE_BITS_MAX + 1],
    symbols: Vec<usize>,
}

impl Code {
    /// The code with these lengths of its symbols; `None` for more codes than a length has.
    fn new(lengths: &[usize]) -> Option<Self> {
        let mut counts = [0; CODE_BITS_MAX + 1];
        for &length in lengths {
            *counts.get_mut(length)? += 1;
        }
        let mut left = 1_isize;
        for count in &counts[1..] {
            left = left * 2 - *count as isize;
            if left < 0 {
                return None;
            }
        }
        let mut symbols: Vec<usize> = (0..lengths.len()).filter(|&at| lengths[at] > 0).collect();
        symbols.sort_by_key(|&symbol| lengths[symbol]);
        Some(Self { counts, symbols })
    }
}

impl<'b> Inflater<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            output: 0,
        }
    }

    /// Whether this many bytes come out before an error, or a shorter stream has a valid end.
    fn reaches(mut self, output_min: usize) -> bool {
        while let Some(is_last) = self.block(output_min) {
            if self.output >= output_min {
                return true;
            }
            if is_last {
                return self.output > 0 && self.has_checksum_at_end();
            }
        }
        false
    }

    /// Whether nothing but the checksum follows.
    fn has_checksum_at_end(&self) -> bool {
        self.at.div_ceil(8) + 4 == self.bytes.len()
    }

    /// Reads a block, and says whether it is the last.
    fn block(&mut self, output_min: usize) -> Option<bool> {
        let is_last = self.bits(1)? == 1;
        match self.bits(2)? {
            0 => self.stored()?,
            1 => {
                let lengths: Vec<usize> = (0..288).map(fixed_length).collect();
                self.symbols(&Code::new(&lengths)?, &Code::new(&[5; 30])?, output_min)?;
            }
            2 => {
                let (literals, distances) = self.codes()?;
                self.symbols(&literals, &distances, output_min)?;
            }
            _ => return None,
        }
        Some(is_last)
    }

    fn bits(&mut self, count: usize) -> Option<usize> {
        let mut value = 0;
        for shift in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value |= usize::from(byte >> (self.at % 8) & 1) << shift;
            self.at += 1;
        }
        Some(value)
    }

    fn stored(&mut self) -> Option<()> {
        self.at = self.at.next_multiple_of(8);
        let (length, complement) = (self.bits(16)?, self.bits(16)?);
        if length != complement ^ 0xffff {
            return None;
        }
        self.at += length * 8;
        self.output += length;
        Some(())
    }

    fn symbol(&mut self, code: &Code) -> Option<usize> {
        let (mut value, mut first, mut index) = (0, 0, 0);
        for count in &code.counts[1..] {
            value |= self.bits(1)?;
            if value < first + count {
                return code.symbols.get(index + value - first).copied();
            }
            index += count;
            first = (first + count) * 2;
            value *= 2;
        }
        None
    }

    fn symbols(&mut self, literals: &Code, distances: &Code, output_min: usize) -> Option<()> {
        while self.output < output_min {
            match self.symbol(literals)? {
                256 => return Some(()),
                0..=255 => self.output += 1,
                symbol => self.copy(symbol - 257, distances)?,
            }
        }
        Some(())
    }

    /// Copies what came out before, which must reach back no further than the beginning.
    fn copy(&mut self, length: usize, distances: &Code) -> Option<()> {
        let extra = match length {
            0..=7 | 28 => 0,
            8..=27 => length / 4 - 1,
            _ => return None,
        };
        let base = match length {
            28 => 258,
            0..=7 => length + 3,
            _ => ((4 + length % 4) << extra) + 3,
        };
        let copied = base + self.bits(extra)?;
        let distance = self.symbol(distances)?;
        let extra = (distance / 2).saturating_sub(1);
        let base = match distance {
            0..=3 => distance + 1,
            4..=29 => ((2 + distance % 2) << extra) + 1,
            _ => return None,
        };
        let back = base + self.bits(extra)?;
        self.output += copied;
        (back <= self.output - copied).then_some(())
    }

    /// The codes that a block brings along.
    fn codes(&mut self) -> Option<(Code, Code)> {
        const ORDER: [usize; 19] = [
            16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
        ];
        let literals = self.bits(5)? + 257;
        let distances = self.bits(5)? + 1;
        let mut of_lengths = [0; 19];
        for place in &ORDER[..self.bits(4)? + 4] {
            of_lengths[*place] = self.bits(3)?;
        }
        let of_lengths = Code::new(&of_lengths)?;
        let mut lengths: Vec<usize> = Vec::new();
        while lengths.len() < literals + distances {
            let (length, times) = match self.symbol(&of_lengths)? {
                16 => (*lengths.last()?, 3 + self.bits(2)?),
                17 => (0, 3 + self.bits(3)?),
                18 => (0, 11 + self.bits(7)?),
                length => (length, 1),
            };
            lengths.extend(std::iter::repeat_n(length, times));
        }
        // The end of a block must have a code.
        if lengths.len() != literals + distances || literals > 286 || lengths[256] == 0 {
            return None;
        }
        Some((
            Code::new(&lengths[..literals])?,
            Code::new(&lengths[literals..])?,
        ))
    }
}

/// The lengths of the fixed code of literals.
fn fixed_length(symbol: usize) -> usize {
    match symbol {
        0..=143 => 8,
        144..=255 => 9,
        256..=279 => 7,
        _ => 8,
    }
}
