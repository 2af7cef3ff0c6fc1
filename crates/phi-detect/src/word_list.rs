//! Lists of words that are asked for at many places.

/// A list of words of ASCII between blanks, in small letters or in capitals.
pub(crate) struct WordList {
    words: &'static str,
    /// Lengths of the words that begin with a letter, one bit each: rejects nearly every other word.
    lengths: [u32; 32],
}

impl WordList {
    pub(crate) const fn new(words: &'static str) -> Self {
        let bytes = words.as_bytes();
        let mut lengths = [0; 32];
        let (mut start, mut at) = (0, 0);
        while at < bytes.len() {
            at += 1;
            if at == bytes.len() || bytes[at] == b' ' {
                lengths[bytes[start] as usize % 32] |= 1 << (at - start);
                start = at + 1;
            }
        }
        WordList { words, lengths }
    }

    /// Whether any of the words begins with this letter.
    pub(crate) fn has_first(&self, first: u8) -> bool {
        self.lengths[usize::from(first % 32)] != 0
    }

    /// Whether a word is one of these, in any case.
    pub(crate) fn has(&self, word: &[u8]) -> bool {
        self.forms(word).next().is_some()
    }

    /// The word as the list writes it, if it is one of these in any case. Most are not.
    pub(crate) fn forms<'a>(&self, word: &'a [u8]) -> impl Iterator<Item = &'static [u8]> + 'a {
        let first = word.first().map_or(0, |first| usize::from(first % 32));
        let may_be = word.len() < 32 && self.lengths[first] >> word.len() & 1 == 1;
        let words = if may_be { self.words } else { "" };
        let words = words.as_bytes().split(|byte| *byte == b' ');
        words.filter(move |one| may_be && one.eq_ignore_ascii_case(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static WORDS: WordList = WordList::new("AI agent street");

    #[test]
    fn words_are_found_in_any_case() {
        for word in ["AI", "ai", "Agent", "STREET"] {
            assert!(WORDS.has(word.as_bytes()), "{word}");
        }
        for word in [
            "",
            "a",
            "al",
            "agents",
            "strait",
            "a street that is no word",
        ] {
            assert!(!WORDS.has(word.as_bytes()), "{word}");
        }
        assert!(WORDS.forms(b"ai").eq([b"AI".as_slice()]));
        assert!(WORDS.has_first(b'S') && !WORDS.has_first(b'b'));
    }
}
