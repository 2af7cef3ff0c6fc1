//! The blanks of a form: `Last name: Banks________` is read without the line that was left over.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::edit::Edit;
use crate::budget::List;

/// A shorter run may join the words of an identifier.
const RUN_MIN: usize = 2;

/// Signs that begin a run of blanks to fill in.
static BLANK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"__"));

/// Shows the underscores that follow what was filled in as one space.
pub(super) fn edits(bytes: &[u8], edits: &mut List<Edit>) {
    let mut next_from = 0;
    for start in BLANK.find_iter(bytes) {
        if start < next_from {
            continue;
        }
        let length = bytes[start..]
            .iter()
            .take_while(|&&byte| byte == b'_')
            .count();
        next_from = start + length;
        let before = start.checked_sub(1).map_or(b' ', |before| bytes[before]);
        let after = bytes.get(next_from).copied().unwrap_or(b' ');
        let is_filled = before.is_ascii_alphanumeric() || before >= 0x80;
        let ends = after.is_ascii_whitespace() || matches!(after, b',' | b';' | b'|');
        // `self.__init__`, `__FILE__`: names of programs have underscores before, too.
        if length >= RUN_MIN && is_filled && ends && !holds_underscore(&bytes[..start]) {
            edits.push(Edit::show(start..next_from, ' '));
        }
    }
}

/// Whether the word that ends here has underscores inside it.
fn holds_underscore(text: &[u8]) -> bool {
    const WORD_BYTES_MAX: usize = 64;
    text.iter()
        .rev()
        .take(WORD_BYTES_MAX)
        .take_while(|byte| !byte.is_ascii_whitespace())
        .any(|&byte| byte == b'_')
}
