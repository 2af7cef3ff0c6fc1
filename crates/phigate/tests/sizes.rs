//! Files and functions stay small enough to be read at once.
//!
//! The sources are measured as they are formatted; tests are left out.

use std::path::Path;

use crate::support::sources::{code_of, files};

/// Half of all files are shorter than this.
const FILE_MEDIAN_MAX: usize = 180;
/// Nine of ten functions have at most this many lines, their signature included.
const FUNCTION_P90_MAX: usize = 30;
/// No function is longer than this.
const FUNCTION_MAX: usize = 60;

#[test]
fn files_and_functions_are_short() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut lengths = Vec::new();
    let mut functions: Vec<(usize, String)> = Vec::new();
    for file in files(&crates) {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = code_of(&text).trim_end().lines().collect();
        lengths.push(lines.len());
        let name = file.strip_prefix(&crates).unwrap().display();
        let found = functions_of(&lines);
        functions.extend(
            found
                .into_iter()
                .map(|(at, length)| (length, format!("{name}:{at}"))),
        );
    }
    lengths.sort_unstable();
    functions.sort();
    assert!(lengths.len() > 300 && functions.len() > 3000);
    let median = lengths[lengths.len() / 2];
    assert!(
        median < FILE_MEDIAN_MAX,
        "half of all files have {median} lines or more"
    );
    let p90 = functions[functions.len() * 9 / 10].0;
    assert!(
        p90 <= FUNCTION_P90_MAX,
        "a tenth of all functions has {p90} lines or more"
    );
    let long: Vec<_> = functions
        .iter()
        .filter(|(length, _)| *length > FUNCTION_MAX)
        .collect();
    assert!(long.is_empty(), "too long: {long:?}");
}

/// The functions of a formatted file: first line and number of lines of each. A function ends with a brace at its
/// indentation.
fn functions_of(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if !is_function(line.trim_start()) {
            continue;
        }
        let Some(opening) = lines[at..]
            .iter()
            .position(|line| line.ends_with(['{', ';', '}']))
        else {
            continue;
        };
        match lines[at + opening].chars().next_back() {
            Some('{') => {
                let end = format!("{}}}", " ".repeat(indent));
                let body = lines[at + opening..].iter().position(|line| *line == end);
                found.extend(body.map(|body| (at + 1, opening + body + 1)));
            }
            // On one line.
            Some('}') => found.push((at + 1, opening + 1)),
            _ => {}
        }
    }
    found
}

fn is_function(line: &str) -> bool {
    const BEFORE: &[&str] = &[
        "pub ",
        "pub(crate) ",
        "pub(super) ",
        "const ",
        "async ",
        "unsafe ",
    ];
    let mut rest = line;
    if let Some((_, after)) = rest
        .strip_prefix("pub(in ")
        .and_then(|path| path.split_once(") "))
    {
        rest = after;
    }
    while let Some(after) = BEFORE.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after;
    }
    rest.starts_with("fn ")
}
