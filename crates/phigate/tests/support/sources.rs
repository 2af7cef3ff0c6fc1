//! The sources of the program, for tests that read them.

use std::path::{Path, PathBuf};

/// Where tests and examples are: they may spell what they expect, and be as long as they like.
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
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        if path.is_dir() {
            files.extend(self::files(&path));
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
