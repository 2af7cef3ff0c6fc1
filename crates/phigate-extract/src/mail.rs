//! Mail: every header, every part, and what is written between the parts.

use data_encoding::{BASE64_MIME_PERMISSIVE, Encoding as Base64};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use phigate_types::Unread;

use crate::sniff::{Magic, magic};
use crate::{bounds, html, image, rtf, text};

/// Headers of which a mail has two.
const KNOWN: &[&str] = &[
    "bcc",
    "cc",
    "content-type",
    "date",
    "delivered-to",
    "from",
    "message-id",
    "mime-version",
    "received",
    "reply-to",
    "return-path",
    "sender",
    "subject",
    "to",
];

/// The most parts of a mail.
const PARTS: usize = 1000;

/// Media types of encrypted parts.
const ENCRYPTED: &[&str] = &[
    "multipart/encrypted",
    "application/pkcs7-mime",
    "application/x-pkcs7-mime",
];

/// Base64 with line breaks, as mails have it.
const BASE64: Base64 = BASE64_MIME_PERMISSIVE;

/// Whether bytes begin with the headers of a mail.
pub(crate) fn is_mail(bytes: &[u8]) -> bool {
    let mut known = 0;
    for line in bytes[..bytes.len().min(16 << 10)].split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        if matches!(line, [b' ' | b'\t', ..]) {
            continue;
        }
        let Some(name) = line.iter().position(|byte| *byte == b':') else {
            return false;
        };
        let name = line[..name].to_ascii_lowercase();
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return false;
        }
        known += usize::from(KNOWN.iter().any(|each| each.as_bytes() == name));
    }
    known >= 2
}

/// Reads a mail.
pub(crate) fn read(bytes: &[u8]) -> Result<String, Unread> {
    let mut reader = Reader {
        text: String::new(),
        parts: 0,
    };
    reader.entity(bytes, 0)?;
    Ok(reader.text)
}

struct Reader {
    text: String,
    parts: usize,
}

/// Header of a mail or part.
struct Header {
    name: String,
    value: String,
}

impl Reader {
    fn line(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.text.push_str(text);
            self.text.push('\n');
        }
    }

    /// Reads headers and body of a mail or part.
    fn entity(&mut self, bytes: &[u8], depth: usize) -> Result<(), Unread> {
        self.parts += 1;
        if depth > 16 || self.parts > PARTS {
            return Err(Unread::Limit);
        }
        let (head, body) = split(bytes);
        let headers = headers(head)?;
        for header in &headers {
            let value = words(&without_boundary(header))?;
            self.line(&format!("{}: {value}", header.name));
        }
        self.text.push('\n');
        let get = |name: &str| {
            let mut same = headers
                .iter()
                .filter(|header| header.name.eq_ignore_ascii_case(name));
            let first = same.next().map(|header| header.value.as_str());
            if same.next().is_some() {
                Err(Unread::ReadersDisagree)
            } else {
                Ok(first)
            }
        };
        let kind = get("content-type")?.unwrap_or("text/plain").to_owned();
        let (media, boundary, charset) = (
            media(&kind),
            parameter(&kind, "boundary"),
            parameter(&kind, "charset"),
        );
        if ENCRYPTED.contains(&media.as_str()) {
            return Err(Unread::Encrypted);
        }
        if media.starts_with("multipart/") {
            return self.parts_of(body, &boundary.ok_or(Unread::Damaged)?, depth);
        }
        let body = decoded(body, get("content-transfer-encoding")?.unwrap_or_default())?;
        if media == "message/rfc822" {
            return self.entity(&body, depth + 1);
        }
        self.leaf(&body, &media, charset.as_deref())
    }

    fn parts_of(&mut self, body: &[u8], boundary: &str, depth: usize) -> Result<(), Unread> {
        let (mut piece, mut is_first, mut is_over) = (Vec::new(), true, false);
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            let mark = line
                .strip_prefix(b"--")
                .and_then(|rest| rest.strip_prefix(boundary.as_bytes()));
            let end = mark.map(<[u8]>::trim_ascii);
            if is_over || !matches!(end, Some(b"" | b"--")) {
                piece.extend_from_slice(line);
                continue;
            }
            let whole = std::mem::take(&mut piece);
            if is_first {
                self.leaf(&whole, "text/plain", None)?;
            } else {
                self.entity(&whole, depth + 1)?;
            }
            (is_first, is_over) = (false, end == Some(b"--"));
        }
        if !is_over {
            return Err(Unread::Damaged);
        }
        self.leaf(&piece, "text/plain", None)
    }

    /// Reads a body by its content; its media type and encoding decide between kinds of text alone.
    fn leaf(&mut self, bytes: &[u8], media: &str, charset: Option<&str>) -> Result<(), Unread> {
        match magic(bytes) {
            Some(Magic::Image) => return image::check(bytes),
            Some(Magic::Archive) => return Err(Unread::NestedArchive),
            Some(Magic::Zip) if !crate::sniff::has(bytes, b"[Content_Types].xml") => {
                return Err(Unread::NestedArchive);
            }
            Some(_) => return Err(Unread::EmbeddedObject),
            None => {}
        }
        if bytes.starts_with(b"{\\rtf") {
            let found = rtf::read(bytes)?;
            self.line(&found);
            return Ok(());
        }
        let label = charset.unwrap_or("utf-8");
        let encoding = Encoding::for_label(label.as_bytes());
        let marked = text::marked(bytes).is_some();
        let found = match encoding {
            Some(encoding) if encoding != UTF_8 && encoding != WINDOWS_1252 && !marked => {
                text::decode(encoding, bytes)?
            }
            _ => text::plain(bytes).map_err(|_| Unread::EmbeddedObject)?,
        };
        if !text::is_text(&found) {
            return Err(Unread::EmbeddedObject);
        }
        if media == "text/html" {
            let page = html::read(&found)?;
            self.line(&page.content);
            self.line(&page.background);
        } else {
            self.line(&found);
        }
        if self.text.len() > bounds::TEXT {
            Err(Unread::TooLarge)
        } else {
            Ok(())
        }
    }
}

