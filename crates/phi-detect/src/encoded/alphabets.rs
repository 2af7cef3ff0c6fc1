//! Runs of letters and digits that encode bytes: hexadecimal, base64, base32, binary, and ASCII85 in its marks.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::Coded;
use crate::budget::{Few, List, Text};
use crate::page::Page;

/// Shorter runs hold nothing worth hiding.
const RUN_BYTES_MIN: usize = 14;

/// Decodes a run to text, with the ratio of its bytes to those of the text.
pub(super) fn decode(run: &[u8]) -> Option<(String, (usize, usize))> {
    if run.len() < RUN_BYTES_MIN {
        return None;
    }
    binary(run)
        .or_else(|| hexadecimal(run))
        .or_else(|| base64(run))
        .or_else(|| base32(run))
}

/// Decodes hexadecimal (`3533362d…`) to text, with the ratio of bytes.
fn hexadecimal(run: &[u8]) -> Option<(String, (usize, usize))> {
    let run = run.strip_prefix(b"0x").unwrap_or(run);
    let is_hex = run.len().is_multiple_of(2)
        && run.len() >= RUN_BYTES_MIN
        && run.iter().all(u8::is_ascii_hexdigit);
    if !is_hex {
        return None;
    }
    let bytes = run
        .chunks_exact(2)
        .map(|pair| hex(pair[0]) << 4 | hex(pair[1]))
        .collect();
    readable(bytes).map(|text| (text, (2, 1)))
}

fn hex(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    }
}

/// Decodes base64 in either alphabet, with or without padding.
fn base64(run: &[u8]) -> Option<(String, (usize, usize))> {
    let run = run
        .strip_suffix(b"==")
        .or_else(|| run.strip_suffix(b"="))
        .unwrap_or(run);
    let is_other = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if run.len() < RUN_BYTES_MIN
        || run.len() % 4 == 1
        || !run.iter().any(u8::is_ascii_uppercase)
        || !run.iter().any(is_other)
    {
        return None;
    }
    // Look at the start before decoding a megabyte of something else.
    readable(decode_base64(&run[..run.len().min(64) & !3])?)?;
    readable(decode_base64(run)?).map(|text| (text, (4, 3)))
}

fn decode_base64(run: &[u8]) -> Option<Few<u8>> {
    let mut bytes = Few::with_capacity(run.len() / 4 * 3 + 3);
    let mut bits = 0u32;
    let mut count = 0;
    for &byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// The bytes as text, if a person could read it.
pub(super) fn readable(bytes: Few<u8>) -> Option<String> {
    let is_shown = |byte: &u8| {
        (0x20..0x7f).contains(byte) || matches!(byte, b'\t' | b'\n' | b'\r') || *byte >= 0xc2
    };
    let shown = bytes.iter().filter(|byte| is_shown(byte)).count();
    if shown * 20 < bytes.len() * 19 {
        return None;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        // The start of a run may be cut inside a character.
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let is_only_cut = valid + 3 >= bytes.len() && valid > 0;
            is_only_cut.then(|| String::from_utf8_lossy(&bytes[..valid]).into_owned())
        }
    }
}

/// Decodes binary digits (`0011010100110011…`).
fn binary(run: &[u8]) -> Option<(String, (usize, usize))> {
    let is_binary = run.len().is_multiple_of(8)
        && run.len() >= RUN_BYTES_MIN * 4
        && run.iter().all(|byte| matches!(byte, b'0' | b'1'));
    if !is_binary {
        return None;
    }
    let byte_of = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | (bit & 1));
    readable(run.chunks_exact(8).map(byte_of).collect()).map(|text| (text, (8, 1)))
}

/// Decodes base32 (RFC 4648, section 6), with or without padding.
fn base32(run: &[u8]) -> Option<(String, (usize, usize))> {
    let is_part = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'2'..=b'7');
    let length = run.iter().take_while(|byte| is_part(byte)).count();
    let (run, rest) = run.split_at(length);
    let has_digit = || run.iter().any(u8::is_ascii_digit);
    if run.len() < RUN_BYTES_MIN || !matches!(rest, [] | [b'=', ..]) || !has_digit() {
        return None;
    }
    let mut bytes = Few::with_capacity(run.len() / 8 * 5 + 5);
    let mut bits = 0u64;
    let mut count = 0;
    for &byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            _ => byte - b'2' + 26,
        };
        bits = bits << 5 | u64::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    readable(bytes).map(|text| (text, (8, 5)))
}

/// Longest ASCII85 text that is decoded.
const ASCII85_BYTES_MAX: usize = 64 * 1024;

/// Opening of ASCII85.
static ASCII85: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"<~"));

/// Finds ASCII85 between `<~` and `~>`.
pub(super) fn delimited(page: &Page<'_>, found: &mut List<Coded>) {
    let bytes = page.bytes();
    let mut free_from = 0;
    for open in ASCII85.find_iter(bytes) {
        if open < free_from {
            continue;
        }
        let inner = &bytes[open + 2..bytes.len().min(open + ASCII85_BYTES_MAX)];
        let Some(length) = memchr::memmem::find(inner, b"~>") else {
            free_from = open + ASCII85_BYTES_MAX;
            continue;
        };
        free_from = open + length + 4;
        found.extend(
            ascii85(&inner[..length])
                .and_then(readable)
                .and_then(|text| Text::of(page.memory(), text))
                .map(|text| Coded {
                    span: open..free_from,
                    text,
                    ratio: (5, 4),
                }),
        );
    }
}

fn ascii85(run: &[u8]) -> Option<Few<u8>> {
    let mut bytes = Few::with_capacity(run.len() / 5 * 4 + 4);
    let digits: Few<u8> = run
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    for group in digits.chunks(5) {
        if !group.iter().all(|byte| (b'!'..=b'u').contains(byte)) {
            return None;
        }
        let padded = group.iter().copied().chain(std::iter::repeat(b'u')).take(5);
        let value = padded.fold(0u64, |value, byte| value * 85 + u64::from(byte - b'!'));
        let four = u32::try_from(value).ok()?.to_be_bytes();
        bytes.extend_from_slice(&four[..group.len() - 1]);
    }
    Some(bytes)
}
