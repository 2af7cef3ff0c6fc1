//! Record numbers in a format that the site named in its settings.

use std::ops::Range;

use crate::budget::List;
use crate::page::{Mark, Page};

/// Values in a format the site named: `9` a digit, `A` a letter, `X` either, anything else itself.
pub(super) fn site_format(page: &Page<'_>, format: &[u8]) -> List<Range<usize>> {
    let starts = page.marks.iter().filter(|mark| could_start(**mark));
    let starts = starts
        .map(|mark| mark.start as usize)
        .flat_map(|start| [start, start.saturating_sub(prefix_length(format))])
        .filter(|&start| fits_format(page, start, format))
        .map(|start| start..start + format.len());
    page.memory().collect(starts)
}

fn could_start(mark: Mark) -> bool {
    mark.is_number() || mark.is_code()
}

/// Counts the characters of a format before its first digit; a mark starts no earlier than that.
fn prefix_length(format: &[u8]) -> usize {
    format
        .iter()
        .take_while(|&&byte| byte != b'9' && byte != b'X')
        .count()
}

fn fits_format(page: &Page<'_>, start: usize, format: &[u8]) -> bool {
    let value = page.slice(start..start + format.len());
    value.len() == format.len()
        && !page.byte_before(start).is_ascii_alphanumeric()
        && !page.byte(start + format.len()).is_ascii_alphanumeric()
        && value
            .iter()
            .zip(format)
            .all(|(&byte, &pattern)| match pattern {
                b'9' => byte.is_ascii_digit(),
                b'A' => byte.is_ascii_alphabetic(),
                b'X' => byte.is_ascii_alphanumeric(),
                other => byte == other,
            })
}
