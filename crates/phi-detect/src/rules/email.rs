//! E-mail addresses.
//!
//! The dot-atom form of RFC 5322 with a domain by RFC 1035 and RFC 5890, also with
//! spaces round the sign, and spelled out: "jane [at] example [dot] org".

use std::ops::Range;

use super::{Collector, Finder};
use crate::budget::Few;
use crate::lexicon::Sense;
use crate::page::{Mark, Page, is_word_byte};
use crate::word_list::WordList;

pub(super) static FINDER: Finder = Finder {
    joins: super::stand_alone,
    find,
    beside: super::no_neighbour,
    among: None,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    for (index, mark) in page.each_mark().map(|index| (index, page.marks[index])) {
        if mark.sense.has(Sense::AT) {
            if let Some((span, score)) = with_sign(page, mark.range()) {
                out.push(span, score, "email.address");
            }
        } else if mark.sense.has(Sense::MAIL_WORD)
            && let Some(span) = spelled_out(page, index)
        {
            out.push(span, 0.9, "email.spelled_out");
        }
    }
}

/// An address round an `@`.
fn with_sign(page: &Page<'_>, sign: Range<usize>) -> Option<(Range<usize>, f32)> {
    let bytes = page.bytes();
    let bracketed = bracketed(bytes, sign.clone());
    let before = skip_spaces_back(bytes, bracketed.start);
    let after = skip_spaces(bytes, bracketed.end);
    let is_spaced = before != sign.start || after != sign.end;
    let local = local_part(bytes, before).filter(|local| !is_nobodys(&bytes[local.clone()]))?;
    let domain = match domain(bytes, after) {
        Some(domain) => domain,
        // "example[.]org": the dots are dressed, too.
        None => after..spelled_domain(page, after)?,
    };
    if bracketed != sign {
        return Some((local.start..domain.end, 0.95));
    }
    if is_spaced
        && (before == sign.start) != (after == sign.end)
        && !bytes[local.clone()].contains(&b'.')
    {
        return None;
    }
    if is_sample(&bytes[local.clone()], &bytes[domain.clone()]) || is_file(&bytes[domain.clone()]) {
        return None;
    }
    let score = if is_spaced { 0.85 } else { 0.99 };
    Some((local.start..domain.end, score))
}

/// Local parts of addresses without a reader: "git@host:path" names a repository, "noreply@" a machine.
static NOBODYS: WordList = WordList::new(
    "git noreply no-reply no_reply donotreply do-not-reply do_not_reply mailer-daemon",
);

/// Whether an address is a sample from a manual ("user@example.com", "you@company.com").
fn is_sample(local: &[u8], domain: &[u8]) -> bool {
    static LOCALS: WordList = WordList::new(
        "user username you your-email your.email youremail your.name yourname name email sender \
         recipient someone test foo",
    );
    static DOMAINS: WordList = WordList::new(
        "example.com example.org example.net domain.com company.com yourcompany.com \
         yourdomain.com test.com",
    );
    LOCALS.has(local) && DOMAINS.has(domain)
}

/// Whether a domain is the rest of a file name with its size (`logo@2x.png`, `icons-64x64@2.tar`).
fn is_file(domain: &[u8]) -> bool {
    const ENDINGS: &[&[u8]] = &[
        b"avif", b"bmp", b"gif", b"gz", b"ico", b"jpeg", b"jpg", b"pdf", b"png", b"svg", b"tar",
        b"webp", b"xz",
    ];
    let digits = domain
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let rest = &domain[digits..];
    let rest = rest.strip_prefix(b"x").unwrap_or(rest);
    digits > 0
        && rest.starts_with(b".")
        && rest[1..]
            .split(|&byte| byte == b'.')
            .any(|part| ENDINGS.contains(&part))
}

fn is_nobodys(local: &[u8]) -> bool {
    NOBODYS.has(local)
}

/// The local part that ends at `end`.
fn local_part(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let length = bytes[..end]
        .iter()
        .rev()
        .take(64)
        .take_while(|&&byte| is_word_byte(byte) || b"._%+-'=&~/!#$".contains(&byte))
        .count();
    let mut start = end - length;
    // A quote, "mailto=" or a path before the address is not part of it; an apostrophe inside a name is.
    let cut = (start..end).rev().find(|&at| match bytes[at] {
        b'=' => !is_return_path(bytes, start, at, end),
        b'&' | b'/' | b'!' | b'#' | b'$' => true,
        b'\'' => at == start || !is_word_byte(bytes[at - 1]),
        _ => false,
    });
    if let Some(cut) = cut {
        start = cut + 1;
    }
    while start < end && !is_word_byte(bytes[start]) && bytes[start] != b'_' {
        start += 1;
    }
    let has_content = start < end
        && (is_word_byte(bytes[end - 1]) || matches!(bytes[end - 1], b'_' | b'-' | b'+'));
    (has_content && is_char_start(bytes, start)).then_some(start..end)
}

