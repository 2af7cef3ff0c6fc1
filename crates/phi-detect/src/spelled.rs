//! Reads what is said or written character by character: "three c k eight, v w four",
//! "b as in boy nine nine", "romeo tango one four", "triple five, oh one", "1-E-G-5-T".

use std::ops::{Deref, Range};

use crate::page::{Page, is_word_byte, word_end};

/// Characters read one by one.
pub(crate) struct Spelled {
    pub(crate) span: Range<usize>,
    /// Characters in capitals; "oh" is a zero.
    pub(crate) value: Characters<VALUE_MAX>,
}

impl Spelled {
    pub(crate) fn is_digits(&self) -> bool {
        self.value.iter().all(u8::is_ascii_digit)
    }

    /// Whether these are digits alone, some of them said in words.
    pub(crate) fn is_digits_in_words(&self, page: &Page<'_>) -> bool {
        let text = page.slice(self.span.clone());
        self.is_digits() && text.iter().any(u8::is_ascii_alphabetic)
    }
}

/// Longest word for digits ("seventeen").
const WORD_BYTES_MAX: usize = 9;

/// Longest identifier.
const LENGTH_MAX: usize = 20;

/// The last that is said may reach beyond it.
const VALUE_MAX: usize = LENGTH_MAX + SAID_MAX;

/// Reads from `start` as far as single characters go; `None` if there are fewer than two.
pub(crate) fn read(page: &Page<'_>, start: usize) -> Option<Spelled> {
    let mut spelled = Spelled {
        span: start..start,
        value: Characters::default(),
    };
    let mut at = start;
    while spelled.value.len() < LENGTH_MAX
        && let Some((end, next)) =
            unit(page, at).or_else(|| prefix(page, at).filter(|_| at == start))
    {
        spelled.value.extend(&next);
        spelled.span.end = end;
        at = after_gap(page, end);
        if at == end || ends_here(page, end..at, &spelled.value) {
            break;
        }
    }
    (spelled.value.len() >= 2).then_some(spelled)
}

/// Whether a new sentence, or text after a wide gap, goes on about something else ("eight. I think", "902-1 D.N.").
fn ends_here(page: &Page<'_>, gap: Range<usize>, value: &[u8]) -> bool {
    const NUMBER_MIN: usize = 4;
    let is_number = value.len() >= NUMBER_MIN && value.iter().all(u8::is_ascii_digit);
    let between = page.slice(gap.clone());
    let is_pronoun = matches!(page.slice(gap.end..gap.end + 2), b"I " | b"A " | b"I'");
    let is_wide = between.windows(3).any(|part| part == b"   ");
    is_wide || is_number && between.contains(&b'.') && is_pronoun
}

/// A few characters, stored inline.
pub(crate) struct Characters<const MAX: usize> {
    characters: [u8; MAX],
    count: usize,
}

impl<const MAX: usize> Default for Characters<MAX> {
    fn default() -> Self {
        Characters {
            characters: [0; MAX],
            count: 0,
        }
    }
}

impl<const MAX: usize> Characters<MAX> {
    fn new(characters: &[u8]) -> Self {
        let mut all = Self::default();
        all.extend(characters);
        all
    }

    fn extend(&mut self, more: &[u8]) {
        let end = self.count + more.len();
        self.characters[self.count..end].copy_from_slice(more);
        self.count = end;
    }
}

impl<const MAX: usize> Deref for Characters<MAX> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.characters[..self.count]
    }
}

/// Characters said in one go.
type Said = Characters<SAID_MAX>;

const SAID_MAX: usize = 4;

