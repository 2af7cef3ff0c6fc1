//! The small things pages are made of: moments, choices, chips, highlighted text.

use std::borrow::Cow;

use std::fmt;

use askama::filters::HtmlSafe;
use jiff::Timestamp;
use phi_detect::{Findings, PhiKind};
use phigate_core::protect::Generalizing;
use phigate_types::Replaced;

/// A moment, written in UTC; the script on the page turns it into the viewer's zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    moment: Timestamp,
    form: Form,
}

/// Precision of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Day,
    Second,
    Millisecond,
}

impl When {
    /// Makes a moment shown to the second.
    pub(crate) fn at(moment: Timestamp) -> Self {
        let form = Form::Second;
        Self { moment, form }
    }

    /// Makes a moment shown to the millisecond, with its year and zone, for a case file.
    pub(crate) fn exactly(moment: Timestamp) -> Self {
        let form = Form::Millisecond;
        Self { moment, form }
    }

    /// Makes a moment shown to the day.
    pub(crate) fn on(moment: Timestamp) -> Self {
        let form = Form::Day;
        Self { moment, form }
    }
}

impl fmt::Display for When {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (form, machine, words) = match self.form {
            Form::Day => ("day", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"),
            Form::Second => ("moment", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S UTC"),
            Form::Millisecond => (
                "exact",
                "%Y-%m-%dT%H:%M:%S%.3fZ",
                "%Y-%m-%d %H:%M:%S%.3f UTC",
            ),
        };
        let (machine, words) = (self.moment.strftime(machine), self.moment.strftime(words));
        write!(
            out,
            r#"<time datetime="{machine}" data-form="{form}">{words}</time>"#
        )
    }
}

// Digits, punctuation and our own words only: nothing from outside gets in.
impl HtmlSafe for When {}

/// One entry of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) chosen: bool,
}

/// Makes the entries of a choice from code and label pairs.
pub(crate) fn choices<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    chosen: &str,
) -> Vec<Choice> {
    pairs
        .into_iter()
        .map(|(code, label)| Choice {
            code: code.to_owned(),
            label: label.to_owned(),
            chosen: code == chosen,
        })
        .collect()
}

/// A name and a value; a value that is a moment is shown in the viewer's zone.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) time: Option<When>,
}

impl Fact {
    /// A fact in words.
    pub(crate) fn text(name: &'static str, value: impl Into<String>) -> Self {
        Self {
            name,
            value: value.into(),
            time: None,
        }
    }

    /// A fact that is a moment.
    pub(crate) fn time(name: &'static str, moment: Timestamp) -> Self {
        Self {
            name,
            value: String::new(),
            time: Some(When::exactly(moment)),
        }
    }
}

/// A number with its label: a part of a page's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    pub(crate) label: &'static str,
    pub(crate) tone: &'static str,
}

/// Number of findings of a kind of PHI.
#[derive(Debug, Clone)]
pub(crate) struct KindChip {
    pub(crate) label: String,
    pub(crate) class: &'static str,
    pub(crate) count: u64,
}

impl KindChip {
    /// Makes a chip from the code and count of a record; a kind this version does not know keeps its code.
    pub(crate) fn new(code: &str, count: u64) -> Self {
        match PhiKind::from_code(code) {
            Some(kind) => Self {
                label: kind.label().to_owned(),
                class: kind_class(kind),
                count,
            },
            None => Self {
                label: code.to_owned(),
                class: "",
                count,
            },
        }
    }
}

/// The colour of a kind: its row in the table of kinds, around a wheel of eight.
pub(crate) fn kind_class(kind: PhiKind) -> &'static str {
    const CLASSES: [&str; 8] = ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"];
    let row = PhiKind::all()
        .position(|other| other == kind)
        .unwrap_or_default();
    CLASSES[row % CLASSES.len()]
}

/// A piece of text, highlighted when it has a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) class: &'static str,
    pub(crate) title: String,
}

