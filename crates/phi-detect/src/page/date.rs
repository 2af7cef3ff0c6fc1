//! The dates of a page, as they are kept: `dates` reads them.

use std::ops::Range;

/// A date in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DateHit {
    pub(crate) span: Range<usize>,
    pub(crate) form: DateForm,
}

/// Written form of a date, as far as it matters for trusting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateForm {
    /// Day, month and year.
    Full,
    /// Day and month in words, without a year.
    DayMonth,
    /// Two numbers and a slash: a day and month, a fraction or a ratio.
    Fraction,
    /// Month and year: `03/1962`, `March 1962`.
    MonthYear,
    /// Digits without separators, or pairs of them: could be any number.
    Compact,
}
