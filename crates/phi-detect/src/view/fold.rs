//! Plain look of a single character outside ASCII.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::signs::{other_sign, sign};

/// Treatment of a character in the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// Stays as it is.
    Keep,
    /// Is invisible.
    Drop,
    /// Is a mark on the character before.
    Attach,
    /// Looks like the text that was written to the buffer.
    Replace,
}

/// Sign from which text is shown from right to left.
pub(super) const RIGHT_TO_LEFT_OVERRIDE: char = '\u{202e}';

/// Whether text turns back to its usual direction here.
pub(super) fn ends_override(c: char) -> bool {
    matches!(c, '\u{202c}' | '\u{2069}' | '\n')
}

/// Decides on a character; what it looks like is appended to `shown` for [`Fold::Replace`].
pub(super) fn fold(c: char, shown: &mut String) -> Fold {
    if c.is_ascii() {
        return Fold::Keep;
    }
    if is_invisible(c) {
        return Fold::Drop;
    }
    if let Some(plain) = sign(c).or_else(|| digit(c)).or_else(|| look_alike(c)) {
        shown.push(plain);
        return Fold::Replace;
    }
    if is_combining_mark(c) {
        return Fold::Attach;
    }
    if let Some(plain) = spelled_letter(c) {
        shown.push_str(plain);
        return Fold::Replace;
    }
    let before = shown.len();
    for part in std::iter::once(c)
        .nfkd()
        .filter(|&part| !is_combining_mark(part))
    {
        let plain = if part == '\u{2044}' {
            '/'
        } else {
            look_alike(part).or_else(|| sign(part)).unwrap_or(part)
        };
        shown.push(plain);
    }
    let is_plain = shown.len() > before && shown[before..].is_ascii();
    if is_plain {
        Fold::Replace
    } else {
        shown.truncate(before);
        match other_sign(c) {
            Some(plain) => {
                shown.push(plain);
                Fold::Replace
            }
            None => Fold::Keep,
        }
    }
}

/// Whether a character is invisible by itself.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Code points of the digit zero in scripts that count in tens, in order; nine more follow each.
static ZEROS: &[u32] = &[
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
    0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0x104a0,
    0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0,
    0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16b50, 0x1e140, 0x1e2f0,
    0x1e950, 0x1fbf0,
];

fn digit(c: char) -> Option<char> {
    let code = u32::from(c);
    let at = ZEROS.partition_point(|&zero| zero <= code);
    let value = match at.checked_sub(1).map(|at| code - ZEROS[at]) {
        Some(value @ 0..=9) => value,
        // Circled and dingbat digits, one to nine.
        _ => match code {
            0x2776..=0x277e => code - 0x2776 + 1,
            0x2780..=0x2788 => code - 0x2780 + 1,
            0x278a..=0x2792 => code - 0x278a + 1,
            0x24f5..=0x24fd => code - 0x24f5 + 1,
            _ => return None,
        },
    };
    char::from_digit(value, 10)
}

/// Returns the Latin letter that a letter of another script looks like.
fn look_alike(c: char) -> Option<char> {
    const PAIRS: &str = "АAВBЕEЅSЗ3ІIЈJКKМMНHОOРPСCТTУYХXЬbаaвBеeѕsіiјjкkмMнHоoрpсcтTуyхxԁdԛqԝwһhӏlҮYүyѵvғf\
        ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXαaιiκkνvοoρpτtυuχxγy\
        ɑaɡgıiȷjɩiʀRɴNʙBᴀAᴄCᴅDᴇEᴊJᴋKᴍMᴏOᴘPᴛTᴜUᴠVᴡWᴢZ";
    static TABLE: std::sync::LazyLock<crate::budget::Few<(char, char)>> =
        std::sync::LazyLock::new(|| {
            let all: crate::budget::Few<char> = PAIRS.chars().collect();
            let mut pairs: crate::budget::Few<_> =
                all.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            pairs.sort_unstable();
            pairs
        });
    let at = TABLE.binary_search_by_key(&c, |pair| pair.0).ok()?;
    Some(TABLE[at].1)
}

/// Returns the spelling of a Latin letter that does not decompose into a plain letter and a mark.
fn spelled_letter(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'Æ' => "AE",
        'œ' => "oe",
        'Œ' => "OE",
        'ø' => "o",
        'Ø' => "O",
        'ł' => "l",
        'Ł' => "L",
        'đ' | 'ð' => "d",
        'Đ' | 'Ð' => "D",
        'þ' => "th",
        'Þ' => "Th",
        _ => return None,
    })
}

/// The length of a run of at least two characters that hide text: tags, or variation selectors carrying bytes.
pub(super) fn hidden_run(text: &str) -> Option<usize> {
    let mut end = 0;
    let mut count = 0;
    let mut has_text = false;
    for c in text.chars() {
        let Some(shown) = hidden_character(c) else {
            break;
        };
        end += c.len_utf8();
        count += 1;
        has_text |= shown != ' ';
        // A long run of blanks hides nothing, and looking at all of it from each blank would take too long.
        if count == 64 && !has_text {
            break;
        }
    }
    (count >= 2 && has_text).then_some(end)
}

/// Returns the ASCII character that a tag character or a variation selector encodes when it is used to hide text.
pub(super) fn hidden_character(c: char) -> Option<char> {
    let code = u32::from(c);
    let byte = match code {
        0xe0020..=0xe007e => code - 0xe0000,
        0xe0110..=0xe016e => code - 0xe0100 + 16,
        _ => return None,
    };
    char::from_u32(byte)
}