/// Whether the local part of an address contains another address (VERP), with `=` for its sign
/// (`bounce+jane.roe=example.org@lists…`).
fn is_return_path(bytes: &[u8], start: usize, equals: usize, end: usize) -> bool {
    let is_local = equals > start && is_word_byte(bytes[equals - 1]);
    let has_own_name = bytes[start..equals]
        .iter()
        .any(|byte| matches!(byte, b'+' | b'.' | b'-' | b'_'));
    is_local && has_own_name && domain(bytes, equals + 1).is_some_and(|domain| domain.end == end)
}

/// The domain that starts at `start`: labels and dots, ending in a label of letters.
fn domain(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let length = bytes[start.min(bytes.len())..]
        .iter()
        .take(253)
        .take_while(|&&byte| is_word_byte(byte) || byte == b'.' || byte == b'-')
        .count();
    let mut end = start + length;
    while end > start && matches!(bytes[end - 1], b'.' | b'-') {
        end -= 1;
    }
    while !is_char_start(bytes, end) {
        end -= 1;
    }
    let mut labels = bytes.get(start..end)?.split(|&byte| byte == b'.');
    let whole = labels.next_back()?;
    // No top-level domain has a dash in it, so one ends the address: "jane@example.org—noted".
    let dash = whole.iter().position(|&byte| byte == b'-');
    let dash = dash.filter(|_| !whole.starts_with(b"xn--"));
    let top = &whole[..dash.unwrap_or(whole.len())];
    let end = end - dash.map_or(0, |dash| whole.len() - dash);
    let rest: Few<_> = labels.collect();
    let is_top = top.len() >= 2
        && (top
            .iter()
            .all(|&byte| byte.is_ascii_alphabetic() || byte >= 0x80)
            || top.starts_with(b"xn--"));
    (is_top && !rest.is_empty() && rest.iter().all(|label| !label.is_empty())).then_some(start..end)
}

/// Returns an address with its signs spelled out (`jane [at] example [dot] org`, `jane at example dot org`).
fn spelled_out(page: &Page<'_>, index: usize) -> Option<Range<usize>> {
    let at = page.marks[index];
    if !is_word(page, at, &[b"at", b"arroba"]) {
        return None;
    }
    let dot = page.marks[index + 1..]
        .iter()
        .take(6)
        .take_while(|mark| mark.start < at.end + 60)
        .find(|&&mark| is_word(page, mark, &[b"dot", b"punto"]));
    let sign = dressed(page.bytes(), at.range());
    let local_end = skip_spaces_back(page.bytes(), sign.start);
    let local = spelled_local(page, local_end)?;
    let host_start = skip_spaces(page.bytes(), sign.end);
    let end = match dot {
        Some(_) => spelled_domain(page, host_start)
            .filter(|&end| !page.bytes().get(end).is_some_and(|&byte| joins(byte)))?,
        // "jane [at] example.org": only the sign is spelled.
        None if sign == bracketed(page.bytes(), at.range()) && sign != at.range() => {
            domain(page.bytes(), host_start)?.end
        }
        None => return None,
    };
    Some(local.start..end)
}

/// The local part of a spelled address, with "dot" for a dot.
fn spelled_local(page: &Page<'_>, end: usize) -> Option<Range<usize>> {
    let bytes = page.bytes();
    let mut local = local_part(bytes, end)?;
    for _ in 0..3 {
        let before = skip_spaces_back(bytes, local.start);
        let word = crate::page::word_start(bytes, before);
        let is_joint = bytes[word..before].eq_ignore_ascii_case(b"dot")
            || bytes[word..before].eq_ignore_ascii_case(b"underscore");
        if !is_joint {
            break;
        }
        let Some(more) = local_part(bytes, skip_spaces_back(bytes, word)) else {
            break;
        };
        local.start = more.start;
    }
    Some(local)
}

