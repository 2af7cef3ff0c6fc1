//! Strict parser of an HTTP/1 request head, before the HTTP library sees it.
//!
//! The library accepts heads that two parsers could read differently (Content-Length beside Transfer-Encoding, bare
//! line feeds, repeated Host). A head that passes here has one meaning.

use memchr::memchr;

use crate::error::EdgeError;

/// Framing of the body after a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Length(u64),
    Chunked,
}

/// Limits of a head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadLimits {
    pub(crate) bytes: usize,
    pub(crate) fields: usize,
    pub(crate) uri_bytes: usize,
}

/// Methods that may reach a handler; not every path supports each of them.
const METHODS: &[&[u8]] = &[
    b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS",
];

/// Headers that must not be repeated: they decide about caller, target and length.
const ONCE: &[&str] = &[
    "host",
    "authorization",
    "content-length",
    "transfer-encoding",
    "content-type",
    "content-encoding",
    "expect",
];

/// Result of the search for a head's end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The head is this many bytes long, blank line included.
    End(usize),
    /// More bytes are needed; the search continues at this offset.
    More(usize),
}

/// Searches the blank line. Refuses a bare line feed and a head over its limits.
pub(crate) fn find_end(bytes: &[u8], from: usize, limits: &HeadLimits) -> Result<Found, EdgeError> {
    let mut line_start = from;
    while let Some(offset) = memchr(b'\n', &bytes[line_start..]) {
        let feed = line_start + offset;
        if feed == 0 || bytes[feed - 1] != b'\r' {
            return Err(EdgeError::MalformedHead);
        }
        if feed >= limits.bytes {
            return Err(EdgeError::HeadersTooLarge);
        }
        if feed == line_start + 1 && line_start > 0 {
            return Ok(Found::End(feed + 1));
        }
        line_start = feed + 1;
    }
    if line_start == 0 && bytes.len() > limits.uri_bytes + 64 {
        return Err(EdgeError::UriTooLong);
    }
    if bytes.len() > limits.bytes {
        return Err(EdgeError::HeadersTooLarge);
    }
    Ok(Found::More(line_start))
}

/// Checks a complete head and returns the framing of the body.
pub(crate) fn check(head: &[u8], limits: &HeadLimits) -> Result<Framing, EdgeError> {
    let (line, mut rest) = first_line(head);
    let old_version = request_line(line, limits)?;
    let mut seen = Seen::default();
    let mut count = 0;
    loop {
        let line;
        (line, rest) = first_line(rest);
        if line.is_empty() {
            break;
        }
        count += 1;
        if count > limits.fields {
            return Err(EdgeError::HeadersTooLarge);
        }
        let (name, value) = field(line)?;
        seen.note(name, value)?;
    }
    seen.framing(old_version)
}

/// First line without its end, and the rest. Lines end as [`find_end`] demands.
pub(crate) fn first_line(head: &[u8]) -> (&[u8], &[u8]) {
    let (line, rest) = match memchr(b'\n', head) {
        Some(feed) => head.split_at(feed + 1),
        None => (head, &[][..]),
    };
    (&line[..line.len().saturating_sub(2)], rest)
}

/// Checks `METHOD SP target SP HTTP/1.x`; returns whether it is HTTP/1.0.
fn request_line(line: &[u8], limits: &HeadLimits) -> Result<bool, EdgeError> {
    let mut words = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(EdgeError::MalformedHead);
    };
    let old_version = match version {
        b"HTTP/1.1" => false,
        b"HTTP/1.0" => true,
        other if other.starts_with(b"HTTP/") => return Err(EdgeError::VersionRefused),
        _ => return Err(EdgeError::MalformedHead),
    };
    if method.is_empty() || !method.iter().all(|byte| is_token(*byte)) {
        return Err(EdgeError::MalformedHead);
    }
    if !METHODS.contains(&method) {
        return Err(EdgeError::MethodRefused);
    }
    if target.len() > limits.uri_bytes {
        return Err(EdgeError::UriTooLong);
    }
    if !target.starts_with(b"/") {
        return Err(EdgeError::TargetForm);
    }
    if !target
        .iter()
        .all(|byte| byte.is_ascii_graphic() && *byte != b'#')
    {
        return Err(EdgeError::MalformedHead);
    }
    Ok(old_version)
}

