//! Generalized values: the year of a date, "90+" for an age, the first digits of a ZIP code.
//!
//! A value that cannot be generalized gets its placeholder instead. Generalized text holds nothing that a scan finds.

mod zips;

pub use zips::{ZIP_TABLE, ZipTable};

/// Generalizes a value; `None` if it becomes its placeholder. The number is the current year.
pub(crate) type Generalize = fn(&str, i32) -> Option<String>;

/// Least age that the Safe Harbor list does not allow.
const OLDEST: i32 = 90;

/// Returns the year of a date, if the date names one.
pub(crate) fn date(value: &str, this_year: i32) -> Option<String> {
    let year = match year_of(value)? {
        Year::Whole(year) => year,
        Year::Short(short) if 2000 + short <= this_year + 10 => 2000 + short,
        Year::Short(short) => 1900 + short,
    };
    Some(year.to_string())
}

/// Returns the year of a birth, unless the person may be 90 or older.
pub(crate) fn birth(value: &str, this_year: i32) -> Option<String> {
    let is_allowed = |year: i32| year > this_year - OLDEST;
    let year = match year_of(value)? {
        Year::Whole(year) => year,
        Year::Short(short) if 2000 + short > this_year => 1900 + short,
        // Two centuries are possible, and the earlier is not allowed.
        Year::Short(short) => Some(2000 + short).filter(|_| is_allowed(1900 + short))?,
    };
    is_allowed(year).then(|| year.to_string())
}

/// Returns the one form of all ages over 89.
pub(crate) fn age(_: &str, _: i32) -> Option<String> {
    Some("90+".to_owned())
}

/// Leaves out a place that ends in the comma before its state.
pub(crate) fn place(value: &str, _: i32) -> Option<String> {
    value.trim_end().ends_with(',').then(String::new)
}

/// Returns the first three digits of a lone ZIP code, or 000 for an area with few people.
pub(crate) fn address(value: &str, _: i32) -> Option<String> {
    let bytes = value.as_bytes();
    let is_figures = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let is_zip = match bytes.len() {
        5 | 9 => is_figures(bytes),
        10 => is_figures(&bytes[..5]) && bytes[5] == b'-' && is_figures(&bytes[6..]),
        _ => false,
    };
    let prefix = value.get(..3).filter(|_| is_zip)?;
    let is_listed = ZIP_TABLE.lists(prefix);
    Some(if is_listed { prefix } else { "000" }.to_owned())
}

/// The year that a date names.
enum Year {
    Whole(i32),
    /// The last two digits.
    Short(i32),
}

fn year_of(value: &str) -> Option<Year> {
    let is_figure = |letter: char| letter.is_ascii_digit();
    let groups = value.split(|letter| !is_figure(letter));
    let groups = groups.filter(|group| !group.is_empty());
    let number = |group: &str| group.parse::<i32>().ok();
    let is_year = |year: &i32| (1800..2200).contains(year);
    if let Some(year) = groups
        .clone()
        .filter(|group| group.len() == 4)
        .filter_map(number)
        .find(is_year)
    {
        return Some(Year::Whole(year));
    }
    let count = groups.clone().count();
    let last = groups.clone().next_back()?;
    if count == 1 && matches!(last.len(), 8 | 10 | 12 | 14) {
        // 20240304 and longer stamps begin with the year, 03042024 ends with it.
        let first = number(&last[..4]).filter(is_year);
        let end = last
            .get(4..8)
            .filter(|_| last.len() == 8)
            .and_then(number)
            .filter(is_year);
        return first.or(end).map(Year::Whole);
    }
    let has_month = value.chars().any(char::is_alphabetic) && count == 2;
    let is_short = last.len() == 2 && (count == 3 || has_month && is_last_short(value));
    number(last).filter(|_| is_short).map(Year::Short)
}

/// Whether the last figures are a year: "14-Mar-62" and "March 14, '62", not "the 4th of May at 12".
fn is_last_short(value: &str) -> bool {
    let before = value.trim_end_matches(|letter: char| letter.is_ascii_digit());
    before.ends_with(['\'', '’', '-', '/', '.']) || before.ends_with(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i32 = 2026;

    fn is(found: &Option<String>, wanted: &str) -> bool {
        found.as_deref() == Some(wanted)
    }

    #[test]
    fn dates_become_their_year() {
        for value in [
            "March 4, 2024",
            "3/14/2024",
            "2024-01-17",
            "04-MAR-2024",
            "14.03.2024",
            "202403041105",
            "20240304",
            "3/4/24",
            "May 2024",
        ] {
            assert!(is(&date(value, NOW), "2024"), "{value}");
        }
        for value in ["June 12", "4/22", "twenty-third of May"] {
            assert!(date(value, NOW).is_none(), "{value}");
        }
        assert!(is(&date("3/4/98", NOW), "1998"));
    }

    #[test]
    fn births_of_the_old_keep_placeholders() {
        assert!(is(&birth("03/14/1962", NOW), "1962"));
        assert!(is(&birth("12/30/1937", NOW), "1937"));
        assert!(is(&birth("03141962", NOW), "1962"));
        assert!(is(&birth("3/14/62", NOW), "1962"));
        for value in ["01/01/1936", "03/14/1926", "3/14/31", "3/14/20", "March 14"] {
            assert!(birth(value, NOW).is_none(), "{value}");
        }
    }

    #[test]
    fn lone_zip_codes_keep_three_digits() {
        for (zip, wanted) in [
            ("02139", "021"),
            ("60614-1234", "606"),
            ("021394307", "021"),
            ("03601", "000"),
            ("09912", "000"),
        ] {
            assert!(is(&address(zip, NOW), wanted), "{zip}");
        }
        assert!(address("1428 Elm Avenue", NOW).is_none());
    }
}
