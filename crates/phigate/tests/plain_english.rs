//! Comments and names of tests in plain English.
//!
//! A doc comment opens with a noun or a verb, a comment names its actor, and a test's name has at most seven words. All
//! sources are read, tests included. Each crate has ceilings for what is left to reword; they may only be lowered.

use std::path::Path;

use crate::support::sources::files_with_tests;

/// Openings of a doc comment without a subject.
const OPENINGS: &[&str] = &[
    // Alphabetical.
    "How", "It", "Its", "The same", "What", "Where", "Who", "Whoever", "Whom", "Whose",
];

/// Words that hide the actor, or stand for a plainer word.
const VAGUE: &[&str] = &[
    // Alphabetical.
    "anybody",
    "everybody",
    "nobody",
    "somebody",
    "stands",
    "stood",
    "tells",
    "told",
    "whoever",
    "whom",
];

/// The most words of a test's name.
const NAME_WORDS_MAX: usize = 7;

/// The most by which a ceiling may exceed its count, so that not every rewording has to lower it.
const SLACK: usize = 20;

/// The counted faults, in the order of the ceilings.
const FAULTS: [&str; 3] = [
    "doc comments with an opening without a subject",
    "vague expressions in comments",
    "long or vague names of tests",
];

/// The ceilings of each crate.
const CEILINGS: &[(&str, [usize; 3])] = &[
    // Alphabetical, one row per crate.
    ("phi-detect", [0, 0, 0]),
    ("phi-kernels", [0, 0, 0]),
    ("phigate", [0, 0, 0]),
    ("phigate-auth", [1, 1, 0]),
    ("phigate-core", [0, 0, 0]),
    ("phigate-dashboard", [0, 0, 0]),
    ("phigate-edge", [0, 0, 0]),
    ("phigate-extract", [0, 0, 0]),
    ("phigate-gateway", [0, 0, 0]),
    ("phigate-report", [0, 0, 0]),
    ("phigate-store", [0, 0, 0]),
    ("phigate-types", [1, 0, 0]),
    ("phigate-verify", [0, 0, 0]),
];

