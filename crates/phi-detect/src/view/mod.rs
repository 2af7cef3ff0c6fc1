//! The text as a reader takes it: disguise removed, with a map back to the original.
//!
//! Full-width and other digits become plain digits, look-alike letters Latin ones,
//! unusual dashes and spaces the usual ones; invisible characters vanish; entities,
//! percent codes and backslash escapes are decoded, also when they are coded twice;
//! marks of looks (bold, italics, colours), folded lines and spaced letters are seen
//! through. Rules read the view, findings are reported in the original, so what is
//! masked is what was written.

mod blanks;
mod characters;
mod edit;
mod emphasis;
mod escape;
mod fold;
mod lines;
mod mail;
mod signs;
mod spaced;
mod tags;

use std::ops::Range;

use crate::budget::{Budget, Few, List};
use edit::{Edit, Layer};

/// Number of escapes that are resolved inside each other; deeper ones are left as they are.
const ESCAPE_DEPTH_MAX: usize = 4;

/// A text without disguise.
pub(crate) struct View<'a> {
    source: &'a str,
    /// Layers, each made from the one before; empty when the text is its own view.
    layers: Few<Layer>,
}

impl<'a> View<'a> {
    /// The view of a text. Plain text is not copied.
    #[cfg(test)]
    pub(crate) fn new(source: &'a str) -> Self {
        Self::within(&Budget::new(&|| true), source)
    }

    /// The view of a text, for as long as the budget lasts. Plain text is not copied.
    pub(crate) fn within(budget: &Budget<'_>, source: &'a str) -> Self {
        let mut view = View {
            source,
            layers: Few::new(),
        };
        view.edit(budget, mail::edits);
        for _ in 0..ESCAPE_DEPTH_MAX {
            if !budget.has_time() {
                break;
            }
            let Some(layer) = characters::layer(view.text(), budget) else {
                break;
            };
            let may_hold_more = layer.has_decoded();
            view.layers.push(layer);
            if !may_hold_more {
                break;
            }
        }
        view.edit(budget, |bytes, edits| {
            for find in [emphasis::edits, tags::edits, lines::edits, blanks::edits] {
                if budget.has_time() {
                    find(bytes, edits);
                }
            }
        });
        view.edit(budget, spaced::edits);
        view
    }

    /// Puts a layer with these edits on top, if there are any.
    fn edit(&mut self, budget: &Budget<'_>, find: impl Fn(&[u8], &mut List<Edit>)) {
        let mut edits = budget.memory().list();
        find(self.text().as_bytes(), &mut edits);
        let layer = Layer::with_edits(self.text(), edits);
        self.layers.extend(layer);
    }

    pub(crate) fn text(&self) -> &str {
        self.layers.last().map_or(self.source, Layer::text)
    }

    /// Returns the place of a span of the view in the original, widened to whole characters.
    pub(crate) fn to_source(&self, span: &Range<usize>) -> Range<usize> {
        let below = self
            .layers
            .iter()
            .rev()
            .fold(span.clone(), |span, layer| layer.to_below(&span));
        let mut start = below.start.min(self.source.len());
        let mut end = below.end.clamp(start, self.source.len());
        while !self.source.is_char_boundary(start) {
            start -= 1;
        }
        while !self.source.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        assert_eq!(View::new(source).text(), expected, "{source:?}");
    }

    #[test]
    fn unusual_digits_letters_and_signs_become_plain() {
        check("５３６‑２２–８７４１", "536-22-8741");
        check("𝟓𝟑𝟔-๒๒-८७४१", "536-22-8741");
        check("5\u{200d}3\u{feff}6\u{34f}-22", "536-22");
        check("5\u{301}3\u{336}6", "536");
        check("Ѕосіаl Ѕесurіtу", "Social Security");
        check("maria＠example．org", "maria@example.org");
        check("206·555·0142", "206.555.0142");
        check("536\u{a0}22\u{3000}8741", "536 22 8741");
        check("José Peña", "Jose Pena");
        check("5\u{8}36\u{1f}-22", "536-22");
    }

    #[test]
    fn escapes_are_decoded() {
        check("&#x35;&#51;6&hyphen;22", "536-22");
        check("536%2D22%2d8741 and 50% of 20", "536-22-8741 and 50% of 20");
        check(r"\u0035\u0033\u0036-22", "536-22");
        check(r#"{\"ssn\":\"536\"}"#, r#"{"ssn":"536"}"#);
        check("536<b>-</b>22", "536-22");
        check("p<0.05 & n>3", "p<0.05 & n>3");
    }

    #[test]
    fn hidden_and_turned_text_is_read() {
        check("Hi.\u{e0053}\u{e0053}\u{e004e}", "Hi.SSN");
        check("\u{202e}1478-22-635\u{202c}, ok", "536-22-8741, ok");
    }

    #[test]
    fn spans_come_back_to_the_original() {
        let source = "SSN ５３６-22-8741\u{301}, José";
        let view = View::new(source);
        let at = view.text().find("536").expect("the view has the digits");
        let original = view.to_source(&(at..at + 11));
        assert_eq!(&source[original], "５３６-22-8741\u{301}");
        let at = view.text().find("Jose").expect("the view has the name");
        assert_eq!(&source[view.to_source(&(at..at + 4))], "José");
    }

    #[test]
    fn plain_text_is_its_own_view() {
        for text in ["SSN 536-22-8741", "50% of 20 & more", "a * b, x = 1\n> 3"] {
            assert!(View::new(text).layers.is_empty(), "{text}");
        }
    }
}