/// Returns the end of a spelled domain ("example dot co dot org"); the last label must be a known top-level domain.
fn spelled_domain(page: &Page<'_>, start: usize) -> Option<usize> {
    const TOPS: &[&[u8]] = &[
        b"com", b"org", b"net", b"edu", b"gov", b"mil", b"io", b"co", b"us", b"uk", b"info",
        b"health", b"ca", b"de", b"es", b"me", b"example", b"test", b"invalid", b"app", b"dev",
        b"nz", b"au", b"ie", b"in", b"fr", b"it", b"nl",
    ];
    let bytes = page.bytes();
    let mut at = start;
    let mut end = None;
    for _ in 0..4 {
        let label_end = at
            + bytes[at..]
                .iter()
                .take(63)
                .take_while(|&&byte| is_word_byte(byte) || byte == b'-')
                .count();
        let label_end = before_joined_dot(bytes, at, label_end);
        if label_end == at {
            break;
        }
        if end.is_some() || at > start {
            let label = bytes[at..label_end].to_ascii_lowercase();
            if TOPS.contains(&label.as_slice()) {
                end = Some(label_end);
            }
        }
        let Some(next) = after_spelled_dot(bytes, label_end) else {
            break;
        };
        at = next;
    }
    end
}

/// Returns the end of a label that precedes a joined "-dot-" ("example-dot-org").
fn before_joined_dot(bytes: &[u8], start: usize, end: usize) -> usize {
    memchr::memmem::find(&bytes[start..end].to_ascii_lowercase(), b"-dot-")
        .map_or(end, |length| start + length)
}

/// Steps over ".", "dot", "[dot]", "(.)", "_dot_" with spaces round it.
fn after_spelled_dot(bytes: &[u8], from: usize) -> Option<usize> {
    if bytes.get(from) == Some(&b'.') {
        return Some(from + 1);
    }
    let mut at = skip_spaces(bytes, from);
    if bytes
        .get(at)
        .is_some_and(|&byte| opens(byte) || joins(byte))
    {
        at = skip_spaces(bytes, at + 1);
    }
    let is_dot = bytes.get(at) == Some(&b'.');
    let word =
        bytes.get(at..at + usize::from(is_dot).max(crate::page::word_end(bytes, at) - at))?;
    let is_spelled = word.eq_ignore_ascii_case(b"dot") || word.eq_ignore_ascii_case(b"punto");
    if !is_dot && !is_spelled {
        return None;
    }
    at = skip_spaces(bytes, at + word.len());
    if bytes
        .get(at)
        .is_some_and(|&byte| closes(byte) || joins(byte))
    {
        at = skip_spaces(bytes, at + 1);
    }
    Some(at)
}

fn opens(byte: u8) -> bool {
    matches!(byte, b'[' | b'(' | b'{' | b'<')
}

fn closes(byte: u8) -> bool {
    matches!(byte, b']' | b')' | b'}' | b'>')
}

/// Whether a byte joins the spelled parts of an address ("jane_at_example", "jane-at-example").
fn joins(byte: u8) -> bool {
    matches!(byte, b'_' | b'-')
}

/// The word with what dresses it up as a sign: brackets, or the same joint on both sides.
fn dressed(bytes: &[u8], word: Range<usize>) -> Range<usize> {
    let before = word.start.checked_sub(1).map_or(0, |at| bytes[at]);
    let is_joined = joins(before) && bytes.get(word.end) == Some(&before);
    if is_joined {
        word.start - 1..word.end + 1
    } else {
        bracketed(bytes, word)
    }
}

/// The word with the brackets round it, if it has them.
fn bracketed(bytes: &[u8], word: Range<usize>) -> Range<usize> {
    let start = skip_spaces_back(bytes, word.start);
    let end = skip_spaces(bytes, word.end);
    let is_open = start > 0 && opens(bytes[start - 1]);
    let is_closed = bytes.get(end).is_some_and(|&byte| closes(byte));
    if is_open && is_closed {
        start - 1..end + 1
    } else {
        word
    }
}

fn is_word(page: &Page<'_>, mark: Mark, words: &[&[u8]]) -> bool {
    words
        .iter()
        .any(|word| page.slice(mark.range()).eq_ignore_ascii_case(word))
}

fn skip_spaces(bytes: &[u8], from: usize) -> usize {
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take(2)
        .take_while(|&&byte| byte == b' ')
        .count()
}

fn skip_spaces_back(bytes: &[u8], end: usize) -> usize {
    end - bytes[..end]
        .iter()
        .rev()
        .take(2)
        .take_while(|&&byte| byte == b' ')
        .count()
}

/// Whether a character of the text starts here.
fn is_char_start(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
}
