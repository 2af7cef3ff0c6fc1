//! Following a recipe in a copy of the sources.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::table::{New, Recipe, Source};

/// A path of the repository.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

pub(crate) fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

/// Copies the sources that a build needs.
pub(crate) fn copy_sources(to: &Path) {
    for name in [
        "crates",
        "bench",
        "docs",
        "fuzz/Cargo.toml",
        "fuzz/src",
        "fuzz/tests",
        "fuzz/words.dict",
        "Cargo.toml",
        "Cargo.lock",
        "clippy.toml",
        "phigate.example.toml",
    ] {
        copy(&path(name), &to.join(name), &[]);
    }
}

/// Copies a file or a folder, with words replaced in its texts.
fn copy(from: &Path, to: &Path, words: &[(&str, &str)]) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            copy(&entry.path(), &to.join(entry.file_name()), words);
        }
        return;
    }
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    match std::fs::read_to_string(from) {
        Ok(text) => {
            let replace = |text: String, (old, new): &(&str, &str)| text.replace(old, new);
            std::fs::write(to, words.iter().fold(text, replace)).unwrap();
        }
        Err(_) => {
            std::fs::copy(from, to).unwrap();
        }
    }
}

/// Writes the new files and the lines.
pub(crate) fn follow(recipe: &Recipe, root: &Path) {
    for New { path: name, source } in recipe.new {
        let name = root.join(name);
        match source {
            Source::Text(text) => {
                std::fs::create_dir_all(name.parent().unwrap()).unwrap();
                std::fs::write(&name, text).unwrap();
            }
            Source::Like(from, words) => copy(&path(from), &name, words),
        }
    }
    for (file, after, text) in recipe.lines {
        let name = root.join(file);
        let before = std::fs::read_to_string(&name).unwrap();
        let mut lines: Vec<&str> = before.lines().collect();
        let at = lines.iter().position(|line| line == after).unwrap();
        lines.insert(at + 1, text);
        std::fs::write(&name, lines.join("\n") + "\n").unwrap();
    }
}

/// Runs cargo in the copy. Dependencies are taken from the builds of this checkout.
pub(crate) fn cargo(folder: &Path, arguments: &[&str]) {
    let status = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--offline")
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", path("target"))
        .env("UPDATE_DOCS", "1")
        .status()
        .unwrap();
    assert!(status.success(), "cargo {} failed", arguments.join(" "));
}