/// Splits headers from the body at the first empty line.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let end = at + line.len();
        if line == b"\n" || line == b"\r\n" {
            return (&bytes[..at], &bytes[end..]);
        }
        at = end;
    }
    (bytes, &[])
}

/// Returns headers with their folded lines joined.
fn headers(head: &[u8]) -> Result<Vec<Header>, Unread> {
    let head = text::plain(head).map_err(|_| Unread::Damaged)?;
    let mut found: Vec<Header> = Vec::new();
    for line in head.lines() {
        if line.starts_with([' ', '\t']) {
            let last = found.last_mut().ok_or(Unread::Damaged)?;
            last.value.push_str(line);
            continue;
        }
        // The first line of a mailbox.
        let (name, value) = line.split_once(':').unwrap_or(("", line));
        found.push(Header {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
        });
    }
    Ok(found)
}

/// Returns the value of a header without the mark between parts, a long number or word that the program makes.
fn without_boundary(header: &Header) -> String {
    let mark = parameter(&header.value, "boundary").unwrap_or_default();
    let is_grouped = mark
        .as_bytes()
        .windows(3)
        .any(|three| three[0].is_ascii_digit() && three[1] == b'-' && three[2].is_ascii_digit());
    let is_made =
        mark.len() >= 20 && mark.bytes().all(|byte| byte.is_ascii_graphic()) && !is_grouped;
    if is_made && header.name.eq_ignore_ascii_case("content-type") {
        header.value.replace(&mark, "")
    } else {
        header.value.clone()
    }
}

fn media(kind: &str) -> String {
    kind.split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// Returns a parameter of a content type.
fn parameter(kind: &str, name: &str) -> Option<String> {
    let mut parts = kind.split(';').skip(1);
    parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        let value = value.trim().trim_matches('"');
        key.trim()
            .eq_ignore_ascii_case(name)
            .then(|| value.to_owned())
    })
}

/// Undoes the transfer encoding of a body.
fn decoded(body: &[u8], encoding: &str) -> Result<Vec<u8>, Unread> {
    match encoding.trim().to_ascii_lowercase().as_str() {
        "base64" => BASE64
            .decode(body.trim_ascii())
            .map_err(|_| Unread::Damaged),
        "quoted-printable" => Ok(quoted(body)),
        "" | "7bit" | "8bit" | "binary" => Ok(body.to_vec()),
        _ => Err(Unread::UnknownType),
    }
}

/// Undoes quoted-printable; what is not encoded stays as it is.
fn quoted(body: &[u8]) -> Vec<u8> {
    let mut found = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'=' {
            found.push(*first);
            continue;
        }
        let digits = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        if let Some(byte) = digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            found.push(byte);
            rest = &rest[2..];
            continue;
        }
        let spaces = rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        match &rest[spaces..] {
            [b'\r', b'\n', after @ ..] | [b'\n', after @ ..] => rest = after,
            _ => found.push(b'='),
        }
    }
    found
}

/// Undoes the encoded words of a header.
fn words(value: &str) -> Result<String, Unread> {
    let mut found = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("=?") {
        let mut fields = after.splitn(4, '?');
        let (charset, kind, text, tail) =
            (fields.next(), fields.next(), fields.next(), fields.next());
        let word = charset
            .zip(kind)
            .zip(text)
            .zip(tail.and_then(|tail| tail.strip_prefix('=')));
        let Some((((charset, kind), text), tail)) = word else {
            found.push_str(before);
            found.push_str("=?");
            rest = after;
            continue;
        };
        // Space between two encoded words is layout.
        if !before.trim().is_empty() || found.is_empty() {
            found.push_str(before);
        }
        let bytes = match kind {
            "B" | "b" => BASE64
                .decode(text.as_bytes())
                .map_err(|_| Unread::Damaged)?,
            "Q" | "q" => quoted(text.replace('_', " ").as_bytes()),
            _ => return Err(Unread::Damaged),
        };
        let label = charset.split('*').next().unwrap_or_default();
        let encoding = Encoding::for_label(label.as_bytes()).ok_or(Unread::Damaged)?;
        found.push_str(&text::decode(encoding, &bytes)?);
        rest = tail;
    }
    found.push_str(rest);
    Ok(found)
}
