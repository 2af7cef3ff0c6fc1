//! Cells of a sheet as a table of text, with the place of each.

use std::collections::BTreeSet;

use phigate_types::{Passage, Place, Stretch, Unread};

use crate::bounds;

/// Cell with text.
pub(super) struct Cell {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) text: String,
}

/// Returns row and column of a reference such as `B7`, counted from 0.
pub(super) fn position(reference: &str) -> Option<(u32, u32)> {
    let letters = reference.bytes().take_while(u8::is_ascii_uppercase).count();
    let (letters, digits) = reference.split_at(letters);
    if !(1..=3).contains(&letters.len()) {
        return None;
    }
    let column = letters
        .bytes()
        .fold(0, |sum, letter| sum * 26 + u32::from(letter - b'A') + 1);
    let row: u32 = digits.parse().ok()?;
    Some((row.checked_sub(1)?, column - 1))
}

/// Returns cells as a table: columns with text, separated by tabs, and an empty line for rows left out.
///
/// # Errors
///
/// [`Unread::Limit`] if the table would be far larger than its text.
pub(super) fn table(
    sheet: u32,
    title: (Place, &str),
    mut cells: Vec<Cell>,
) -> Result<Passage, Unread> {
    cells.sort_by_key(|cell| (cell.row, cell.column));
    let columns: BTreeSet<u32> = cells.iter().map(|cell| cell.column).collect();
    let columns: Vec<u32> = columns.into_iter().collect();
    let mut passage = Passage::at(title.0, one_line(title.1));
    let (mut row, mut at, mut padding) = (None, 0, 0usize);
    for cell in cells {
        let is_next = row.is_none_or(|row| cell.row <= row + 1);
        if row != Some(cell.row) {
            passage.text.push_str(if is_next { "\n" } else { "\n\n" });
            (row, at) = (Some(cell.row), 0);
        }
        let column = columns.partition_point(|column| *column < cell.column);
        padding += column - at;
        if padding > 4 * bounds::CELLS {
            return Err(Unread::Limit);
        }
        passage.text.extend(std::iter::repeat_n('\t', column - at));
        at = column;
        let place = Place::Cell {
            sheet,
            row: cell.row,
            column: cell.column,
        };
        passage.stretches.push(Stretch {
            start: passage.text.len(),
            place,
        });
        passage.text.push_str(&one_line(&cell.text));
    }
    passage.text.push('\n');
    Ok(passage)
}

/// Returns text with a space for every tab and line break, so that a table stays one.
fn one_line(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_positions() {
        assert_eq!(position("A1"), Some((0, 0)));
        assert_eq!(position("B7"), Some((6, 1)));
        assert_eq!(position("XFD1048576"), Some((1_048_575, 16_383)));
        for wrong in ["", "7", "B", "B0", "b7", "ABCD1", "B-1"] {
            assert_eq!(position(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn table_keeps_columns_and_places() {
        let cell = |row, column, text: &str| Cell {
            row,
            column,
            text: text.into(),
        };
        let cells = vec![
            cell(0, 4, "Date\nof birth"),
            cell(0, 1, "Name"),
            cell(1, 4, "1961-04-02"),
            cell(5, 1, "End"),
        ];
        let passage = table(2, (Place::Part(9), "Ward"), cells).unwrap();
        assert_eq!(
            passage.text,
            "Ward\nName\tDate of birth\n\t1961-04-02\n\nEnd\n"
        );
        let at = passage.text.find("1961").unwrap();
        let place = Place::Cell {
            sheet: 2,
            row: 1,
            column: 4,
        };
        assert_eq!(passage.stretch(at).unwrap().place, place);
        assert_eq!(passage.stretch(0).unwrap().place, Place::Part(9));
    }
}
