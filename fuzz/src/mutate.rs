//! Mutated inputs: bytes changed, words inserted, pieces removed, doubled and swapped.

use crate::kept::words;

/// Longest input.
const BYTES_MAX: usize = 2048;

/// Generator of inputs, reproducible by its seed.
pub struct Mutator {
    state: u64,
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// Makes a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            state: seed | 1,
            words: words(),
        }
    }

    /// Returns one of these inputs with a few changes.
    pub fn mutate(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut input = self.pick(inputs).to_vec();
        for _ in 0..=self.below(5) {
            self.change(&mut input, inputs);
        }
        input.truncate(BYTES_MAX);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, others: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let piece = at..at + self.below((input.len() - at).min(64) + 1);
        match self.below(8) {
            0 | 1 if at < input.len() => input[at] ^= 1 << self.below(8),
            2 if at < input.len() => input[at] = self.below(256).to_le_bytes()[0],
            3 => drop(input.drain(piece)),
            4 => {
                let double = input[piece].to_vec();
                input.splice(at..at, double);
            }
            5 => {
                let (other, from) = (self.pick(others).to_vec(), self.below(64));
                let taken = other.into_iter().skip(from).take(self.below(64) + 1);
                input.splice(piece, taken);
            }
            6 => input.truncate(at),
            _ => {
                let number = self.below(self.words.len());
                let word = self.words[number].clone();
                input.splice(at..at, word);
            }
        }
    }

    fn pick<'i>(&mut self, inputs: &'i [Vec<u8>]) -> &'i [u8] {
        let number = self.below(inputs.len());
        inputs.get(number).map_or(&[], Vec::as_slice)
    }

    /// Returns a number below `end`, or zero.
    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let number = usize::try_from(self.state >> 16).unwrap_or_default();
        number % end.max(1)
    }
}
