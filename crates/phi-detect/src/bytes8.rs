//! Eight bytes of text at once, in one ordinary register.
//!
//! A run of letters is mostly shorter than eight bytes: its end is found by a
//! handful of operations on the whole register instead of a branch per byte,
//! which on running text the processor would guess wrong once per word. A mask
//! has the high bit of each byte that belongs.

/// One in each byte.
pub(crate) const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// The eight bytes from `at` on, the first in the lowest place; zeros beyond the end.
#[inline(always)]
pub(crate) fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => load_rest(bytes, at),
    }
}

/// Loads like `load`, near the end: two or three overlapping pieces make up any length.
#[inline(never)]
fn load_rest(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    let last = rest.len().saturating_sub(1);
    match (rest.first_chunk(), rest.last_chunk()) {
        (Some(head), Some(tail)) => {
            let tail = u64::from(u32::from_le_bytes(*tail));
            u64::from(u32::from_le_bytes(*head)) | tail << (8 * (rest.len() - 4))
        }
        _ => [0, rest.len() / 2, last]
            .into_iter()
            .fold(0, |eight, place| {
                let byte = rest.get(place).copied().unwrap_or(0);
                eight | u64::from(byte) << (8 * place)
            }),
    }
}

/// Twice eight bytes from `at` on.
#[inline(always)]
pub(crate) fn load_two(bytes: &[u8], at: usize) -> [u64; 2] {
    match bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        Some(sixteen) => {
            let all = u128::from_le_bytes(*sixteen);
            [all as u64, (all >> 64) as u64]
        }
        None => [load(bytes, at), load(bytes, at + 8)],
    }
}

/// The ASCII letters among eight bytes.
#[inline(always)]
pub(crate) fn letters(eight: u64) -> u64 {
    between(eight | ONES << 5, b'a', b'z') & !eight
}

/// The ASCII digits among eight bytes.
#[inline(always)]
pub(crate) fn digits(eight: u64) -> u64 {
    between(eight, b'0', b'9') & !eight
}

/// The bytes of characters outside ASCII.
#[inline(always)]
pub(crate) fn outside_ascii(eight: u64) -> u64 {
    eight & HIGH
}

/// The capitals among the ASCII letters that `letters` names.
#[inline(always)]
pub(crate) fn capitals(eight: u64, letters: u64) -> u64 {
    // The bit that distinguishes "a" from "A", moved to the top of its byte.
    letters & !(eight << 2)
}

/// Returns the letters and digits with ASCII capitals made small. Some marks change as well.
#[inline(always)]
pub(crate) fn lower(eight: u64) -> u64 {
    // The bit that distinguishes "A" from "a" is set in digits anyway; outside ASCII it means something else.
    eight | (!(eight >> 2) & ONES << 5)
}

/// Returns the end of the run of bytes from `at` that belong according to `belong`; after `most` bytes, which are whole
/// eights, at the latest.
#[inline(always)]
pub(crate) fn run_end(bytes: &[u8], at: usize, most: usize, belong: impl Fn(u64) -> u64) -> usize {
    let mut end = at;
    while end < at + most {
        let count = run(belong(load(bytes, end)));
        end += count;
        if count < 8 {
            break;
        }
    }
    end
}

/// The letters among eight bytes, ASCII or not.
#[inline(always)]
pub(crate) fn any_letters(eight: u64) -> u64 {
    letters(eight) | outside_ascii(eight)
}

/// The bytes that are this one of ASCII.
#[inline(always)]
pub(crate) fn equal(eight: u64, byte: u8) -> u64 {
    between(eight, byte, byte) & !eight
}

/// Returns the number of bytes that belong, counted from the first until one does not.
#[inline(always)]
pub(crate) fn run(mask: u64) -> usize {
    ((!mask & HIGH).trailing_zeros() / 8) as usize
}

/// Returns the number of bytes of twice eight that belong, counted from the first until one does not.
#[inline(always)]
pub(crate) fn run_of_two([low, high]: [u64; 2]) -> usize {
    let (first, second) = (run(low), 8 + run(high));
    if first == 8 { second } else { first }
}

/// Returns the number of bytes that belong, counted from the last back until one does not.
#[inline(always)]
pub(crate) fn run_back(mask: u64) -> usize {
    ((!mask & HIGH).leading_zeros() / 8) as usize
}