/// Returns one character, or several that are said in one go, and their end.
fn unit(page: &Page<'_>, at: usize) -> Option<(usize, Said)> {
    let bytes = page.bytes();
    let first = page.byte(at);
    if first.is_ascii_digit() {
        let end = at
            + bytes[at..]
                .iter()
                .take(5)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
        let is_free = !is_word_byte(page.byte(end)) && end - at <= 4;
        return is_free.then(|| (end, Said::new(&bytes[at..end])));
    }
    let end = word_end(bytes, at);
    if !(1..=WORD_BYTES_MAX).contains(&(end - at)) || page.byte(end).is_ascii_digit() {
        return None;
    }
    let mut word = [0; WORD_BYTES_MAX];
    let word = &mut word[..end - at];
    word.copy_from_slice(&bytes[at..end]);
    word.make_ascii_lowercase();
    let word = &*word;
    let times = match word {
        b"double" => 2,
        b"triple" => 3,
        _ => 1,
    };
    if times > 1 {
        let (end, digit) = unit(page, end + 1)?;
        let again = || [digit.characters[0]; SAID_MAX];
        return (digit.count == 1).then(|| (end, Said::new(&again()[..times])));
    }
    if let Some(digit) = digit(word) {
        return Some((end, Said::new(&[digit])));
    }
    if word == b"hundred"
        && let Some(rest) = tens_after(page, end)
    {
        return Some(rest);
    }
    if let Some(number) = number(word) {
        return Some(with_ones(page, end, number));
    }
    let letter = Said::new(&[first.to_ascii_uppercase()]);
    if word.len() == 1 {
        return Some((after_example(page, end), letter));
    }
    is_radio_word(word).then_some((end, letter))
}

/// Whether this is what a letter is called on the radio; each begins with its letter.
fn is_radio_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"alpha"
            | b"alfa"
            | b"bravo"
            | b"charlie"
            | b"delta"
            | b"echo"
            | b"foxtrot"
            | b"golf"
            | b"hotel"
            | b"india"
            | b"juliet"
            | b"juliett"
            | b"kilo"
            | b"lima"
            | b"mike"
            | b"november"
            | b"oscar"
            | b"papa"
            | b"quebec"
            | b"romeo"
            | b"sierra"
            | b"tango"
            | b"uniform"
            | b"victor"
            | b"whiskey"
            | b"whisky"
            | b"xray"
            | b"yankee"
            | b"zulu"
    )
}

/// Reads letters said in one go before a number in words ("JJ one seven seven").
fn prefix(page: &Page<'_>, at: usize) -> Option<(usize, Said)> {
    let end = word_end(page.bytes(), at);
    let letters = page.slice(at..end);
    if !matches!(letters.len(), 2 | 3) || !letters.iter().all(u8::is_ascii_uppercase) {
        return None;
    }
    let next = after_gap(page, end);
    let is_said = page.byte(next).is_ascii_lowercase() && next > end;
    (is_said && unit(page, next).is_some()).then(|| (end, Said::new(letters)))
}

fn digit(word: &[u8]) -> Option<u8> {
    Some(match word {
        b"zero" | b"oh" => b'0',
        b"one" => b'1',
        b"two" => b'2',
        b"three" => b'3',
        b"four" => b'4',
        b"five" => b'5',
        b"six" => b'6',
        b"seven" => b'7',
        b"eight" => b'8',
        b"nine" | b"niner" => b'9',
        _ => return None,
    })
}

/// Reads numbers of two digits and round ones, as they are said in identifiers ("ninety eighteen", "eight hundred").
fn number(word: &[u8]) -> Option<&'static [u8]> {
    Some(match word {
        b"ten" => b"10",
        b"eleven" => b"11",
        b"twelve" => b"12",
        b"thirteen" => b"13",
        b"fourteen" => b"14",
        b"fifteen" => b"15",
        b"sixteen" => b"16",
        b"seventeen" => b"17",
        b"eighteen" => b"18",
        b"nineteen" => b"19",
        b"twenty" => b"20",
        b"thirty" => b"30",
        b"forty" => b"40",
        b"fifty" => b"50",
        b"sixty" => b"60",
        b"seventy" => b"70",
        b"eighty" => b"80",
        b"ninety" => b"90",
        b"hundred" => b"00",
        b"thousand" => b"000",
        _ => return None,
    })
}

