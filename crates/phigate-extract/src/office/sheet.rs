//! A sheet of a workbook: its cells, and everything else in its part.

use std::ops::Range;

use phigate_types::Unread;

use super::cells::{Cell, position};
use super::formats::{Formats, show};
use super::vocabulary::family;
use super::walk::{Walk, values};
use crate::bounds;
use crate::xml::{Element, Visit};

/// Shared strings of a workbook.
#[derive(Default)]
pub(super) struct Strings {
    pub(super) texts: Vec<String>,
    pub(super) is_used: Vec<bool>,
    is_in_item: bool,
    is_in_reading: bool,
    /// Everything but the strings themselves.
    pub(super) rest: Walk,
}

impl Visit for Strings {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Unread> {
        match element.local {
            "si" => {
                self.texts.push(String::new());
                self.is_in_item = true;
            }
            "rPh" => self.is_in_reading = true,
            _ => {}
        }
        self.rest.note(&values(family(element.namespace), element));
        Ok(())
    }

    fn end(&mut self, _: &str, local: &str) -> Result<(), Unread> {
        match local {
            "si" => self.is_in_item = false,
            "rPh" => self.is_in_reading = false,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Unread> {
        match self.texts.last_mut() {
            Some(last) if self.is_in_item && !self.is_in_reading => last.push_str(text),
            _ => self.rest.note(text),
        }
        Ok(())
    }

    fn aside(&mut self, text: &str, _: Range<usize>) -> Result<(), Unread> {
        self.rest.note(text);
        Ok(())
    }
}

/// Field of a cell that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Other,
    Value,
    Formula,
    Inline,
}

/// Cell that is being read.
struct Open {
    row: u32,
    column: u32,
    kind: String,
    style: usize,
    value: String,
    formula: String,
    field: Field,
}

/// Reader of a sheet.
pub(super) struct Sheet<'w> {
    pub(super) cells: Vec<Cell>,
    pub(super) formulas: Vec<Cell>,
    /// Everything but the cells.
    pub(super) rest: Walk,
    strings: &'w mut Strings,
    formats: &'w Formats,
    from_1904: bool,
    open: Option<Open>,
    row: u32,
    column: u32,
}

impl<'w> Sheet<'w> {
    /// Creates the reader of a sheet.
    pub(super) fn new(strings: &'w mut Strings, formats: &'w Formats, from_1904: bool) -> Self {
        Self {
            cells: Vec::new(),
            formulas: Vec::new(),
            rest: Walk::default(),
            strings,
            formats,
            from_1904,
            open: None,
            row: 0,
            column: 0,
        }
    }

    /// Begins a row; one without a number follows the last.
    fn begin_row(&mut self, element: &Element<'_>) -> Result<(), Unread> {
        self.row = match element.get("r") {
            Some(number) => number.parse().map_err(|_| Unread::Damaged)?,
            None => self.row + 1,
        };
        self.column = 0;
        Ok(())
    }

    /// Begins a cell; one without a reference follows the last.
    fn begin_cell(&mut self, element: &Element<'_>) -> Result<(), Unread> {
        let (row, column) = match element.get("r") {
            Some(reference) => position(reference).ok_or(Unread::Damaged)?,
            None => (self.row.saturating_sub(1), self.column),
        };
        self.column = column + 1;
        let style = element.get("s").and_then(|style| style.parse().ok());
        self.open = Some(Open {
            row,
            column,
            kind: element.get("t").unwrap_or("n").to_owned(),
            style: style.unwrap_or(0),
            value: String::new(),
            formula: String::new(),
            field: Field::Other,
        });
        Ok(())
    }

    fn end_cell(&mut self) -> Result<(), Unread> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let (row, column) = (open.row, open.column);
        if !open.formula.is_empty() {
            self.formulas.push(Cell {
                row,
                column,
                text: open.formula,
            });
        }
        let text = match open.kind.as_str() {
            "s" => {
                let number: usize = open.value.trim().parse().map_err(|_| Unread::Damaged)?;
                let text = self.strings.texts.get(number).ok_or(Unread::Damaged)?;
                self.strings.is_used.resize(self.strings.texts.len(), false);
                self.strings.is_used[number] = true;
                text.clone()
            }
            "n" => show(&open.value, &self.formats.shown(open.style), self.from_1904),
            _ => open.value,
        };
        if !text.trim().is_empty() {
            self.cells.push(Cell { row, column, text });
        }
        if self.cells.len() + self.formulas.len() > bounds::CELLS {
            return Err(Unread::Limit);
        }
        Ok(())
    }
}

impl Visit for Sheet<'_> {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Unread> {
        if let Some(open) = &mut self.open {
            open.field = match element.local {
                "v" => Field::Value,
                "f" => Field::Formula,
                "t" if open.kind == "inlineStr" => Field::Inline,
                _ => Field::Other,
            };
            self.rest.note(&values(family(element.namespace), element));
            return Ok(());
        }
        match element.local {
            "row" => self.begin_row(element)?,
            "c" => {
                self.rest.note(&values(family(element.namespace), element));
                return self.begin_cell(element);
            }
            _ => {}
        }
        self.rest.start(element)
    }

    fn end(&mut self, namespace: &str, local: &str) -> Result<(), Unread> {
        if self.open.is_none() {
            return self.rest.end(namespace, local);
        }
        if local == "c" {
            return self.end_cell();
        }
        if let Some(open) = &mut self.open {
            open.field = Field::Other;
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Unread> {
        match &mut self.open {
            None => return self.rest.text(text),
            Some(open) => match open.field {
                Field::Value | Field::Inline => open.value.push_str(text),
                Field::Formula => open.formula.push_str(text),
                Field::Other => self.rest.note(text),
            },
        }
        Ok(())
    }

    fn aside(&mut self, text: &str, _: Range<usize>) -> Result<(), Unread> {
        self.rest.note(text);
        Ok(())
    }
}
