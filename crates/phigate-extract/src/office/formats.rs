//! Number formats of a workbook: dates, and numbers written in groups, as they are shown.

use std::ops::Range;

use phigate_types::Unread;

use crate::xml::{self, Element, Visit};

/// Way in which a number is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    /// As it is.
    Number,
    /// As a date, a time, or both.
    Date,
    /// Digits in groups, such as `000-00-0000`.
    Groups(String),
}

/// Formats of cells, by the number that cells give.
#[derive(Default)]
pub(super) struct Formats {
    codes: Vec<(u32, String)>,
    cells: Vec<u32>,
    is_in_cells: bool,
}

impl Formats {
    /// Reads the styles of a workbook.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, Unread> {
        let mut formats = Self::default();
        xml::visit(&xml::decode(bytes)?, &mut formats)?;
        Ok(formats)
    }

    /// Returns how numbers of cells of a style are shown.
    pub(super) fn shown(&self, style: usize) -> Shown {
        let id = self.cells.get(style).copied().unwrap_or_default();
        match self.codes.iter().find(|(known, _)| *known == id) {
            Some((_, code)) => shown(code),
            None if matches!(id, 14..=22 | 27..=36 | 45..=47 | 50..=58) => Shown::Date,
            None => Shown::Number,
        }
    }
}

impl Visit for Formats {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Unread> {
        let number = |name: &str| element.get(name).and_then(|text| text.parse::<u32>().ok());
        match element.local {
            "numFmt" => {
                let code = element.get("formatCode").unwrap_or_default().to_owned();
                self.codes
                    .push((number("numFmtId").unwrap_or_default(), code));
            }
            "cellXfs" => self.is_in_cells = true,
            "xf" if self.is_in_cells => self.cells.push(number("numFmtId").unwrap_or_default()),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _: &str, local: &str) -> Result<(), Unread> {
        self.is_in_cells &= local != "cellXfs";
        Ok(())
    }

    fn text(&mut self, _: &str) -> Result<(), Unread> {
        Ok(())
    }

    fn aside(&mut self, _: &str, _: Range<usize>) -> Result<(), Unread> {
        Ok(())
    }
}

/// Returns how a format code shows numbers.
fn shown(code: &str) -> Shown {
    let mut plain = String::new();
    let mut is_pattern = true;
    let mut rest = code.chars();
    while let Some(each) = rest.next() {
        match each {
            ';' => break,
            '\\' | '_' | '*' => plain.extend(rest.next().filter(|_| each == '\\')),
            '"' => is_pattern &= rest.by_ref().take_while(|other| *other != '"').count() == 0,
            '[' => is_pattern &= rest.by_ref().take_while(|other| *other != ']').count() == 0,
            _ => plain.push(each),
        }
    }
    let lower = plain.to_ascii_lowercase();
    if lower == "general" {
        return Shown::Number;
    }
    let holders = plain
        .chars()
        .filter(|each| matches!(each, '0' | '#' | '?'))
        .count();
    if holders == 0 && lower.contains(['y', 'm', 'd', 'h', 's']) {
        return Shown::Date;
    }
    let is_group = |each: char| matches!(each, '0' | '#' | '?' | '-' | ' ' | '(' | ')' | '/');
    if is_pattern && holders >= 5 && plain.chars().all(is_group) {
        return Shown::Groups(plain);
    }
    Shown::Number
}

/// Returns a number as a workbook shows it.
pub(super) fn show(value: &str, shown: &Shown, from_1904: bool) -> String {
    let Ok(number) = value.trim().parse::<f64>() else {
        return value.to_owned();
    };
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    let digits = if is_whole {
        format!("{number:.0}")
    } else {
        value.to_owned()
    };
    match shown {
        Shown::Date => date(number, from_1904).unwrap_or(digits),
        Shown::Groups(pattern) if is_whole && number >= 0.0 => groups(&digits, pattern),
        Shown::Number | Shown::Groups(_) => digits,
    }
}

/// Fills a pattern with digits from the right.
fn groups(digits: &str, pattern: &str) -> String {
    let mut rest = digits.chars().rev();
    let mut text: Vec<char> = Vec::new();
    for each in pattern.chars().rev() {
        match each {
            '0' => text.push(rest.next().unwrap_or('0')),
            '#' | '?' => text.extend(rest.next()),
            _ => text.push(each),
        }
    }
    text.extend(rest);
    text.iter().rev().collect()
}

/// Returns a serial number of days as a date, with its time if it has one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "bounded by the check before"
)]
fn date(serial: f64, from_1904: bool) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&serial) {
        return None;
    }
    let seconds = (serial.fract() * 86_400.0).round() as i64;
    let time = format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let whole = serial.trunc() as i64;
    if whole == 0 && !from_1904 {
        return Some(time);
    }
    // Workbooks count a 29 February 1900 that did not exist.
    let since_1970 = match (from_1904, whole) {
        (true, _) => whole - 24_107,
        (false, ..60) => whole - 25_568,
        (false, _) => whole - 25_569,
    };
    let (year, month, day) = civil(since_1970);
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(if seconds == 0 {
        date
    } else {
        format!("{date} {time}")
    })
}

/// Returns the date of a number of days since 1970, in the Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_in_workbook() {
        for (value, code, wanted) in [
            ("318526047", "000-00-0000", "318-52-6047"),
            ("12345678", "000\\-00\\-0000", "012-34-5678"),
            ("2065550199", "(###) ###-####", "(206) 555-0199"),
            ("1.234567E7", "0", "12345670"),
            ("26299", "yyyy-mm-dd", "1972-01-01"),
            ("1", "d/m/yyyy", "1900-01-01"),
            ("61", "[$-409]d\\-mmm\\-yy;@", "1900-03-01"),
            ("45658.5", "m/d/yy h:mm", "2025-01-01 12:00:00"),
            ("0.25", "h:mm", "06:00:00"),
            ("12.5", "0.00 \"days\"", "12.5"),
            ("250", "General", "250"),
            ("none", "0", "none"),
        ] {
            assert_eq!(show(value, &shown(code), false), wanted, "{code}");
        }
        assert_eq!(show("0", &Shown::Date, true), "1904-01-01");
    }
}