/// Checks `name: value` and splits it. A leading space would continue the line before, which is obsolete and ambiguous.
fn field(line: &[u8]) -> Result<(&[u8], &[u8]), EdgeError> {
    let (name, value) = split(line).ok_or(EdgeError::MalformedHead)?;
    let name_is_token = !name.is_empty() && name.iter().all(|byte| is_token(*byte));
    // Without an early exit the compiler vectorises the loop; nearly all values pass.
    let value_is_text = value.iter().fold(true, |is_text, byte| {
        is_text & ((*byte == b'\t') | ((*byte >= b' ') & (*byte != 0x7f)))
    });
    if name_is_token && value_is_text {
        Ok((name, value))
    } else {
        Err(EdgeError::MalformedHead)
    }
}

/// Splits a line at its colon.
pub(crate) fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr(b':', line)?;
    Some((&line[..colon], trim(&line[colon + 1..])))
}

/// Strips spaces and tabs, the only blanks allowed around a value.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

fn is_token(byte: u8) -> bool {
    IS_TOKEN[usize::from(byte)]
}

/// Lookup table, because every byte of every name is checked.
static IS_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let (marks, mut at) = (b"!#$%&'*+-.^_`|~", 0);
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
};

/// Framing and host, collected from the fields.
#[derive(Default)]
struct Seen {
    once: [bool; ONCE.len()],
    length: Option<u64>,
    chunked: bool,
    host: bool,
}

impl Seen {
    fn note(&mut self, name: &[u8], value: &[u8]) -> Result<(), EdgeError> {
        if let Some(index) = ONCE
            .iter()
            .position(|known| name.eq_ignore_ascii_case(known.as_bytes()))
        {
            if std::mem::replace(&mut self.once[index], true) {
                let is_framing = matches!(ONCE[index], "content-length" | "transfer-encoding");
                return Err(if is_framing {
                    EdgeError::Framing
                } else {
                    EdgeError::RepeatedHeader
                });
            }
            return self.note_once(ONCE[index], value);
        }
        let offers_upgrade = name.eq_ignore_ascii_case(b"upgrade")
            || name.eq_ignore_ascii_case(b"http2-settings")
            || (name.eq_ignore_ascii_case(b"connection") && has_token(value, b"upgrade"));
        if offers_upgrade {
            Err(EdgeError::Upgrade)
        } else {
            Ok(())
        }
    }

    fn note_once(&mut self, name: &'static str, value: &[u8]) -> Result<(), EdgeError> {
        match name {
            "host" => self.host = true,
            "content-length" => self.length = Some(length(value).ok_or(EdgeError::Framing)?),
            "transfer-encoding" if value.eq_ignore_ascii_case(b"chunked") => self.chunked = true,
            "transfer-encoding" => return Err(EdgeError::Framing),
            "expect" if !value.eq_ignore_ascii_case(b"100-continue") => {
                return Err(EdgeError::Expectation);
            }
            _ => {}
        }
        Ok(())
    }

    fn framing(&self, old_version: bool) -> Result<Framing, EdgeError> {
        if !self.host && !old_version {
            return Err(EdgeError::MissingHost);
        }
        match (self.length, self.chunked) {
            (Some(_), true) => Err(EdgeError::Framing),
            (None, true) if old_version => Err(EdgeError::Framing),
            (None, true) => Ok(Framing::Chunked),
            (length, false) => Ok(Framing::Length(length.unwrap_or(0))),
        }
    }
}