/// Reads the number of two digits that takes the place of the zeros ("five hundred thirty-six").
fn tens_after(page: &Page<'_>, hundred_end: usize) -> Option<(usize, Said)> {
    let and = b" and ";
    let is_joined = page.slice(hundred_end..hundred_end + and.len()) == and;
    let start = hundred_end + if is_joined { and.len() } else { 1 };
    let end = word_end(page.bytes(), start);
    let word = page.slice(start..end).to_ascii_lowercase();
    let number = number(&word).filter(|number| number[0] != b'0')?;
    (page.byte(hundred_end) == b' ').then(|| with_ones(page, end, number))
}

/// Adds the ones after the tens ("fifty-five").
fn with_ones(page: &Page<'_>, end: usize, number: &[u8]) -> (usize, Said) {
    let is_tens = number.len() == 2 && number[0] >= b'2' && number[1] == b'0';
    let next = end + 1;
    let ones_end = word_end(page.bytes(), next);
    let ones = page.slice(next..ones_end).to_ascii_lowercase();
    match digit(&ones).filter(|&ones| ones != b'0') {
        Some(ones) if is_tens && matches!(page.byte(end), b' ' | b'-') => {
            (ones_end, Said::new(&[number[0], ones]))
        }
        _ => (end, Said::new(number)),
    }
}

/// Returns the end of the example after a letter ("b as in boy").
fn after_example(page: &Page<'_>, letter_end: usize) -> usize {
    [b" as in ".as_slice(), b" like ", b" for ", b", as in "]
        .iter()
        .find(|link| {
            page.slice(letter_end..letter_end + link.len())
                .eq_ignore_ascii_case(link)
        })
        .map(|link| word_end(page.bytes(), letter_end + link.len()))
        .unwrap_or(letter_end)
}

/// Steps over the signs allowed between two characters: a space, a sign, "dash".
fn after_gap(page: &Page<'_>, from: usize) -> usize {
    let signs = |from: usize| {
        from + page
            .slice(from..page.text.len().min(from + 4))
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b',' | b'-' | b'.'))
            .count()
    };
    let at = signs(from);
    let end = word_end(page.bytes(), at);
    let word = page.slice(at..end);
    let is_sign = [b"dash".as_slice(), b"hyphen", b"space"]
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one));
    if is_sign && at > from { signs(end) } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<(String, &str)> {
        let page = Page::new(text);
        let spelled = read(&page, 0)?;
        Some((
            String::from_utf8(spelled.value.to_vec()).expect("only plain characters are read"),
            &text[spelled.span],
        ))
    }

    #[test]
    fn characters_are_read_as_they_are_said() {
        for (text, expected) in [
            ("three c k eight, v w four, d t nine two", "3CK8VW4DT92"),
            ("1-E-G-5-T-E-4-M-K-7-2", "1EG5TE4MK72"),
            ("b as in boy nine nine one two", "B9912"),
            ("romeo tango one four four nine oh two", "RT144902"),
            ("JJ one seven seven two oh", "JJ17720"),
            ("nine oh seven, triple five, oh one five oh", "9075550150"),
            ("eight eight one dash four four two", "881442"),
            (
                "five three six, twenty-two, eighty seven forty one",
                "536228741",
            ),
            ("eight hundred five five five oh one nineteen", "8005550119"),
            (
                "five hundred thirty-six, twenty-two, eighty-seven forty-one",
                "536228741",
            ),
            ("five hundred and twelve", "512"),
        ] {
            assert_eq!(value(text), Some((expected.to_owned(), text)));
        }
    }

    #[test]
    fn reading_stops_at_a_word() {
        assert_eq!(
            value("six one oh nine please"),
            Some(("6109".to_owned(), "six one oh nine"))
        );
        assert_eq!(value("patient is well"), None);
    }
}
