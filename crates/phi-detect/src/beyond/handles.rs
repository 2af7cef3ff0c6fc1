//! Handles of people behind a sign.

use super::{Proposals, line_of};
use crate::kinds::PhiKind;
use crate::page::Page;

/// Proposes handles in prose; decorators and packages of programs open their line or go on with a path.
pub(super) fn find(page: &Page<'_>, out: &mut Proposals<'_>) {
    let Some(kind) = PhiKind::from_code("username") else {
        return;
    };
    if !out.settings.looks_for(kind) {
        return;
    }
    let bytes = page.bytes();
    for at in memchr::memchr_iter(b'@', bytes) {
        let before = page.byte_before(at);
        if before.is_ascii_alphanumeric() || matches!(before, b'.' | b'_' | b'-' | b'@' | b'/') {
            continue;
        }
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let rest = &bytes[at + 1..bytes.len().min(at + 32)];
        let length = rest.iter().take_while(|byte| is_inner(byte)).count();
        let last = rest[..length].iter().rposition(u8::is_ascii_alphanumeric);
        let Some(end) = last.map(|last| at + 2 + last).filter(|end| end - at > 3) else {
            continue;
        };
        let opens_line = page
            .slice(line_of(page, &(at..at)).start..at)
            .trim_ascii()
            .is_empty();
        let goes_on = matches!(page.byte(end), b'/' | b'(' | b'@' | b':');
        if opens_line || goes_on || !rest[0].is_ascii_alphabetic() {
            continue;
        }
        let is_odd = bytes[at + 1..end]
            .iter()
            .any(|byte| !byte.is_ascii_alphabetic());
        out.push(
            page,
            kind,
            at..end,
            if is_odd { 0.6 } else { 0.3 },
            "username.handle",
        );
    }
}
