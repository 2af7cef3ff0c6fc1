//! Two labels for two values: "MRN/Acct: 771204 / 99120334".

use crate::labels::Meaning;
use crate::page::Page;

/// Returns the meaning of the label with this index for the value at `at`, which has `numbers` values between it and
/// the label.
///
/// In a pair the first label is that of the first value. If only one value follows, it gets the label that matters.
pub(super) fn meaning(
    page: &Page<'_>,
    index: usize,
    numbers: usize,
    at: usize,
    decides: &impl Fn(Meaning) -> bool,
) -> Meaning {
    let label = page.labels[index];
    let first = index
        .checked_sub(1)
        .map(|before| page.labels[before])
        .filter(|first| {
            let between = page.slice(first.end as usize..label.start as usize);
            is_bar(between) && decides(first.meaning)
        });
    match first {
        Some(first) if numbers == 0 && (is_mere(label.meaning) || has_second(page, at)) => {
            first.meaning
        }
        _ => label.meaning,
    }
}

/// Whether a meaning is a number or a date that is not PHI of a known kind.
pub(super) fn is_mere(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::OtherId(_) | Meaning::Thing | Meaning::OtherDate
    )
}

fn is_bar(between: &[u8]) -> bool {
    matches!(between.trim_ascii(), b"/" | b"|" | b"&") && between.len() <= 3
}

/// Whether another value follows on the line after the one at `at`.
fn has_second(page: &Page<'_>, at: usize) -> bool {
    let rest = page.slice(at..page.text.len().min(at + 40));
    let value = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
        .count();
    let rest = &rest[value..];
    let bar = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'/' | b'|' | b'&' | b','))
        .count();
    let next = &rest[bar..];
    let next = &next[..next.len().min(4)];
    bar > 0 && rest[..bar].iter().any(|&byte| byte != b' ') && next.iter().any(u8::is_ascii_digit)
}
