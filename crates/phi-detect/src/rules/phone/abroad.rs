//! Telephone numbers as other countries group them.

use super::shape::is_drug_code;
use crate::digits::Run;
use crate::page::Page;

/// Groups as numbers of other countries have them, or as one dials to call there.
pub(super) fn is_dialled_abroad(page: &Page<'_>, run: &Run, lengths: &[usize]) -> bool {
    let digits = run.digit_count;
    // Dialled numbers do not begin with a single zero and another single digit (`viewBox="0 0 1024 768"`).
    if matches!(lengths, [1, 1, ..]) {
        return false;
    }
    // "0642 0645 0649": characters by their numbers.
    let mut groups = page
        .slice(run.span.clone())
        .split(|byte| !byte.is_ascii_digit());
    if lengths[0] == 4 && groups.all(|group| group.starts_with(b"0")) {
        return false;
    }
    // British numbers: "01603 555 0172", "07700 900461".
    let is_british = lengths[0] == 5 && matches!(digits, 10 | 11);
    // What one dials to call another country: "011 52 55…", "0044 20…".
    let opens = page.slice(run.span.start..run.span.start + 3);
    let is_dialled_out =
        lengths.len() >= 3 && (opens == b"011" && lengths[0] == 3 || opens.starts_with(b"00"));
    // Australia and New Zealand: "03 5550 0142", "09 555 0142".
    let is_southern = matches!(lengths, [2, 3 | 4, 4]);
    (is_british || is_southern || lengths[0] >= 3 && lengths.len() >= 3 || lengths.len() >= 4)
        && ((8..=13).contains(&digits) || is_dialled_out && digits <= 15)
        && !is_drug_code(lengths)
}

/// Whether digits, spaces and hyphens make up the number, with its area in brackets or before a slash.
pub(super) fn is_simple(page: &Page<'_>, run: &Run, lengths: &[usize], opens: bool) -> bool {
    let text = page.slice(run.span.clone());
    // Germany sets the area apart: "0201 / 555-0142".
    let has_area = text[0] == b'0'
        && text.iter().filter(|&&byte| byte == b'/').count() == 1
        && (3..=5).contains(&lengths[0])
        && text[lengths[0]..].trim_ascii_start().starts_with(b"/");
    text.iter().all(|byte| {
        byte.is_ascii_digit()
            || matches!(byte, b' ' | b'-')
            || opens && *byte == b')'
            || has_area && *byte == b'/'
    })
}

/// France dials five pairs; more of them are bytes.
pub(super) fn is_dump(page: &Page<'_>, run: &Run, lengths: &[usize]) -> bool {
    lengths.iter().all(|&length| length == 2)
        && (lengths.len() != 5 || follows_pair(page, run.span.start))
}

/// Whether two letters or digits and a space directly precede ("a0 03 02 01").
fn follows_pair(page: &Page<'_>, start: usize) -> bool {
    let before = page.slice(start.saturating_sub(4)..start);
    matches!(before, [b' ' | b'\n', one, two, b' ']
        if one.is_ascii_hexdigit() && two.is_ascii_hexdigit())
}

/// Whether another group of letters and digits precedes by one space ("1Z 55A AB1 05 5550 1420").
pub(super) fn follows_group(page: &Page<'_>, index: usize) -> bool {
    let start = page.marks[index].start;
    index.checked_sub(1).is_some_and(|before| {
        let mark = page.marks[before];
        (mark.is_number() || mark.is_code())
            && mark.end + 1 == start
            && page.byte(mark.end as usize) == b' '
    })
}
