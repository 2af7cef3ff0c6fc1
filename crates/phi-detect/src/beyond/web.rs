//! Web addresses, internet addresses and the addresses of network devices.

use std::ops::Range;

use super::Proposals;
use crate::kinds::PhiKind;
use crate::page::Page;

/// Hosts whose addresses name code systems, schemas and profiles, not pages about a person.
const NAMING_HOSTS: &str = "loinc.org|hl7.org|snomed.info|nlm.nih.gov/research|unitsofmeasure.org|json-schema.org|\
    w3.org|schemas.xmlsoap.org|schemas.microsoft.com|schemas.openxmlformats.org|schema.org|fhir.org|ihe.net|dicom.nema.org|\
    purl.org|xmlns.com|ns.adobe.com|apache.org/xml|maven.apache.org|opengis.net|cdisc.org|who.int/classifications|\
    hl7.fhir|example.org/fhir|localhost|127.0.0.1";

/// Proposes addresses of the web, of machines and of their network cards.
pub(super) fn find(page: &Page<'_>, out: &mut Proposals<'_>) {
    let kind = PhiKind::from_code;
    let (Some(url), Some(ip), Some(device)) = (kind("url"), kind("ip"), kind("device")) else {
        return;
    };
    let bytes = page.bytes();
    let mut free_from = 0;
    for at in memchr::memmem::find_iter(bytes, b"://") {
        let start = scheme_start(bytes, at);
        let end = address_end(bytes, at + 3);
        if start == at || start < free_from || end < at + 6 {
            continue;
        }
        free_from = end;
        if !is_naming(page.slice(at + 3..end)) {
            out.push(page, url, start..end, 0.9, "url.scheme");
        }
    }
    for at in
        memchr::memmem::find_iter(bytes, b"www.").chain(memchr::memmem::find_iter(bytes, b"WWW."))
    {
        let before = page.byte_before(at);
        let end = address_end(bytes, at);
        if !before.is_ascii_alphanumeric() && !matches!(before, b'/' | b'@' | b'.') && end > at + 6
        {
            out.push(page, url, at..end, 0.85, "url.host");
        }
    }
    for index in page.each_number() {
        let start = page.marks[index].start as usize;
        if page.byte_before(start).is_ascii_alphanumeric() {
            continue;
        }
        if let Some(end) = four_octets(page, start) {
            out.push(page, ip, start..end, 0.85, "ip.four");
        } else if let Some(end) = hardware(bytes, start) {
            out.push(page, device, start..end, 0.85, "device.mac");
        } else if let Some(end) = six(page, start) {
            out.push(page, ip, start..end, 0.85, "ip.six");
        } else if let Some(span) = serial_of_udi(page, start) {
            out.push(page, device, span, 0.9, "device.udi");
        }
    }
    for at in memchr::memchr_iter(b':', bytes) {
        // Addresses that begin with letters: "fe80::1", "a4:5e:60:c1:92:0f".
        let start = hex_start(bytes, at);
        if start == at || bytes[start].is_ascii_digit() || page.byte_before(start) == b':' {
            continue;
        }
        if let Some(end) = hardware(bytes, start) {
            out.push(page, device, start..end, 0.85, "device.mac");
        } else if let Some(end) = six(page, start) {
            out.push(page, ip, start..end, 0.85, "ip.six");
        }
    }
    references(page, out);
}

/// The start of the scheme that ends at a place, or that place if no scheme ends there.
fn scheme_start(bytes: &[u8], end: usize) -> usize {
    let schemes: [&[u8]; 5] = [b"https", b"http", b"sftp", b"ftps", b"ftp"];
    let starts = schemes
        .iter()
        .map(|scheme| (end.saturating_sub(scheme.len()), scheme));
    let mut found =
        starts.filter(|(start, scheme)| bytes[*start..end].eq_ignore_ascii_case(scheme));
    found.next().map_or(end, |(start, _)| start)
}

/// The end of an address: before white space, quotes, brackets and punctuation that ends a sentence.
fn address_end(bytes: &[u8], start: usize) -> usize {
    const LONGEST: usize = 2048;
    let rest = &bytes[start.min(bytes.len())..bytes.len().min(start + LONGEST)];
    let is_inner = |byte: &u8| {
        !byte.is_ascii_whitespace()
            && !matches!(
                byte,
                b'"' | b'\'' | b'<' | b'>' | b'`' | b'|' | b'\\' | b'{' | b'}' | b'^'
            )
    };
    let mut length = rest.iter().take_while(|byte| is_inner(byte)).count();
    let opens = |length: usize, open: u8, close: u8| {
        let count = |sign: u8| rest[..length].iter().filter(|byte| **byte == sign).count();
        count(open) >= count(close)
    };
    while let Some(last) = rest[..length].last() {
        let is_loose = match last {
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'*' | b'_' => true,
            b')' => !opens(length, b'(', b')'),
            b']' => !opens(length, b'[', b']'),
            _ => false,
        };
        if !is_loose {
            break;
        }
        length -= 1;
    }
    // A comma inside ends a cell or a list, unless it is in a query.
    let text = &rest[..length];
    let comma = text.iter().position(|byte| *byte == b',');
    let cut = comma.filter(|at| !text[..*at].contains(&b'?'));
    // "](" closes the text of a link before its address.
    let link = memchr::memmem::find(text, b"](");
    let length = [cut, link].into_iter().flatten().min().unwrap_or(length);
    start + length
}

