//! Countries at the end of an address, in one word or several.

use super::token::{next_token, skip, token_at, zip_end};
use crate::lexicon::Sense;
use crate::page::Page;

/// Returns the end of a country after the address, with its postal code (`, Latvia`, `\n South Africa 27766`).
pub(super) fn after(page: &Page<'_>, from: usize) -> Option<usize> {
    let at = skip(page.bytes(), from, b" ,\n\r");
    if at == from {
        return None;
    }
    let end = end_of(page, at)?;
    let code = next_token(page, end).filter(|token| {
        page.byte(end) == b' '
            && (4..=6).contains(&token.span.len())
            && page
                .slice(token.span.clone())
                .iter()
                .all(u8::is_ascii_digit)
    });
    Some(code.map_or(end, |code| zip_end(page, code.span.end)))
}

/// Returns the end of the country that starts here.
pub(super) fn end_of(page: &Page<'_>, start: usize) -> Option<usize> {
    let rest = page.slice(start..page.text.len().min(start + 40));
    let first = rest.first().copied().unwrap_or_default();
    let phrase = COUNTRIES_OF_SEVERAL_WORDS.split('|').find(|phrase| {
        phrase.as_bytes()[0].eq_ignore_ascii_case(&first)
            && rest.len() >= phrase.len()
            && rest[..phrase.len()].eq_ignore_ascii_case(phrase.as_bytes())
            && !rest
                .get(phrase.len())
                .is_some_and(u8::is_ascii_alphanumeric)
    });
    let end = match phrase {
        Some(phrase) => start + phrase.len(),
        None => {
            token_at(page, start)
                .filter(|token| token.sense.has(Sense::COUNTRY) && !token.has_digit)?
                .span
                .end
        }
    };
    Some(with_part(page, end))
}

/// Returns the end of a country with its part in brackets (`Congo (Kinshasa)`, `Korea (South)`).
fn with_part(page: &Page<'_>, end: usize) -> usize {
    if page.slice(end..end + 2) != b" (" {
        return end;
    }
    let part = token_at(page, end + 2);
    part.filter(|part| page.byte(part.span.end) == b')' && !part.has_digit)
        .map_or(end, |part| part.span.end + 1)
}

/// Returns the start of the country that ends here.
pub(super) fn start_of(page: &Page<'_>, end: usize) -> Option<usize> {
    let before = page.slice(end.saturating_sub(40)..end);
    let phrase = COUNTRIES_OF_SEVERAL_WORDS.split('|').find(|phrase| {
        let from = before.len().saturating_sub(phrase.len());
        before[from..].eq_ignore_ascii_case(phrase.as_bytes())
            && !from
                .checked_sub(1)
                .is_some_and(|edge| before[edge].is_ascii_alphanumeric())
    });
    if let Some(phrase) = phrase {
        return Some(end - phrase.len());
    }
    let (sense, start) = page.word_before(end)?;
    (sense.has(Sense::COUNTRY) && page.byte(start).is_ascii_uppercase()).then_some(start)
}

/// Countries of several words; the remaining ones are in the word list.
const COUNTRIES_OF_SEVERAL_WORDS: &str = "Antigua and Barbuda|Bosnia and Herzegovina|Burkina Faso|Cape Verde|\
     Central African Republic|Costa Rica|Czech Republic|Democratic Republic of the Congo|\
     Dominican Republic|East Timor|El Salvador|Equatorial Guinea|Guinea-Bissau|Ivory Coast|\
     Kingdom of the Netherlands|Marshall Islands|New Zealand|North Korea|North Macedonia|\
     Papua New Guinea|Republic of the Congo|Republic of Ireland|Saint Kitts and Nevis|\
     Saint Lucia|San Marino|Saudi Arabia|Sierra Leone|Solomon Islands|South Africa|South Korea|\
     South Sudan|Sri Lanka|Trinidad and Tobago|United Arab Emirates|United Kingdom|\
     United States of America|United States|Vatican City";
