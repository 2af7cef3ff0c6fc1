//! What ARCHITECTURE.md says about tests is true.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;

/// Reads every Rust source below a folder.
fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_invariant_names_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let mut all = String::new();
    sources(&root.join("crates"), &mut all);
    let (_, invariants) = text.split_once("## Invariants").unwrap();
    let (invariants, _) = invariants.split_once("\n## ").unwrap();
    let mut count = 0;
    for line in invariants.lines() {
        let is_invariant = line.starts_with(|first: char| first.is_ascii_digit());
        if !is_invariant {
            continue;
        }
        count += 1;
        let quoted = line.split('`').skip(1).step_by(2);
        // Names of tests are sentences; a word or two joined by an underscore is something else.
        let is_sentence = |word: &&str| {
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
            word.matches('_').count() > 1 && word.bytes().all(is_plain)
        };
        let names: Vec<&str> = quoted.filter(is_sentence).collect();
        assert!(!names.is_empty(), "no test is named: {line}");
        for name in names {
            // Promises of the store are listed by name for every engine.
            let exists = all.contains(&format!("fn {name}("));
            assert!(exists, "there is no test {name}");
        }
    }
    assert!(count >= 12, "{count} invariants");
}