fn is_naming(rest: &[u8]) -> bool {
    let rest = rest.to_ascii_lowercase();
    NAMING_HOSTS.split('|').any(|host| {
        let found = memchr::memmem::find(&rest, host.as_bytes());
        found.is_some_and(|at| at == 0 || matches!(rest[at - 1], b'.' | b'@'))
    })
}

/// The end of an IPv4 address; versions and the machine itself are left alone.
fn four_octets(page: &Page<'_>, start: usize) -> Option<usize> {
    let bytes = page.bytes();
    let mut at = start;
    let mut octets = [0_u32; 4];
    for (place, octet) in octets.iter_mut().enumerate() {
        if place > 0 {
            at += usize::from(page.byte(at) == b'.');
        }
        let digits = bytes[at..]
            .iter()
            .take(4)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if !(1..=3).contains(&digits) || place > 0 && bytes[at - 1] != b'.' {
            return None;
        }
        *octet = bytes[at..at + digits]
            .iter()
            .fold(0, |sum, byte| sum * 10 + u32::from(byte - b'0'));
        if *octet > 255 || digits > 1 && bytes[at] == b'0' {
            return None;
        }
        at += digits;
    }
    let goes_on = page.byte(at).is_ascii_alphanumeric()
        || page.byte(at) == b'.' && page.byte(at + 1).is_ascii_digit();
    let is_of_machine = matches!(octets[0], 0 | 127 | 255);
    let before = page.byte_before(start);
    let is_inside = matches!(before, b'.' | b'-' | b'_');
    (!goes_on && !is_of_machine && !is_inside && !is_version(page, start)).then_some(at)
}

/// Whether the words before say that the figures are a version.
fn is_version(page: &Page<'_>, start: usize) -> bool {
    let before = page
        .slice(start.saturating_sub(24)..start)
        .to_ascii_lowercase();
    let last = before
        .rsplit(|byte| matches!(byte, b',' | b';' | b'\n'))
        .next()
        .unwrap_or_default();
    [
        "version", "firmware", "release", " ver", " v", "build", "software", "driver", "schema",
    ]
    .iter()
    .any(|word| memchr::memmem::find(last, word.as_bytes()).is_some())
}

/// The end of a hardware address: six pairs, with one sign between.
fn hardware(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..start + 17)?;
    let sign = rest[2];
    let is_pair = |pair: &[u8]| pair[..2].iter().all(u8::is_ascii_hexdigit);
    let has_form = matches!(sign, b':' | b'-')
        && rest
            .chunks(3)
            .all(|pair| is_pair(pair) && pair.get(2).is_none_or(|byte| *byte == sign));
    let goes_on = bytes
        .get(start + 17)
        .is_some_and(|byte| byte.is_ascii_hexdigit() || *byte == sign);
    (has_form && !goes_on).then_some(start + 17)
}

/// The end of an IPv6 address.
fn six(page: &Page<'_>, start: usize) -> Option<usize> {
    let bytes = page.bytes();
    let rest = &bytes[start..bytes.len().min(start + 45)];
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit() || **byte == b':')
        .count();
    let length = rest[..length].iter().rposition(|byte| *byte != b':')? + 1;
    let text = &rest[..length];
    let gaps = memchr::memmem::find_iter(text, b"::").count();
    let groups = text.split(|&byte| byte == b':');
    let (mut count, mut is_form) = (0, true);
    for group in groups {
        count += usize::from(!group.is_empty());
        is_form &= group.len() <= 4;
    }
    let is_whole = gaps == 0 && count == 8 || gaps == 1 && (2..8).contains(&count);
    let has_digits = text.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2;
    let goes_on = bytes
        .get(start + length)
        .is_some_and(u8::is_ascii_alphanumeric);
    (is_form && is_whole && has_digits && !goes_on).then_some(start + length)
}

fn hex_start(bytes: &[u8], end: usize) -> usize {
    let digits = bytes[..end]
        .iter()
        .rev()
        .take(4)
        .take_while(|byte| byte.is_ascii_hexdigit());
    let start = end - digits.count();
    let is_inside = start > 0 && bytes[start - 1].is_ascii_alphanumeric();
    if is_inside { end } else { start }
}

/// The serial number of a device identifier: what follows (21) behind (01) and fourteen digits.
fn serial_of_udi(page: &Page<'_>, start: usize) -> Option<Range<usize>> {
    const REACH: usize = 80;
    let bytes = page.bytes();
    let is_item = bytes[..start].ends_with(b"(01)");
    let rest = &bytes[start..bytes.len().min(start + REACH)];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let serial = memchr::memmem::find(&rest[..line], b"(21)").map(|at| start + at + 4)?;
    let length = bytes[serial..]
        .iter()
        .take(20)
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
        .count();
    (is_item && digits == 14 && length > 0).then_some(serial..serial + length)
}

/// Proposes references to the records of a patient in FHIR (`Patient/f0017`).
fn references(page: &Page<'_>, out: &mut Proposals<'_>) {
    let Some(record) = PhiKind::from_code("record_id") else {
        return;
    };
    let bytes = page.bytes();
    for at in memchr::memmem::find_iter(bytes, b"Patient/") {
        let before = page.byte_before(at);
        let start = at + b"Patient/".len();
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let length = bytes[start..]
            .iter()
            .take(64)
            .take_while(|byte| is_inner(byte))
            .count();
        let has_digit = bytes[start..start + length].iter().any(u8::is_ascii_digit);
        if has_digit && !before.is_ascii_alphanumeric() && before != b'/' {
            out.push(
                page,
                record,
                at..start + length,
                0.85,
                "record_id.reference",
            );
        }
    }
}
