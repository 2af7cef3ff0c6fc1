//! Evidence beside a word that it names a person: a label, a title, a role, a relative or an age.

use std::ops::Range;

use crate::labels::{self, Meaning};
use crate::lexicon::Sense;
use crate::page::Page;

/// Whether a label, a title, a role or a relative precedes a word ("scribe jlp", "mother: ana").
pub(crate) fn is_announced(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.slice(span.start.saturating_sub(2)..span.start);
    let end = span.start.saturating_sub(1);
    let announces = Sense::TITLE | Sense::KIN | Sense::ROLE | Sense::INTRODUCES;
    page.field_at(span.start).is_some()
        || page.label_ending_at(end).is_some()
        || matches!(before, b": " | [_, b'=' | b':' | b'"' | b'@' | b'<'])
        || page
            .word_before(end)
            .is_some_and(|(sense, start)| sense.has(announces) && !is_office(page, start))
}

/// Whether a title, a role, a relative or the label or key of a name precedes a word. A colon or quote alone is not
/// enough.
pub(crate) fn follows_person(page: &Page<'_>, span: &Range<usize>) -> bool {
    let end = span.start.saturating_sub(1);
    let end = end - usize::from(page.byte_before(end) == b':');
    is_keyed(page, span.start)
        || page
            .label_ending_at(end)
            .is_some_and(|label| matches!(label.meaning, Meaning::Name))
        || page.word_before(end).is_some_and(|(sense, start)| {
            sense.has(Sense::TITLE | Sense::KIN | Sense::ROLE) && !is_office(page, start)
        })
}

/// Distance before a value, over the earlier items of its list, in which its key is searched.
const KEY_BYTES: usize = 80;

/// Whether a value has a quoted key of names (`"family": "Roe"` in a diff), in data that is cut off or mixed with
/// other text and so was not read as a whole.
fn is_keyed(page: &Page<'_>, value: usize) -> bool {
    let before = page.slice(value.saturating_sub(KEY_BYTES)..value);
    let is_listed = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || byte.is_ascii_whitespace()
            || matches!(byte, b'[' | b'"' | b'\'' | b',' | 0x80..)
    };
    let Some(colon) = before.iter().rposition(|byte| *byte == b':') else {
        return false;
    };
    let Some((&quote @ (b'"' | b'\''), key)) = before[..colon].split_last() else {
        return false;
    };
    let values = &before[colon + 1..];
    let start = key.iter().rposition(|&byte| byte == quote);
    let key = start.and_then(|start| std::str::from_utf8(&key[start + 1..]).ok());
    values.contains(&quote)
        && values.iter().all(is_listed)
        && key.and_then(labels::of_key) == Some(Meaning::Name)
}

/// Whether an article precedes a role ("the surgeon gambles"). Such a role refers to a person without a name.
fn is_office(page: &Page<'_>, role: usize) -> bool {
    let before = page.slice(role.saturating_sub(4)..role);
    [b"the ".as_slice(), b"The ", b" a ", b" an "]
        .iter()
        .any(|article| before.ends_with(article))
}

/// Whether a capital opens a sentence, a line or a quotation: nothing precedes it, or a sign that ends or opens such
/// a part.
pub(crate) fn opens_sentence(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.slice(span.start.saturating_sub(2)..span.start);
    page.byte(span.start).is_ascii_uppercase()
        && matches!(before, [] | [.., b'\n' | b'"'] | [b'.' | b'!' | b'?', b' '])
}

/// Whether an age directly follows a name ("Roe, 71M", "Jane Roe is a 53-year-old", "Wren (9 mo)").
pub(crate) fn has_age(page: &Page<'_>, end: usize) -> bool {
    const GAPS: &[&[u8]] = &[b" is a ", b" is an ", b", ", b" (", b" - ", b" "];
    const UNITS: &[&[u8]] = &[
        b"m", b"f", b"y", b"yo", b"yr", b"yrs", b"year", b"years", b"mo", b"months",
    ];
    let rest = page.slice(end..page.text.len().min(end + 20));
    let Some(gap) = GAPS.iter().find(|gap| rest.starts_with(gap)) else {
        return false;
    };
    let age = &rest[gap.len()..];
    let digits = age.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unit = &age[digits..];
    let unit = &unit[unit
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'-'))
        .count()..];
    let letters = unit
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let is_unit = UNITS
        .iter()
        .any(|one| unit[..letters].eq_ignore_ascii_case(one));
    (1..=3).contains(&digits) && is_unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_key_announces_its_value() {
        let is_keyed = |text: &str| is_keyed(&Page::new(text), text.len());
        for text in [
            r#"],"family": ""#,
            r#""given": ["Anna", ""#,
            "'lastName':'",
            "+  \"patient_name\":\n\t\"",
        ] {
            assert!(is_keyed(text), "{text}");
        }
        for text in [
            r#""fontFamily": ""#,
            r#"family: ""#,
            r#""family": {"kind": ""#,
            r#""family": true, x: ""#,
            r#""family": "#,
            "\"",
        ] {
            assert!(!is_keyed(text), "{text}");
        }
    }

    #[test]
    fn age_after_name_is_recognised() {
        let has = |text: &str| has_age(&Page::new(text), "Roe".len());
        for text in [
            "Roe, 71M, CHF",
            "Roe is a 53-year-old woman",
            "Roe (9 mo)",
            "Roe 4 years",
        ] {
            assert!(has(text), "{text}");
        }
        for text in [
            "Roe, 71 beds",
            "Roe 12 mg",
            "Roe",
            "Roe is a nurse",
            "Roe 2024m",
        ] {
            assert!(!has(text), "{text}");
        }
    }
}
