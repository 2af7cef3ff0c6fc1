//! Compressions and encodings of streams.

use std::io::Read;

use flate2::read::ZlibDecoder;
use phigate_types::Unread;

use super::lexer::{digit, is_space};
use super::object::Dict;
use crate::bounds;

/// Decodes one filter, to at most a number of bytes.
pub(super) fn decode(
    filter: &[u8],
    bytes: &[u8],
    parameters: &Dict,
    most: usize,
) -> Result<Vec<u8>, Unread> {
    match filter {
        b"FlateDecode" | b"Fl" => predicted(inflate(bytes, most)?, parameters),
        b"LZWDecode" | b"LZW" => predicted(unpack(bytes, parameters, most)?, parameters),
        b"ASCIIHexDecode" | b"AHx" => hexadecimal(bytes),
        b"ASCII85Decode" | b"A85" => base85(bytes),
        b"RunLengthDecode" | b"RL" => runs(bytes, most),
        b"Crypt" => Err(Unread::Encrypted),
        _ => Err(Unread::Damaged),
    }
}

/// Whether a filter is one of images, whose output is pixels.
pub(super) fn is_image(filter: &[u8]) -> bool {
    matches!(
        filter,
        b"DCTDecode" | b"DCT" | b"JPXDecode" | b"CCITTFaxDecode" | b"CCF" | b"JBIG2Decode"
    )
}

/// The most bytes that a stream may expand to.
pub(super) fn most(packed: usize) -> usize {
    bounds::RATIO_FROM.max(packed.saturating_mul(bounds::RATIO))
}

fn inflate(bytes: &[u8], most: usize) -> Result<Vec<u8>, Unread> {
    let mut out = Vec::new();
    if bytes.trim_ascii().is_empty() {
        return Ok(out);
    }
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut decoder = ZlibDecoder::new(bytes);
    let read = (&mut decoder).take(limit).read_to_end(&mut out);
    if out.len() > most {
        return Err(Unread::TooLarge);
    }
    read.map_err(|_| Unread::Damaged)?;
    // Behind the data only the end of the line may follow.
    let used = usize::try_from(decoder.total_in()).map_err(|_| Unread::Limit)?;
    let rest = bytes.get(used..).unwrap_or_default();
    if rest.len() <= 2 && rest.iter().all(|byte| is_space(*byte)) {
        Ok(out)
    } else {
        Err(Unread::Damaged)
    }
}

/// Undoes LZW with codes of 9 to 12 bits.
fn unpack(bytes: &[u8], parameters: &Dict, most: usize) -> Result<Vec<u8>, Unread> {
    let early = parameters
        .get_own(b"EarlyChange")
        .and_then(super::object::Object::size);
    let early = early.unwrap_or(1).min(1);
    // Start and length of each entry in the output.
    let mut entries: Vec<(usize, usize)> = Vec::new();
    let (mut out, mut last) = (Vec::<u8>::new(), None::<(usize, usize)>);
    let (mut width, mut held, mut count) = (9usize, 0usize, 0usize);
    for byte in bytes {
        held = held << 8 | usize::from(*byte);
        count += 8;
        if count < width {
            continue;
        }
        count -= width;
        let code = held >> count & ((1 << width) - 1);
        held &= (1 << count) - 1;
        match code {
            256 => {
                entries.clear();
                (width, last) = (9, None);
                continue;
            }
            257 => return Ok(out),
            _ => {}
        }
        let start = out.len();
        if code < 256 {
            out.push(u8::try_from(code).unwrap_or_default());
        } else if let Some((from, length)) = entries.get(code - 258).copied() {
            out.extend_from_within(from..from + length);
        } else if let Some((from, length)) = last.filter(|_| code - 258 == entries.len()) {
            out.extend_from_within(from..from + length);
            out.push(out[start]);
        } else {
            return Err(Unread::Damaged);
        }
        if out.len() > most {
            return Err(Unread::TooLarge);
        }
        if let Some((from, length)) = last {
            entries.push((from, length + 1));
        }
        last = Some((start, out.len() - start));
        width = match entries.len() + 258 + early {
            0..=511 => 9,
            512..=1023 => 10,
            1024..=2047 => 11,
            _ => 12,
        };
    }
    Ok(out)
}