/// The first `count` of eight bytes, zeros after them.
#[inline(always)]
pub(crate) fn first(eight: u64, count: usize) -> u64 {
    const KEPT: [u64; 9] = [
        0,
        0xFF,
        0xFFFF,
        0xFF_FFFF,
        0xFFFF_FFFF,
        0xFF_FFFF_FFFF,
        0xFFFF_FFFF_FFFF,
        0xFF_FFFF_FFFF_FFFF,
        u64::MAX,
    ];
    eight & KEPT[count]
}

/// Returns all bits of the first `count` of twice eight bytes, or of all if there are more.
#[inline(always)]
pub(crate) fn first_of_two(count: usize) -> [u64; 2] {
    static KEPT: [[u64; 2]; 17] = {
        let mut table = [[0; 2]; 17];
        let mut count = 1;
        while count <= 16 {
            let all = u128::MAX >> (128 - 8 * count);
            table[count] = [all as u64, (all >> 64) as u64];
            count += 1;
        }
        table
    };
    KEPT[count.min(16)]
}

/// The bytes whose low seven bits lie from `low` to `high`.
#[inline(always)]
fn between(eight: u64, low: u8, high: u8) -> u64 {
    let seven = eight & !HIGH;
    let from_low = seven + ONES * u64::from(0x80 - low);
    let above_high = seven + ONES * u64::from(0x7F - high);
    from_low & !above_high & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every byte in every place, with neighbours that could disturb it.
    fn every_byte(check: impl Fn(u64, usize, u8)) {
        for neighbour in [0x00, 0x7F, 0x80, 0xFF, b'Z'] {
            for byte in 0..=255 {
                for place in 0..8 {
                    let mut eight = [neighbour; 8];
                    eight[place] = byte;
                    check(u64::from_le_bytes(eight), place, byte);
                }
            }
        }
    }

    #[test]
    fn byte_masks_agree_with_standard_library() {
        every_byte(|eight, place, byte| {
            let has = |mask: u64| mask >> (8 * place + 7) & 1 == 1;
            assert_eq!(has(letters(eight)), byte.is_ascii_alphabetic());
            assert_eq!(has(digits(eight)), byte.is_ascii_digit());
            assert_eq!(has(outside_ascii(eight)), !byte.is_ascii());
            let capitals = capitals(eight, letters(eight));
            assert_eq!(has(capitals), byte.is_ascii_uppercase());
            assert_eq!(has(equal(eight, b'-')), byte == b'-');
            if byte.is_ascii_alphanumeric() || !byte.is_ascii() {
                let lower = lower(eight).to_le_bytes()[place];
                assert_eq!(lower, byte.to_ascii_lowercase());
            }
        });
    }

    #[test]
    fn run_ends_at_first_mask_gap() {
        assert_eq!(run(letters(load(b"abc, def", 0))), 3);
        assert_eq!(run(letters(load(b"abcdefgh", 0))), 8);
        assert_eq!(run(letters(load(b"ab", 0))), 2);
        assert_eq!(run(letters(load(b"ab", 2))), 0);
        assert_eq!(load(b"ab", 9), 0);
        assert_eq!(run_back(letters(load(b"abc, def", 0))), 3);
        assert_eq!(run_back(letters(load(b"abcdefgh", 0))), 8);
        let text = b"0123456789";
        for at in 0..=text.len() {
            let mut expected = [0; 8];
            let rest = &text[at..text.len().min(at + 8)];
            expected[..rest.len()].copy_from_slice(rest);
            assert_eq!(load(text, at).to_le_bytes(), expected);
        }
        assert_eq!(first(load(b"abcdefgh", 0), 2), load(b"ab", 0));
    }

    #[test]
    fn paired_loads_match_two_single_loads() {
        let text: crate::budget::Few<u8> = (1..=40).collect();
        for at in 0..=text.len() + 1 {
            assert_eq!(load_two(&text, at), [load(&text, at), load(&text, at + 8)]);
        }
        for count in 0..=16 {
            let letters = first_of_two(count).map(|all| all & HIGH);
            assert_eq!(run_of_two(letters), count);
            assert_eq!(
                run_of_two([letters[0], HIGH]),
                if count < 8 { count } else { 16 }
            );
        }
        for count in 0..=20 {
            let kept = first_of_two(count).map(u64::to_le_bytes).concat();
            let expected: crate::budget::Few<u8> =
                (0..16).map(|at| if at < count { 255 } else { 0 }).collect();
            assert_eq!(kept, expected);
        }
    }
}
