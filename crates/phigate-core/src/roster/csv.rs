//! Rosters as files: comma-separated values with a line of column names.

use std::fmt;

use super::field::Field;
use super::patient::{WrongValue, codes_of};

/// The column of each field, as the owner names it.
#[derive(Debug, Clone)]
pub struct Columns(Vec<(Field, String)>);

/// The reason why a file or its mapping is refused. Never repeats a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrongRoster {
    /// The mapping of columns.
    Map(String),
    /// A line of the file.
    Line(usize, String),
}

impl fmt::Display for WrongRoster {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(why) => write!(out, "--map: {why}"),
            Self::Line(number, why) => write!(out, "line {number}: {why}"),
        }
    }
}

impl std::error::Error for WrongRoster {}

impl Columns {
    /// Reads `FIELD=COLUMN,…`.
    pub fn read(map: &str) -> Result<Self, WrongRoster> {
        let refused = |why: String| WrongRoster::Map(why);
        let mut columns: Vec<(Field, String)> = Vec::new();
        for part in map.split(',') {
            let (name, column) = part
                .split_once('=')
                .ok_or_else(|| refused("write FIELD=COLUMN,…".to_owned()))?;
            let field = Field::all().find(|field| field.name() == name.trim());
            let field = field.ok_or_else(|| {
                let names: Vec<&str> = Field::all().map(Field::name).collect();
                refused(format!(
                    "there is no field {name:?}; there are {}",
                    names.join(", ")
                ))
            })?;
            if columns.iter().any(|(known, _)| *known == field) {
                return Err(refused(format!("{name} is named twice")));
            }
            columns.push((field, column.trim().to_owned()));
        }
        let identifies =
            |field: &Field| [Field::Family, Field::Record, Field::Mail].contains(field);
        match columns.iter().any(|(field, _)| identifies(field)) {
            true => Ok(Self(columns)),
            false => {
                let needed = [Field::Family, Field::Record, Field::Mail].map(Field::name);
                Err(refused(format!(
                    "name the column of {} at least",
                    needed.join(", or of ")
                )))
            }
        }
    }

    /// The place of each field's column.
    fn places(&self, head: &[String]) -> Result<Vec<(Field, usize)>, WrongRoster> {
        let place = |(field, column): &(Field, String)| {
            let mut found = (0..).zip(head).filter(|(_, name)| name.trim() == column);
            match (found.next(), found.next()) {
                (Some((at, _)), None) => Ok((*field, at)),
                (None, _) => Err(WrongRoster::Map(format!(
                    "the file has no column {column:?}"
                ))),
                (Some(_), Some(_)) => Err(WrongRoster::Map(format!(
                    "the file has two columns {column:?}"
                ))),
            }
        };
        self.0.iter().map(place).collect()
    }
}

/// Gives the words of every code of every patient of a file to `code`; returns the number of patients.
pub fn read_patients(
    file: &[u8],
    columns: &Columns,
    code: &mut dyn FnMut(&[&str]),
) -> Result<u64, WrongRoster> {
    let text = std::str::from_utf8(file).map_err(|error| {
        let before = &file[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        WrongRoster::Line(line, "is not UTF-8".to_owned())
    })?;
    let mut rows = Rows::of(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut row = Vec::new();
    if rows.next(&mut row)?.is_none() {
        return Err(WrongRoster::Line(
            1,
            "the names of the columns are missing".to_owned(),
        ));
    }
    let (places, width) = (columns.places(&row)?, row.len());
    let mut patients = 0;
    while let Some(line) = rows.next(&mut row)? {
        if row.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        if row.len() != width {
            let why = format!("has {} values for {width} columns", row.len());
            return Err(WrongRoster::Line(line, why));
        }
        let value = |field: Field| {
            let place = places.iter().find(|(known, _)| *known == field);
            place.map_or("", |(_, at)| row[*at].as_str())
        };
        match codes_of(value, code) {
            Ok(true) => patients += 1,
            Ok(false) => {
                let why = "has no surname, record number or e-mail address".to_owned();
                return Err(WrongRoster::Line(line, why));
            }
            Err(WrongValue { field, why }) => {
                return Err(WrongRoster::Line(line, format!("{} {why}", field.name())));
            }
        }
    }
    match patients {
        0 => Err(WrongRoster::Line(2, "there is no patient".to_owned())),
        patients => Ok(patients),
    }
}

/// Rows of a file. Cells may be quoted, and quoted cells may hold line breaks.
struct Rows<'t> {
    rest: &'t str,
    separator: char,
    line: usize,
}

impl<'t> Rows<'t> {
    fn of(text: &'t str) -> Self {
        let head = text.lines().next().unwrap_or_default();
        let separators = [',', ';', '\t'].into_iter();
        let separator = separators.max_by_key(|sign| (head.matches(*sign).count(), *sign == ','));
        Self {
            rest: text,
            separator: separator.unwrap_or(','),
            line: 1,
        }
    }

    /// Reads a row into cells, and returns its line; `None` at the end.
    fn next(&mut self, cells: &mut Vec<String>) -> Result<Option<usize>, WrongRoster> {
        cells.clear();
        if self.rest.is_empty() {
            return Ok(None);
        }
        let line = self.line;
        loop {
            let cell = match self.rest.strip_prefix('"') {
                Some(quoted) => self.quoted(quoted, line)?,
                None => {
                    let end = self.rest.find([self.separator, '\n', '\r']);
                    let (cell, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                    self.rest = rest;
                    cell.to_owned()
                }
            };
            cells.push(cell);
            match self.rest.strip_prefix(self.separator) {
                Some(rest) => self.rest = rest,
                None => break,
            }
        }
        if !self.rest.is_empty() {
            let rest = self.rest.strip_prefix('\r').unwrap_or(self.rest);
            let rest = rest.strip_prefix('\n').unwrap_or(rest);
            if rest.len() == self.rest.len() {
                return Err(WrongRoster::Line(
                    line,
                    "has text behind a quoted value".to_owned(),
                ));
            }
            self.rest = rest;
            self.line += 1;
        }
        Ok(Some(line))
    }

    /// Reads a cell whose opening quote was read.
    fn quoted(&mut self, mut from: &'t str, line: usize) -> Result<String, WrongRoster> {
        let mut cell = String::new();
        loop {
            let Some((part, rest)) = from.split_once('"') else {
                return Err(WrongRoster::Line(line, "a quote is not closed".to_owned()));
            };
            self.line += part.matches('\n').count();
            cell.push_str(part);
            match rest.strip_prefix('"') {
                Some(rest) => {
                    cell.push('"');
                    from = rest;
                }
                None => {
                    self.rest = rest;
                    return Ok(cell);
                }
            }
        }
    }
}