/// Parses digits only: no sign, no list, no overflow.
fn length(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    if digits {
        std::str::from_utf8(value).ok()?.parse().ok()
    } else {
        None
    }
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value
        .split(|byte| *byte == b',')
        .any(|item| trim(item).eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: HeadLimits = HeadLimits {
        bytes: 400,
        fields: 6,
        uri_bytes: 60,
    };

    fn read(head: &str) -> Result<Framing, EdgeError> {
        let end = match find_end(head.as_bytes(), 0, &LIMITS)? {
            Found::End(end) => end,
            Found::More(_) => panic!("the head has no end"),
        };
        check(&head.as_bytes()[..end], &LIMITS)
    }

    #[test]
    fn plain_heads_give_the_bodys_framing() {
        for (head, framing) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", Framing::Length(0)),
            (
                "POST /v1/x?y=1 HTTP/1.1\r\nhost: a\r\nContent-Length: 12\r\n\r\n",
                Framing::Length(12),
            ),
            (
                "POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n",
                Framing::Chunked,
            ),
            ("GET / HTTP/1.0\r\n\r\n", Framing::Length(0)),
            (
                "POST / HTTP/1.1\r\nHost:a\r\nExpect: 100-continue\r\nContent-Length:0\r\n\r\n",
                Framing::Length(0),
            ),
        ] {
            assert_eq!(read(head), Ok(framing), "{head:?}");
        }
    }

    #[test]
    fn ambiguous_heads_are_refused() {
        use EdgeError::*;
        let rows: &[(&str, EdgeError)] = &[
            // The rest of the head, and the reason of the refusal.
            (
                "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
                Framing,
            ),
            (
                "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n",
                Framing,
            ),
            ("Content-Length: 1\r\nContent-Length: 1\r\n", Framing),
            ("Content-Length: +1\r\n", Framing),
            ("Content-Length: 1, 1\r\n", Framing),
            ("Content-Length:\r\n", Framing),
            ("Content-Length: 99999999999999999999\r\n", Framing),
            ("Transfer-Encoding: gzip, chunked\r\n", Framing),
            (
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                Framing,
            ),
            ("Transfer-Encoding : chunked\r\n", MalformedHead),
            ("host: b\r\n", RepeatedHeader),
            ("Authorization: x\r\nauthorization: y\r\n", RepeatedHeader),
            ("Content-Type: a/b\r\nContent-Type: c/d\r\n", RepeatedHeader),
            (": x\r\n", MalformedHead),
            ("X y: z\r\n", MalformedHead),
            ("no colon\r\n", MalformedHead),
            ("X: a\r\n folded\r\n", MalformedHead),
            ("X: a\0b\r\n", MalformedHead),
            ("X: a\rb\r\n", MalformedHead),
            ("X: a\u{c}\r\n", MalformedHead),
            ("X: a\n", MalformedHead),
            ("Upgrade: h2c\r\n", Upgrade),
            ("Connection: close, Upgrade\r\n", Upgrade),
            ("HTTP2-Settings: AAMA\r\n", Upgrade),
            ("Expect: tea\r\n", Expectation),
            (
                "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\nF: 6\r\n",
                HeadersTooLarge,
            ),
        ];
        for (rest, why) in rows {
            assert_eq!(
                read(&format!("POST / HTTP/1.1\r\nHost: a\r\n{rest}\r\n")),
                Err(*why),
                "{rest:?}"
            );
        }
    }

    #[test]
    fn unacceptable_request_lines_are_refused() {
        use EdgeError::*;
        let rows: &[(&str, EdgeError)] = &[
            ("CONNECT a:443 HTTP/1.1", MethodRefused),
            ("TRACE / HTTP/1.1", MethodRefused),
            ("REFUSE /3 HTTP/1.1", MethodRefused),
            ("POST http://a.example/ HTTP/1.1", TargetForm),
            ("OPTIONS * HTTP/1.1", TargetForm),
            ("GET  / HTTP/1.1", MalformedHead),
            ("GET / HTTP/1.1 ", MalformedHead),
            ("GET /", MalformedHead),
            ("GET /a#b HTTP/1.1", MalformedHead),
            ("GET /\u{e9} HTTP/1.1", MalformedHead),
            ("GET / HTTP/2.0", VersionRefused),
            ("G@T / HTTP/1.1", MalformedHead),
        ];
        for (line, why) in rows {
            assert_eq!(
                read(&format!("{line}\r\nHost: a\r\n\r\n")),
                Err(*why),
                "{line:?}"
            );
        }
        assert_eq!(
            read(&format!(
                "GET /{} HTTP/1.1\r\nHost: a\r\n\r\n",
                "x".repeat(60)
            )),
            Err(UriTooLong)
        );
        assert_eq!(read("GET / HTTP/1.1\r\n\r\n"), Err(MissingHost));
    }

    #[test]
    fn oversized_heads_are_refused_early() {
        let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(400));
        assert_eq!(
            find_end(long.as_bytes(), 0, &LIMITS),
            Err(EdgeError::HeadersTooLarge)
        );
        assert_eq!(
            find_end(&[b'G'; 130], 0, &LIMITS),
            Err(EdgeError::UriTooLong)
        );
    }

    #[test]
    fn head_search_resumes_at_its_offset() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let mut from = 0;
        for length in 0..head.len() {
            match find_end(&head[..length], from, &LIMITS).unwrap() {
                Found::More(next) => from = next,
                Found::End(_) => panic!("found an end after {length} bytes"),
            }
        }
        assert_eq!(find_end(head, from, &LIMITS), Ok(Found::End(head.len())));
    }
}
