//! Reads calendar dates in the forms people write them.

mod figures;
mod words;

pub(crate) use crate::page::{DateForm as Form, DateHit};
pub(crate) use words::spoken_numbers;

use std::ops::Range;

use crate::lexicon::Sense;
use crate::page::{Mark, Page};
use figures::{compact, lettered, numeric, ordinals, spread};
use words::{month_inside, round_month, with_signs, year_first};

/// The date that starts at, or is built round, this mark.
pub(crate) fn date_at(page: &Page<'_>, index: usize) -> Option<DateHit> {
    if !may_be_date(page.marks[index]) {
        return None;
    }
    let all = all(page);
    let place = all.binary_search_by_key(&index, |(mark, _)| *mark).ok()?;
    Some(all[place].1.clone())
}

/// Counts off the marks that may be dates, each with the date that is read there, for as long as there is time.
pub(crate) fn each_date<'a>(
    page: &'a Page<'_>,
) -> impl Iterator<Item = (usize, Option<&'a DateHit>)> {
    let mut dates = all(page).iter().peekable();
    each_that_may_be(page).map(move |index| {
        let date = dates.next_if(|(mark, _)| *mark == index);
        (index, date.map(|(_, date)| date))
    })
}

/// The dates with their marks. Several rules ask at every mark, so each is read once. Only dates are kept, because a
/// long text may be all numbers.
fn all<'a>(page: &'a Page<'_>) -> &'a [(usize, DateHit)] {
    page.dates.get_or_init(|| {
        let dates = each_that_may_be(page);
        page.memory()
            .collect(dates.filter_map(|index| Some((index, read(page, index)?))))
    })
}

fn each_that_may_be(page: &Page<'_>) -> impl Iterator<Item = usize> {
    page.each_mark()
        .filter(|&index| may_be_date(page.marks[index]))
}

/// Whether a date may start at a mark, or be built round it.
fn may_be_date(mark: Mark) -> bool {
    mark.sense.has(Sense::MONTH | Sense::NUMBER | Sense::CODE)
}

fn read(page: &Page<'_>, index: usize) -> Option<DateHit> {
    let mark = page.marks[index];
    if mark.sense.has(Sense::MONTH) {
        return round_month(page, mark.range());
    }
    if mark.is_number() {
        // The length of a number shows the parts of a date that it can be, and most numbers cannot be any.
        return match mark.len() {
            1 | 2 => numeric(page, index)
                .or_else(|| lettered(page, mark.range()))
                .or_else(|| spread(page, mark.start as usize)),
            4 => numeric(page, index).or_else(|| year_first(page, mark.range())),
            _ => compact(page, mark.range()),
        };
    }
    if mark.is_code() {
        return month_inside(page, mark.range())
            .or_else(|| with_signs(page, mark.range()))
            .or_else(|| ordinals(page, mark.range()));
    }
    None
}

fn leading_digits(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let length = page
        .slice(span.clone())
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    span.start..span.start + length
}

fn number(page: &Page<'_>, span: Range<usize>) -> u32 {
    page.slice(span).iter().fold(0u32, |value, byte| {
        value
            .saturating_mul(10)
            .saturating_add(u32::from(byte.wrapping_sub(b'0')))
    })
}

fn is_year(year: u32) -> bool {
    (1880..=2040).contains(&year)
}

fn is_day(day: u32) -> bool {
    (1..=31).contains(&day)
}

fn is_month_day(month: u32, day: u32) -> bool {
    (1..=12).contains(&month) && is_day(day)
}

fn is_either_order(one: u32, two: u32) -> bool {
    is_month_day(one, two) || is_month_day(two, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_date(text: &str) -> Option<(&str, Form)> {
        let view = crate::view::View::new(text);
        let page = Page::new(view.text());
        (0..page.marks.len())
            .find_map(|index| date_at(&page, index))
            .map(|hit| (&text[view.to_source(&hit.span)], hit.form))
    }

    #[test]
    fn common_full_date_forms_are_read() {
        for text in [
            "03/14/1962",
            "3/14/62",
            "1962-03-14",
            "14.3.1962",
            "14-Mar-1962",
            "14MAR1962",
            "March 14, 1962",
            "Mar. 14th 1962",
            "14 March 1962",
            "14th of March, 1962",
            "14th day of March, 1962",
            "fourteenth of March 1962",
            "March fourteenth, nineteen sixty two",
            "March 14 '62",
            "14.III.1962",
            "14-XI-62",
            "14 mars 1962",
            "1er mai 1962",
            "14. Mai 1962",
            "14 de março de 1962",
            "14 giugno 1962",
            "14 mrt 1962",
            "昭和37年3月14日",
            "1962年3月14日",
            "14th of the 3rd, 1962",
            "14th of the 3rd 62",
            "14th of the 3rd, '62",
            "14.iii.1962",
            "14/set/1962",
            "03~14~1962",
            "1962. június 14.",
        ] {
            assert_eq!(first_date(text), Some((text, Form::Full)), "{text}");
        }
    }

    #[test]
    fn date_span_excludes_time() {
        assert_eq!(
            first_date("1962-03-14T08:30:00Z"),
            Some(("1962-03-14", Form::Full))
        );
    }

    #[test]
    fn other_numbers_are_no_dates() {
        for text in [
            "120/80",
            "1.2.3",
            "13/32/1990",
            "May 500",
            "version 2.0.0",
            "99213",
            "2 x 2000",
            "1 set 2020",
        ] {
            assert_eq!(first_date(text), None, "{text}");
        }
    }
}
