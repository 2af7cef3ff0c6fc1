//! Dates of birth. A date in digits may have the month or the day first, so it is stored as written, padded; every
//! other date is stored as year, month, day. A lookup tries both readings.

use super::{plain, without_apostrophes, words};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const ORDINALS: [&str; 4] = ["st", "nd", "rd", "th"];

/// A date, as far as its spelling determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Known {
        year: u16,
        month: u8,
        day: u8,
    },
    /// Two numbers that may both be a month.
    Either {
        year: u16,
        first: u8,
        second: u8,
    },
    /// Two numbers that may both be a month, with a year of two digits.
    Short {
        year: u8,
        first: u8,
        second: u8,
    },
}

pub(super) fn stored(text: &str) -> Vec<String> {
    let form = match read(text) {
        Some(Written::Known { year, month, day }) => format!("{year:04}{month:02}{day:02}"),
        Some(Written::Either {
            year,
            first,
            second,
        }) => format!("{first:02}{second:02}{year:04}"),
        Some(Written::Short {
            year,
            first,
            second,
        }) => format!("{first:02}{second:02}{year:02}"),
        None => plain(text),
    };
    vec![form]
}

pub(super) fn tried(text: &str) -> Option<Vec<String>> {
    let dates = match read(text)? {
        Written::Known { year, month, day } => vec![(year, month, day)],
        Written::Either {
            year,
            first,
            second,
        } => vec![(year, first, second), (year, second, first)],
        Written::Short {
            year,
            first,
            second,
        } => [1900, 2000]
            .into_iter()
            .map(|century| century + u16::from(year))
            .flat_map(|year| [(year, first, second), (year, second, first)])
            .collect(),
    };
    let dates = dates.into_iter().filter(|date| is_date(date.1, date.2));
    Some(
        dates
            .flat_map(|(year, month, day)| spellings(year, month, day))
            .collect(),
    )
}

/// All usual spellings of a date, without separators.
fn spellings(year: u16, month: u8, day: u8) -> Vec<String> {
    let name = MONTHS[usize::from(month) - 1];
    let short_year = year % 100;
    let mut all = vec![
        format!("{year:04}{month:02}{day:02}"),
        format!("{year}{month}{day}"),
    ];
    for year in [format!("{year:04}"), format!("{short_year:02}")] {
        for (first, second) in [(month, day), (day, month)] {
            all.push(format!("{first:02}{second:02}{year}"));
            all.push(format!("{first}{second}{year}"));
        }
        for name in [name, &name[..3], if month == 9 { "sept" } else { name }] {
            for day in [format!("{day}"), format!("{day:02}"), ordinal(day)] {
                all.push(format!("{name}{day}{year}"));
                all.push(format!("{day}{name}{year}"));
                all.push(format!("{day}of{name}{year}"));
                all.push(format!("{year}{name}{day}"));
            }
        }
    }
    all
}

fn ordinal(day: u8) -> String {
    let ending = match (day % 10, day) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{day}{ending}")
}

fn read(text: &str) -> Option<Written> {
    // A time after the date is ignored.
    let date = text.split_once('t').filter(|(date, _)| {
        date.ends_with(|last: char| last.is_ascii_digit()) && date.matches('-').count() == 2
    });
    let text = without_apostrophes(date.map_or(text, |(date, _)| date));
    let is_figure = |part: &&str| part.starts_with(|first: char| first.is_ascii_digit());
    let (figures, spoken): (Vec<&str>, Vec<&str>) = parts(&text).partition(is_figure);
    if !spoken.iter().all(|word| month_or_filler(word)) {
        return None;
    }
    let month = spoken.iter().find_map(|word| month(word));
    match (month, figures.as_slice()) {
        (Some(month), [one, other]) => with_month(month, one, other),
        (None, [whole]) if whole.len() == 8 => whole_figure(whole),
        (None, [first, second, third]) => three(first, second, third),
        _ => None,
    }
}

/// Runs of digits and runs of letters.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    words(text).flat_map(|word| {
        // Bytes of non-ASCII letters are not digits either, so every part holds whole characters.
        let runs = word
            .as_bytes()
            .chunk_by(|one, next| one.is_ascii_digit() == next.is_ascii_digit());
        let mut rest = word;
        runs.map(move |run| {
            let (part, after) = rest.split_at(run.len());
            rest = after;
            part
        })
    })
}

fn month(word: &str) -> Option<u8> {
    let is_short = |name: &&str| word == &name[..3] || (word == "sept" && name.starts_with(word));
    let at = MONTHS
        .iter()
        .position(|name| word == *name || is_short(name))?;
    u8::try_from(at + 1).ok()
}

fn month_or_filler(word: &str) -> bool {
    const FILLERS: [&str; 6] = ["of", "the", "dob", "born", "date", "birth"];
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    month(word).is_some()
        || ORDINALS.contains(&word)
        || FILLERS.contains(&word)
        || DAYS.iter().any(|day| word.starts_with(day))
}

fn with_month(month: u8, one: &str, other: &str) -> Option<Written> {
    let (day, year) = match (one.len(), other.len()) {
        (4, 1..=2) => (other, one),
        (1..=2, 2 | 4) => (one, other),
        _ => return None,
    };
    let day: u8 = day.parse().ok()?;
    let year: u16 = match year.len() {
        4 => year.parse().ok()?,
        // A year of two digits has no century; a date of birth in the future is unlikely.
        _ => {
            let short: u16 = year.parse().ok()?;
            if short > 30 {
                1900 + short
            } else {
                2000 + short
            }
        }
    };
    is_date(month, day).then_some(Written::Known { year, month, day })
}

fn whole_figure(whole: &str) -> Option<Written> {
    let (left, right) = whole.split_at_checked(4)?;
    let cut = |text: &str| -> Option<(u8, u8)> {
        let (one, other) = text.split_at_checked(2)?;
        Some((one.parse().ok()?, other.parse().ok()?))
    };
    if left.starts_with("19") || left.starts_with("20") {
        let (month, day) = cut(right)?;
        if is_date(month, day) {
            let year = left.parse().ok()?;
            return Some(Written::Known { year, month, day });
        }
    }
    let (first, second) = cut(left)?;
    ordered(right.parse().ok()?, first, second)
}

fn three(first: &str, second: &str, third: &str) -> Option<Written> {
    let small = |text: &str| text.parse::<u8>().ok().filter(|_| text.len() <= 2);
    match (first.len(), third.len()) {
        (4, _) => {
            let (year, month, day) = (first.parse().ok()?, small(second)?, small(third)?);
            is_date(month, day).then_some(Written::Known { year, month, day })
        }
        (_, 4) => ordered(third.parse().ok()?, small(first)?, small(second)?),
        (_, 2) => {
            let (year, first, second) = (small(third)?, small(first)?, small(second)?);
            let is_one = is_date(first, second) || is_date(second, first);
            is_one.then_some(Written::Short {
                year,
                first,
                second,
            })
        }
        _ => None,
    }
}

/// Two numbers and a year: a number above twelve is the day.
fn ordered(year: u16, first: u8, second: u8) -> Option<Written> {
    match (is_date(first, second), is_date(second, first)) {
        (true, true) => Some(Written::Either {
            year,
            first,
            second,
        }),
        (true, false) => Some(Written::Known {
            year,
            month: first,
            day: second,
        }),
        (false, true) => Some(Written::Known {
            year,
            month: second,
            day: first,
        }),
        (false, false) => None,
    }
}

/// Whether this day exists in some year.
fn is_date(month: u8, day: u8) -> bool {
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 29,
        _ => 0,
    };
    (1..=days).contains(&day)
}
