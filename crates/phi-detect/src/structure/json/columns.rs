//! Rows of values under a list of heads: `{"columns": ["mrn", "dob"], "rows": [["482913", "1962-03-14"]]}`,
//! and pairs of a label and its value: `[["mrn", "482913"]]`.

use std::ops::Range;

use super::super::heads;
use crate::budget::{self, Few};
use crate::labels::Meaning;
use crate::page::Field;

/// Longer arrays are neither heads nor rows.
pub(super) const ITEMS_MAX: usize = 256;
/// More arrays are not looked at.
pub(super) const LISTS_MAX: usize = 100_000;
/// A text has a handful of tables; each is compared with every row.
const TABLES_MAX: usize = 16;

/// Item at one place of an array.
pub(super) enum Item {
    /// A value, and its field if it has one.
    Value {
        span: Range<usize>,
        field: Option<usize>,
    },
    /// An object or array, with the value that names it.
    Named(Option<Range<usize>>),
}

/// An array that may be a row of a table, or its heads.
pub(super) struct List {
    pub(super) span: Range<usize>,
    /// Start of the enclosing object or array.
    pub(super) around: usize,
    pub(super) items: budget::List<Item>,
    /// Whether its key says that it names columns.
    pub(super) is_marked: bool,
}

/// Gives the values of rows the meaning of their heads, and of pairs that of their label.
/// `scopes` are the objects and arrays right round the lists.
pub(super) fn settle(
    bytes: &[u8],
    lists: &[List],
    mut scopes: budget::List<Range<usize>>,
    found: &mut budget::List<Field>,
) {
    scopes.sort_by_key(|scope| scope.start);
    let mut tables: Few<(&List, Few<Option<Meaning>>)> = Few::new();
    for list in lists {
        if let Some(label) = label_of_pair(bytes, list).filter(|_| !list.is_marked) {
            give(&list.items[1], label, found);
        } else if tables.len() < TABLES_MAX
            && let Some(columns) = columns(bytes, list)
        {
            tables.push((list, columns));
        }
    }
    for (heads, columns) in &tables {
        let scope = scopes
            .binary_search_by_key(&heads.around, |scope| scope.start)
            .map_or(0..bytes.len(), |index| scopes[index].clone());
        for row in lists {
            let is_beside = scope.contains(&row.span.start);
            let is_head = tables.iter().any(|(other, _)| other.span == row.span);
            if is_beside && !is_head && row.items.len() == columns.len() {
                for (item, &meaning) in row.items.iter().zip(columns) {
                    give(item, meaning, found);
                }
            }
        }
    }
}

/// The meanings of a list of heads: labels, or objects that labels name.
fn columns(bytes: &[u8], list: &List) -> Option<Few<Option<Meaning>>> {
    let heads: Option<Few<&str>> = list
        .items
        .iter()
        .map(|item| match item {
            Item::Value { span, .. } | Item::Named(Some(span)) => {
                std::str::from_utf8(&bytes[span.clone()]).ok()
            }
            Item::Named(None) => None,
        })
        .collect();
    let heads = heads?.into_iter();
    if list.is_marked {
        heads::meanings_of_marked(heads)
    } else {
        heads::meanings(heads)
    }
}

/// Returns the meaning that the first of two values gives to the second (`["mrn", "482913"]`).
fn label_of_pair(bytes: &[u8], list: &List) -> Option<Option<Meaning>> {
    let [
        Item::Value { span: label, .. },
        Item::Value { span: value, .. },
    ] = &*list.items
    else {
        return None;
    };
    let meaning = heads::personal(&bytes[label.clone()])?;
    (!heads::is_label(&bytes[value.clone()])).then_some(Some(meaning))
}

/// Gives a value its meaning, unless it has one.
fn give(item: &Item, meaning: Option<Meaning>, found: &mut budget::List<Field>) {
    match item {
        Item::Value {
            field: Some(field), ..
        } => {
            if let Some(field) = found.get_mut(*field) {
                field.meaning = field.meaning.or(meaning);
            }
        }
        Item::Value { span, field: None } => {
            found.push(Field::new(span.clone(), meaning));
        }
        Item::Named(_) => {}
    }
}
