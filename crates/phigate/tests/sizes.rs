//! Files and functions stay small enough to be read at once.
//!
//! The sources are measured as they are formatted; tests are left out.

use std::path::{Path, PathBuf};

/// Half of all files are shorter than this.
const FILE_MEDIAN_MAX: usize = 180;
/// Nine of ten functions have at most this many lines, their signature included.
const FUNCTION_P90_MAX: usize = 30;
/// No function is longer than this.
const FUNCTION_MAX: usize = 60;

#[test]
fn files_and_functions_are_short() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    let mut functions: Vec<(usize, String)> = Vec::new();
    for file in sources(&crates) {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(&text);
        let lines: Vec<&str> = code.trim_end().lines().collect();
        files.push(lines.len());
        let name = file.strip_prefix(&crates).unwrap().display();
        let found = functions_of(&lines);
        functions.extend(
            found
                .into_iter()
                .map(|(at, length)| (length, format!("{name}:{at}"))),
        );
    }
    files.sort_unstable();
    functions.sort();
    assert!(files.len() > 300 && functions.len() > 3000);
    let median = files[files.len() / 2];
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

/// The sources of the program.
fn sources(folder: &Path) -> Vec<PathBuf> {
    const LEFT_OUT: &[&str] = &[
        "benches",
        "examples",
        "samples",
        "testing.rs",
        "tests",
        "tests.rs",
    ];
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The functions of a formatted file: where each begins, and how many lines it has. It ends with a brace as far to the
/// right as it began.
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
    while let Some(after) = BEFORE.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after;
    }
    rest.starts_with("fn ")
}