#[test]
fn comments_and_test_names_are_plain() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = std::fs::read_dir(&crates).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    let listed: Vec<&str> = CEILINGS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, listed, "one row per crate");
    let mut wrong = Vec::new();
    for (name, ceilings) in CEILINGS {
        let found = faults_below(&crates.join(name));
        for ((fault, ceiling), places) in FAULTS.iter().zip(ceilings).zip(&found) {
            let count = places.len();
            if count > *ceiling {
                let places = places.join("\n  ");
                wrong.push(format!(
                    "{name} may have {ceiling} {fault}, and has {count}:\n  {places}"
                ));
            } else if count + SLACK < *ceiling {
                wrong.push(format!(
                    "{name} has {count} {fault}: lower the ceiling from {ceiling}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The places of every fault below a folder, in the order of `FAULTS`.
fn faults_below(folder: &Path) -> [Vec<String>; 3] {
    let mut all: [Vec<String>; 3] = Default::default();
    for file in files_with_tests(folder) {
        let source = std::fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(folder).unwrap().display().to_string();
        for (all, found) in all.iter_mut().zip(faults_in(&name, &source)) {
            all.extend(found);
        }
    }
    all
}

/// The places of every fault in one source, in the order of `FAULTS`.
fn faults_in(name: &str, source: &str) -> [Vec<String>; 3] {
    let mut openings = Vec::new();
    let mut expressions = Vec::new();
    for block in blocks(source) {
        let place = format!("{name}:{}", block.line);
        let text = block.text.trim();
        if block.marker != "//" && has_vague_opening(text) {
            openings.push(place.clone());
        }
        expressions.extend(vec![place; vague_expressions(text)]);
    }
    let names = tests(source)
        .into_iter()
        .filter(|(_, test)| is_hard_to_read(test))
        .map(|(line, _)| format!("{name}:{line}"))
        .collect();
    [openings, expressions, names]
}

/// Whether a test's name has too many words, or one that hides the actor.
fn is_hard_to_read(test: &str) -> bool {
    let mut words = test.split('_');
    words.clone().count() > NAME_WORDS_MAX || words.any(|word| VAGUE.contains(&word))
}

/// Adjacent comment lines with one marker.
struct Block {
    line: usize,
    marker: &'static str,
    text: String,
}

/// The comment blocks of a source. Comments behind code are left out.
fn blocks(source: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for (at, line) in source.lines().enumerate() {
        let line = line.trim();
        let markers = ["//!", "///", "//"];
        let Some(marker) = markers.into_iter().find(|marker| line.starts_with(*marker)) else {
            is_open = false;
            continue;
        };
        let text = line[marker.len()..].trim();
        match blocks
            .last_mut()
            .filter(|last| is_open && last.marker == marker)
        {
            Some(block) => {
                block.text.push(' ');
                block.text.push_str(text);
            }
            None => blocks.push(Block {
                line: at + 1,
                marker,
                text: text.to_owned(),
            }),
        }
        is_open = true;
    }
    blocks
}

fn has_vague_opening(text: &str) -> bool {
    OPENINGS.iter().any(|opening| {
        let rest = text.strip_prefix(*opening);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

/// The number of vague expressions in a comment. Code and quotations are left out.
fn vague_expressions(text: &str) -> usize {
    let plain = without_quoted(&without_quoted(text, '`'), '"').to_lowercase();
    let words: Vec<&str> = plain
        .split(|letter: char| !letter.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .collect();
    let before = |at: usize| at.checked_sub(1).map_or("", |at| words[at]);
    (0..words.len())
        .filter(|at| is_vague(before(*at), &words[*at..]))
        .count()
}

/// Whether the first of these words begins a vague expression.
fn is_vague(before: &str, words: &[&str]) -> bool {
    match words {
        [word, ..] if VAGUE.contains(word) => true,
        ["is" | "are" | "was" | "were", "no" | "none", rest @ ..] => {
            before != "there" && rest.first() != Some(&"longer")
        }
        ["of", _, "own", ..] | ["so", "many", ..] => true,
        [
            "became" | "become" | "becomes" | "came" | "come" | "comes",
            "of",
            ..,
        ] => true,
        _ => false,
    }
}

/// The text without its parts between two of these marks.
fn without_quoted(text: &str, mark: char) -> String {
    let parts: Vec<&str> = text.split(mark).collect();
    let is_outside = |at: usize| at.is_multiple_of(2) || at + 1 == parts.len();
    let outside = (0..parts.len()).filter(|at| is_outside(*at));
    outside.map(|at| parts[at]).collect::<Vec<_>>().join(" ")
}

/// The names of a source's tests, with their lines.
fn tests(source: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_test = false;
    for (at, line) in source.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if is_test && !line.starts_with("#[") {
            let name = line.split_once("fn ").map(|(_, after)| {
                let end = after.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
                &after[..end.unwrap_or(after.len())]
            });
            found.extend(name.map(|name| (at + 1, name)));
            is_test = false;
        }
    }
    found
}

#[test]
fn faults_of_a_source_are_found() {
    let source = "/// What is kept.\nstruct A;\n\n/// Keys of nobody, `told` \"stands\"\n/// so many times; there is no X.\nstruct B;\n\n#[test]\nfn a_b_c_d_e_f_g_h() {}\n\n#[test]\nfn a_b_c_d_e_f_g() {}\n";
    let found = faults_in("a.rs", source);
    assert_eq!(
        found,
        [
            vec!["a.rs:1".to_owned()],
            vec!["a.rs:4".to_owned(), "a.rs:4".to_owned()],
            vec!["a.rs:9".to_owned()],
        ]
    );
}
