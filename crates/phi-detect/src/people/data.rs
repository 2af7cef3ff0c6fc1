//! Values after the label of a name that are not names: identifiers, types, values of data. Initials are a name if
//! they follow an act like dictating, typing or calling.

use std::ops::Range;

use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};
use crate::word_list::WordList;

/// Whether a word is written as programs write identifiers: `ParseContext`, `Kind.Tuple`, `Error(`.
pub(crate) fn is_identifier(page: &Page<'_>, span: &Range<usize>) -> bool {
    let word = page.slice(span.clone());
    let capital = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    let inner = word.windows(2).position(capital);
    // "McDonald", "DeShawn", "LaTonya", "MacLeod", "FitzGerald".
    let is_camel_case = inner.is_some_and(|at| at > 3);
    let after = page.byte(span.end);
    let is_member = after == b'.' && is_word_byte(page.byte(span.end + 1))
        || matches!(after, b'(' | b'[' | b'_') && !word.contains(&b' ');
    is_camel_case || is_member
}

/// Extensions of documents: the name of such a file may contain the name of the person it is about.
static DOCUMENTS: WordList = WordList::new(
    "pdf doc docx jpg jpeg png dcm tif tiff heic rtf odt xlsx xls txt zip mp3 mp4 wav m4a",
);

/// Distance on both sides of a word in which its token is read.
const TOKEN_REACH_BYTES: usize = 64;

/// Whether a word is a piece of an identifier: `o.e.intake.Boot`, `karma-jasmine`, but not of the name of a document.
pub(crate) fn is_piece_of_identifier(page: &Page<'_>, span: &Range<usize>) -> bool {
    let is_tie = |byte: u8| matches!(byte, b'_' | b'-' | b'.' | b'/' | b'\\');
    let is_token = |byte: &&u8| is_word_byte(**byte) || is_tie(**byte);
    let head = page.slice(span.start.saturating_sub(TOKEN_REACH_BYTES)..span.start);
    let head = &head[head.len() - head.iter().rev().take_while(is_token).count()..];
    let tail = page.slice(span.end..page.text.len().min(span.end + TOKEN_REACH_BYTES));
    let tail = &tail[..tail.iter().take_while(is_token).count()];
    let last = tail.rsplit(|&byte| byte == b'.').next().unwrap_or(tail);
    let is_document = tail.contains(&b'.') && DOCUMENTS.has(last);
    if is_document {
        return false;
    }
    let text = page.slice(span.clone());
    let is_small = !text.iter().any(u8::is_ascii_uppercase);
    let is_tied_after = |these: &[u8]| {
        tail.len() >= 2 && these.contains(&tail[0]) && tail[1].is_ascii_alphanumeric()
    };
    let is_tied_before = |these: &[u8]| {
        head.len() >= 2
            && these.contains(&head[head.len() - 1])
            && head[head.len() - 2].is_ascii_alphanumeric()
    };
    let dots = head.iter().filter(|&&byte| byte == b'.').count();
    let is_member_of = dots >= 2 && is_tied_before(b".");
    let opens_member = tail.len() >= 2 && tail[0] == b'.' && tail[1].is_ascii_lowercase();
    // A path has two slashes; "ricci/96863353" is a reference.
    let slashes = head
        .iter()
        .chain(tail)
        .filter(|&&byte| byte == b'/')
        .count();
    let is_on_path = slashes >= 2 && is_tied_before(b"/") && is_tied_after(b"/");
    // In prose a hyphen joins two surnames; between quotes it joins the words of a package.
    let is_quoted = matches!(
        page.byte_before(span.start - head.len()),
        b'"' | b'\'' | b'`'
    ) && matches!(page.byte(span.end + tail.len()), b'"' | b'\'' | b'`');
    let is_hyphened = is_quoted && (is_tied_after(b"-") || is_tied_before(b"-"));
    let is_joined = is_tied_after(b"_") || is_tied_before(b"_.") || is_on_path || is_hyphened;
    is_small && is_joined || is_member_of || opens_member
}

/// Types of SQL and of programs, which follow the names of columns and fields.
static TYPES: WordList = WordList::new(
    "text varchar nvarchar varchar2 char nchar clob string str int integer bigint smallint serial \
     numeric decimal float double boolean bool date datetime timestamp uuid json jsonb blob bytea \
     null none true false undefined number object array required optional primary references",
);

/// Whether the word here is a type rather than a value: `given_name TEXT,`.
pub(crate) fn is_type_word(page: &Page<'_>, start: usize) -> bool {
    page.word_end_at(start).is_some_and(|end| {
        let word = page.slice(start..end);
        TYPES.has(word)
    })
}

/// Whether a label and its value are a key of data and its value: `name="…"`, `<name>…`, `typeName: …`.
pub(crate) fn is_in_data(page: &Page<'_>, label: &Range<usize>, value: usize) -> bool {
    let gap = page.slice(label.end..value);
    let has_signs = gap
        .iter()
        .any(|byte| matches!(byte, b'"' | b'\'' | b'=' | b'>'));
    let text = page.slice(label.clone());
    let is_key = text.contains(&b'_')
        || text[0].is_ascii_lowercase() && text.iter().any(u8::is_ascii_uppercase)
        || matches!(page.byte_before(label.start), b'_' | b'.' | b'-');
    // An item or a member of a YAML file.
    let indent = page.slice(label.start.saturating_sub(3)..label.start);
    let is_member = text == b"name" && (indent.ends_with(b"- ") || indent.ends_with(b"  "));
    has_signs || is_key || is_member
}

/// Words in capitals after "called by" that are not a person's initials.
static NOT_INITIALS: WordList = WordList::new(
    "ed er icu ems or ob gi ct mri us snf nh hr it qa lab poa pcp fda cdc va or id sw cm the a an \
     his her me my our mom dad wife son pt phone fax mail him us ent rt pacu nicu micu sicu ccu \
     cna ai ehr emr an in on at to of and for all any two one ms mr dr mrs n/a na tbd ci bot",
);

/// Whether a word is a ward or service, as lists write them in capitals.
pub(super) fn is_ward(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_uppercase) && NOT_INITIALS.has(word)
}

/// Finds the initials of a person who dictated, typed or called ("Called back by TWR at 0915").
pub(crate) fn initials_at(
    page: &Page<'_>,
    label: &Range<usize>,
    start: usize,
) -> Option<Range<usize>> {
    static ACTS: WordList = WordList::new(
        "dictated typed transcribed called entered grossed administered recorded drawn collected \
         initials signed cosigned electronically",
    );
    let act = page
        .word_end_at(label.start)
        .map(|end| page.slice(label.start..end))?;
    let is_act = ACTS.has(act);
    if !is_act {
        return None;
    }
    let (sense, end) = page.word_at(start)?;
    let word = page.slice(start..end);
    let is_shouted = word.iter().all(u8::is_ascii_uppercase);
    // Typists sign in small letters, behind a colon.
    let is_small = word.iter().all(u8::is_ascii_lowercase)
        && page.slice(label.end..start).contains(&b':')
        && sense == Sense::NONE;
    let is_other =
        NOT_INITIALS.has(word) || LEXICON.sense(word).has(Sense::CREDENTIAL | Sense::TITLE);
    let ends =
        !is_word_byte(page.byte(end)) && !matches!(page.byte(end), b'-' | b'\'' | b'.' | b'@');
    let goes_on = page.byte(end) == b' ' && page.byte(end + 1).is_ascii_uppercase();
    let fits = matches!(word.len(), 2..=3) && (is_shouted || is_small);
    (fits && ends && !is_other && !goes_on).then_some(start..end)
}