impl Piece {
    /// A piece that is not highlighted.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            class: "",
            title: String::new(),
        }
    }
}

/// Text in the place of a finding.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Treatment<'g> {
    /// The finding itself.
    Keep,
    /// The replacement of a mode, or a coarser value in place of a placeholder; nothing when it is empty.
    Replace(fn(Replaced<'_>) -> Cow<'_, str>, Option<&'g Generalizing>),
}

/// A text cut at its findings, each treated and highlighted.
pub(crate) fn pieces(text: &str, findings: &Findings, treatment: Treatment<'_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut position = 0;
    for finding in findings {
        let (Some(before), Some(found)) = (
            text.get(position..finding.span.start),
            text.get(finding.span.clone()),
        ) else {
            continue;
        };
        if !before.is_empty() {
            pieces.push(Piece::plain(before));
        }
        let shown = match treatment {
            Treatment::Keep => Cow::Borrowed(found),
            Treatment::Replace(word, generalizing) => {
                let placeholder = finding.kind.placeholder();
                let text = found;
                let plain = word(Replaced { placeholder, text });
                let coarse = generalizing.filter(|_| plain == placeholder);
                let coarse =
                    coarse.and_then(|kinds| kinds.value(finding.kind, &finding.hides, text));
                coarse.map_or(plain, Cow::Owned)
            }
        };
        if !shown.is_empty() {
            pieces.push(Piece {
                text: shown.into_owned(),
                class: kind_class(finding.kind),
                title: format!(
                    "{}, score {:.2}, rule {}",
                    finding.kind.label(),
                    finding.score,
                    finding.rule
                ),
            });
        }
        position = finding.span.end;
    }
    if let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
        pieces.push(Piece::plain(rest));
    }
    pieces
}

/// A number with thin groups of three, as people read it.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A time as people read it.
pub(crate) fn duration(ms: u64) -> String {
    if ms < 1000 {
        format!("{ms} ms")
    } else {
        format!("{:.1} s", ms as f64 / 1000.0)
    }
}

/// Writes a number of things, in the singular or plural.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// A message of ours, which start small and end bare, as a sentence.
pub(crate) fn in_sentence(message: &str) -> String {
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

/// A share in per cent; a small share that is not none never reads as none.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 || part == 0 {
        return "0%".to_owned();
    }
    let share = part as f64 * 100.0 / whole as f64;
    if share < 0.1 {
        "<0.1%".to_owned()
    } else if share < 10.0 {
        format!("{share:.1}%")
    } else {
        format!("{share:.0}%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, shown) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), shown);
        }
    }

    #[test]
    fn one_thing_is_not_many() {
        for (number, words) in [
            (0, "0 requests"),
            (1, "1 request"),
            (1200, "1,200 requests"),
        ] {
            assert_eq!(counted(number, "request"), words);
        }
    }

    #[test]
    fn small_share_is_never_shown_as_zero() {
        for (part, whole, shown) in [
            (0, 10, "0%"),
            (1, 0, "0%"),
            (1, 100_000, "<0.1%"),
            (1, 40, "2.5%"),
            (1, 3, "33%"),
            (9, 9, "100%"),
        ] {
            assert_eq!(percent(part, whole), shown);
        }
    }

    #[test]
    fn moments_have_human_and_machine_forms() {
        let moment = Timestamp::from_second(1_700_000_000).unwrap();
        assert_eq!(
            When::at(moment).to_string(),
            r#"<time datetime="2023-11-14T22:13:20Z" data-form="moment">2023-11-14 22:13:20 UTC</time>"#
        );
        assert_eq!(
            When::on(moment).to_string(),
            r#"<time datetime="2023-11-14T22:13:20Z" data-form="day">2023-11-14</time>"#
        );
        assert_eq!(
            When::exactly(moment).to_string(),
            r#"<time datetime="2023-11-14T22:13:20.000Z" data-form="exact">2023-11-14 22:13:20.000 UTC</time>"#
        );
    }
}
