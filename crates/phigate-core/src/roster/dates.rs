//! Dates of birth, in the forms in which people write them.

/// A calendar date, as `YYYYMMDD`.
pub(super) type Day = String;

/// English names of months, by their first three letters.
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// First and last year of a birth.
const YEARS: std::ops::RangeInclusive<u32> = 1880..=2100;

/// Every day that three parts of a date may mean, in the order in which they are written: `1950-11-04`, `4 Nov 1950`,
/// `11/04/50`.
pub(super) fn days(parts: [&str; 3]) -> Vec<Day> {
    let month = |at: usize| month(parts[at]);
    let number = |at: usize| number(parts[at]);
    let named = (0..3).find(|at| month(*at).is_some());
    let mut days = Vec::new();
    match named {
        Some(1) => add(&mut days, parts[2], month(1), number(0)),
        Some(0) => add(&mut days, parts[2], month(0), number(1)),
        Some(_) => {}
        None if parts[0].len() == 4 => add(&mut days, parts[0], number(1), number(2)),
        None => {
            add(&mut days, parts[2], number(0), number(1));
            add(&mut days, parts[2], number(1), number(0));
        }
    }
    days.dedup();
    days
}

/// The day of eight digits: `19501104`.
pub(super) fn compact(digits: &str) -> Vec<Day> {
    match (digits.get(..4), digits.get(4..6), digits.get(6..8)) {
        (Some(year), Some(month), Some(day)) if digits.len() == 8 => days([year, month, day]),
        _ => Vec::new(),
    }
}

fn add(days: &mut Vec<Day>, year: &str, month: Option<u32>, day: Option<u32>) {
    let (Some(month @ 1..=12), Some(day @ 1..=31)) = (month, day) else {
        return;
    };
    let Some(year) = number(year).map(|value| (value, year.len())) else {
        return;
    };
    let centuries: &[u32] = match year {
        (_, 4) => &[0],
        (_, 2) => &[1900, 2000],
        _ => &[],
    };
    for century in centuries {
        let year = century + year.0;
        if YEARS.contains(&year) {
            days.push(format!("{year:04}{month:02}{day:02}"));
        }
    }
}

fn number(part: &str) -> Option<u32> {
    let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
    let without_ending = || {
        let endings = ["st", "nd", "rd", "th"];
        endings.iter().find_map(|ending| part.strip_suffix(ending))
    };
    match is_number {
        true => part.parse().ok(),
        false => without_ending()?.parse().ok(),
    }
}

/// The number of a month by its name in lower case.
fn month(part: &str) -> Option<u32> {
    let is_word = part.bytes().all(|byte| byte.is_ascii_lowercase());
    let start = part.get(..3).filter(|_| is_word)?;
    (1..)
        .zip(MONTHS)
        .find_map(|(number, name)| (name == start).then_some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_date_are_one_day() {
        for parts in [
            ["1950", "11", "04"],
            ["11", "04", "1950"],
            ["4", "11", "1950"],
            ["november", "4", "1950"],
            ["nov", "4th", "1950"],
            ["04", "nov", "1950"],
            ["11", "4", "50"],
        ] {
            let days = days(parts);
            assert!(days.contains(&"19501104".to_owned()), "{parts:?}: {days:?}");
        }
        assert_eq!(compact("19501104"), ["19501104"]);
        for parts in [
            ["1950", "13", "04"],
            ["11", "40", "1950"],
            ["11", "4", "950"],
        ] {
            assert_eq!(days(parts), [""; 0], "{parts:?}");
        }
    }
}
