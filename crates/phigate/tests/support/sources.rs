//! The sources of the program, for tests that read them.

use std::path::{Path, PathBuf};

/// Tests and examples: they may spell expected codes, and have any length.
const LEFT_OUT: &[&str] = &[
    "benches",
    "build.rs",
    "examples",
    "samples",
    "testing.rs",
    "tests",
    "tests.rs",
];

/// Every file of the program below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    files_but(folder, LEFT_OUT)
}

/// Every source file below a folder, tests included.
pub fn files_with_tests(folder: &Path) -> Vec<PathBuf> {
    files_but(folder, &[])
}

fn files_but(folder: &Path, left_out: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if left_out.iter().any(|left_out| name == *left_out) {
            continue;
        }
        if path.is_dir() {
            files.extend(files_but(&path, left_out));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The part of a file before its tests.
pub fn code_of(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod ").next().unwrap_or(text)
}