fn hexadecimal(bytes: &[u8]) -> Result<Vec<u8>, Unread> {
    let end = bytes.iter().position(|byte| *byte == b'>');
    let (body, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
    if rest.iter().skip(1).any(|byte| !is_space(*byte)) {
        return Err(Unread::Damaged);
    }
    let digits = body.iter().filter(|byte| !is_space(**byte));
    let digits: Option<Vec<u8>> = digits.map(|byte| digit(*byte)).collect();
    let digits = digits.ok_or(Unread::Damaged)?;
    let pair = |pair: &[u8]| pair[0] << 4 | pair.get(1).copied().unwrap_or_default();
    Ok(digits.chunks(2).map(pair).collect())
}

fn base85(bytes: &[u8]) -> Result<Vec<u8>, Unread> {
    let (mut out, mut group) = (Vec::new(), Vec::new());
    let mut input = bytes.iter().copied().filter(|byte| !is_space(*byte));
    while let Some(byte) = input.next() {
        match byte {
            b'z' if group.is_empty() => out.extend([0; 4]),
            b'!'..=b'u' => group.push(byte - b'!'),
            b'~' if input.next() == Some(b'>') && input.next().is_none() => break,
            _ => return Err(Unread::Damaged),
        }
        if group.len() == 5 {
            out.extend(from_base85(&group)?);
            group.clear();
        }
    }
    if group.len() == 1 {
        return Err(Unread::Damaged);
    }
    if !group.is_empty() {
        let length = group.len() - 1;
        group.resize(5, 84);
        out.extend(&from_base85(&group)?[..length]);
    }
    Ok(out)
}

fn from_base85(group: &[u8]) -> Result<[u8; 4], Unread> {
    let value = group
        .iter()
        .fold(0u64, |value, digit| value * 85 + u64::from(*digit));
    let value = u32::try_from(value).map_err(|_| Unread::Damaged)?;
    Ok(value.to_be_bytes())
}

fn runs(bytes: &[u8], most: usize) -> Result<Vec<u8>, Unread> {
    let (mut out, mut rest) = (Vec::new(), bytes);
    while let Some((length, after)) = rest.split_first() {
        let length = usize::from(*length);
        rest = match length {
            128 => return Ok(out),
            0..128 => {
                let (run, after) = after.split_at_checked(length + 1).ok_or(Unread::Damaged)?;
                out.extend(run);
                after
            }
            _ => {
                let (byte, after) = after.split_first().ok_or(Unread::Damaged)?;
                out.extend(std::iter::repeat_n(*byte, 257 - length));
                after
            }
        };
        if out.len() > most {
            return Err(Unread::TooLarge);
        }
    }
    Ok(out)
}

/// Undoes the predictors of PNG, by which lines are differences of lines.
fn predicted(bytes: Vec<u8>, parameters: &Dict) -> Result<Vec<u8>, Unread> {
    let number = |key: &str, default| {
        let value = parameters.get_own(key.as_bytes());
        value.map_or(Some(default), super::object::Object::size)
    };
    let read = || {
        let bits = number("Colors", 1)?.checked_mul(number("BitsPerComponent", 8)?)?;
        let line = bits.checked_mul(number("Columns", 1)?)?.div_ceil(8);
        Some((number("Predictor", 1)?, bits.div_ceil(8), line))
    };
    let (predictor, step, line) = read().ok_or(Unread::Damaged)?;
    if predictor <= 1 {
        return Ok(bytes);
    }
    if predictor < 10 || line == 0 || step == 0 || line > 1 << 20 {
        return Err(Unread::Damaged);
    }
    let (mut out, mut above) = (Vec::with_capacity(bytes.len()), vec![0; line]);
    for row in bytes.chunks(line + 1) {
        let (kind, row) = row.split_first().ok_or(Unread::Damaged)?;
        let mut row = row.to_vec();
        for at in 0..row.len() {
            let left = at.checked_sub(step).map_or(0, |left| row[left]);
            let corner = at.checked_sub(step).map_or(0, |left| above[left]);
            let guess = match kind {
                0 => 0,
                1 => left,
                2 => above[at],
                3 => u8::try_from(u16::midpoint(left.into(), above[at].into())).unwrap_or_default(),
                4 => paeth(left, above[at], corner),
                _ => return Err(Unread::Damaged),
            };
            row[at] = row[at].wrapping_add(guess);
        }
        out.extend(&row);
        row.resize(line, 0);
        above = row;
    }
    Ok(out)
}

fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let estimate = i16::from(left) + i16::from(above) - i16::from(corner);
    let distance = |byte: u8| (estimate - i16::from(byte)).abs();
    let nearest = [left, above, corner]
        .into_iter()
        .min_by_key(|byte| distance(*byte));
    nearest.unwrap_or(left)
}
