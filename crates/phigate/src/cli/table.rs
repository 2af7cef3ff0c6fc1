//! Lists of the command line: a table with heads for people, JSON for programs.

use serde::Serialize;

/// Space between two columns.
const GAP: &str = "  ";

/// Rows under headings, each column as wide as its widest cell.
pub(super) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(heads: &[&'static str]) -> Self {
        Self {
            heads: heads.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. An empty cell is printed as a dash.
    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| printable(&cell)).into());
    }

    /// Prints headings and rows to standard output. An empty table prints `when_empty` to standard error instead.
    pub(super) fn print(&self, when_empty: &str) {
        if self.rows.is_empty() {
            eprintln!("{when_empty}");
        } else {
            print!("{}", self.text());
        }
    }

    /// Prints the rows without headings.
    pub(super) fn print_without_heads(&self) {
        let text = self.text();
        let rows = text.split_once('\n').map_or("", |(_, rows)| rows);
        print!("{rows}");
    }

    fn text(&self) -> String {
        let heads: Vec<String> = self.heads.iter().map(|head| (*head).to_owned()).collect();
        let lines = std::iter::once(&heads).chain(&self.rows);
        let mut widths = vec![0; heads.len()];
        for line in lines.clone() {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = cell.chars().count().max(*width);
            }
        }
        let mut text = String::new();
        for line in lines {
            let cells: Vec<String> = line
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            text.push_str(cells.join(GAP).trim_end());
            text.push('\n');
        }
        text
    }
}

/// A cell that is safe on a terminal: names are user input, and may hold control codes.
fn printable(cell: &str) -> String {
    if cell.is_empty() {
        return "-".to_owned();
    }
    let plain = |letter: char| if letter.is_control() { '?' } else { letter };
    cell.chars().map(plain).collect()
}

/// Prints a list as one JSON array.
pub(super) fn print_json<T: Serialize>(items: &[T]) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(items)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_columns_align_without_terminal_codes() {
        let mut table = Table::new(&["ID", "NAME", "STATE"]);
        table.row(["abc".into(), "Station Süd".into(), String::new()]);
        table.row(["a".into(), "x\u{1b}[2J".into(), "revoked".into()]);
        let wanted = "ID   NAME         STATE\nabc  Station Süd  -\na    x?[2J        revoked\n";
        assert_eq!(table.text(), wanted);
    }
}
