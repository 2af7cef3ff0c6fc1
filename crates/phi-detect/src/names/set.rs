//! A set of the tokens of a window, a bit each.

use std::ops::Range;

use super::WINDOW;

const PARTS: usize = WINDOW / 64;

/// Tokens of a window, by their place in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Set([u64; PARTS]);

impl Set {
    /// Adds up to 64 tokens from `first` on, a bit each.
    pub(super) fn add(&mut self, first: usize, bits: u64) {
        let (part, shift) = (first / 64, first % 64);
        self.0[part] |= bits << shift;
        if shift > 0 && part + 1 < PARTS {
            self.0[part + 1] |= bits >> (64 - shift);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|part| *part == 0)
    }

    /// The first `count` tokens.
    fn first(count: usize) -> Set {
        Set(std::array::from_fn(|part| {
            match count.saturating_sub(part * 64) {
                count @ 0..64 => (1 << count) - 1,
                _ => u64::MAX,
            }
        }))
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|part| part.count_ones() as usize).sum()
    }

    /// Returns these tokens and those `distance` (less than 64) away from them, of `count` in all.
    pub(super) fn widened(&self, distance: usize, count: usize) -> Set {
        let at = |part: usize| self.0.get(part).copied().unwrap_or(0);
        let wide = Set(std::array::from_fn(|part| {
            let later = at(part) << distance | at(part.wrapping_sub(1)) >> (64 - distance);
            let earlier = at(part) >> distance | at(part + 1) << (64 - distance);
            at(part) | later | earlier
        }));
        wide.common(Set::first(count))
    }

    /// Returns these tokens and those of gaps of one or two between them, of `count` in all.
    pub(super) fn without_small_gaps(&self, count: usize) -> Set {
        let wide = self.widened(1, count);
        let others = Set::first(count).without(wide);
        wide.without(others.widened(1, count))
    }

    pub(super) fn contains(&self, token: usize) -> bool {
        self.0[token / 64] >> (token % 64) & 1 == 1
    }

    /// The tokens that are in both sets.
    pub(super) fn common(&self, other: Set) -> Set {
        Set(std::array::from_fn(|part| self.0[part] & other.0[part]))
    }

    /// The tokens that are not in the other set.
    pub(super) fn without(&self, other: Set) -> Set {
        Set(std::array::from_fn(|part| self.0[part] & !other.0[part]))
    }

    /// The tokens that are in either set.
    pub(super) fn joined(&self, other: Set) -> Set {
        Set(std::array::from_fn(|part| self.0[part] | other.0[part]))
    }

    /// Takes the tokens of a range out.
    pub(super) fn remove(&mut self, range: Range<usize>) {
        let range = Set::first(range.end).without(Set::first(range.start));
        *self = self.without(range);
    }

    /// The stretches of tokens without a gap, in order.
    pub(super) fn runs(self) -> impl Iterator<Item = Range<usize>> {
        let mut tokens = self.iter().peekable();
        std::iter::from_fn(move || {
            let start = tokens.next()?;
            let mut end = start + 1;
            while tokens.next_if_eq(&end).is_some() {
                end += 1;
            }
            Some(start..end)
        })
    }

    /// Iterates over the tokens in order. `for_each` is quicker than a loop.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(part, bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                let token = part * 64 + rest.trailing_zeros() as usize;
                let is_left = rest != 0;
                rest &= rest.wrapping_sub(1);
                is_left.then_some(token)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(tokens: &[usize]) -> Set {
        let mut set = Set::default();
        for token in tokens {
            set.add(*token, 1);
        }
        set
    }

    #[test]
    fn widening_crosses_parts_and_stops_at_ends() {
        let wide = set(&[3, 60, 127]).widened(8, 132);
        assert_eq!(
            wide.iter().collect::<Vec<_>>(),
            [3, 11, 52, 60, 68, 119, 127]
        );
        let some = wide.common(set(&[0, 11, 68, 69, 255]));
        assert_eq!(some.iter().collect::<Vec<_>>(), [11, 68]);
        assert!(set(&[]).is_empty());
        let all = some.joined(set(&[200])).without(set(&[68]));
        assert_eq!(all.iter().collect::<Vec<_>>(), [11, 200]);
    }

    #[test]
    fn only_gaps_up_to_two_are_filled() {
        let filled = set(&[0, 2, 62, 65, 70, 74, 131]).without_small_gaps(132);
        assert_eq!(
            filled.iter().collect::<Vec<_>>(),
            [0, 1, 2, 62, 63, 64, 65, 70, 74, 131]
        );
    }

    #[test]
    fn runs_are_found_and_taken_out() {
        let mut set = set(&[0, 62, 63, 64, 65, 70]);
        assert_eq!(set.runs().collect::<Vec<_>>(), [0..1, 62..66, 70..71]);
        set.remove(63..65);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 62, 65, 70]);
    }

    #[test]
    fn bits_are_added_from_any_token_on() {
        let mut set = set(&[]);
        set.add(50, 1 | 1 << 20);
        set.add(WINDOW - 1, 1);
        assert_eq!(set.iter().collect::<Vec<_>>(), [50, 70, WINDOW - 1]);
    }
}
