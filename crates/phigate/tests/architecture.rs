//! Statements of ARCHITECTURE.md, SECURITY.md and docs/reliability.md about tests are true.

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

/// The tests that a line names. Names of tests are sentences; a word or two joined by an underscore is something else.
fn tests_named(line: &str) -> Vec<&str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let quoted = line.split('`').skip(1).step_by(2);
    quoted
        .filter(|word| word.matches('_').count() > 1 && word.bytes().all(is_plain))
        .collect()
}

/// Looks whether each of twelve lines names tests, and whether they exist.
fn check_promises<'l>(lines: impl Iterator<Item = &'l str>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = String::new();
    sources(&root.join("crates"), &mut all);
    let mut count = 0;
    for line in lines {
        let names = tests_named(line);
        assert!(!names.is_empty(), "no test is named: {line}");
        for name in names {
            // Promises of the store are listed by name for every engine.
            let exists = all.contains(&format!("fn {name}("));
            assert!(exists, "there is no test {name}");
        }
        count += 1;
    }
    assert!(count >= 12, "{count} promises");
}

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn every_invariant_names_a_test_that_exists() {
    let text = read("ARCHITECTURE.md");
    let (_, invariants) = text.split_once("## Invariants").unwrap();
    let (invariants, _) = invariants.split_once("\n## ").unwrap();
    let is_invariant = |line: &&str| line.starts_with(|first: char| first.is_ascii_digit());
    check_promises(invariants.lines().filter(is_invariant));
}

#[test]
fn every_promise_names_a_test_that_exists() {
    let text = read("docs/reliability.md");
    let is_promise = |line: &&str| {
        let cell = line.strip_prefix("| ").unwrap_or_default();
        cell.starts_with(|first: char| first.is_ascii_digit())
    };
    check_promises(text.lines().filter(is_promise));
}

#[test]
fn every_safeguard_names_a_test_that_exists() {
    let text = read("SECURITY.md");
    // The list of identifiers names kinds, which the tests of the detector check.
    let (before, listed) = text.split_once("## The eighteen identifiers").unwrap();
    let (_, after) = listed.split_once("\n## ").unwrap();
    let text = format!("{before}## {after}");
    // Of both tables the rows whose last column names tests; one row of each may have none.
    let is_named = |line: &&str| line.starts_with("| ") && !tests_named(line).is_empty();
    check_promises(text.lines().filter(is_named));
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let (all, named) = (
        rows.clone().count(),
        rows.filter(|line| is_named(line)).count(),
    );
    assert!(all - named <= 3, "{} rows name no test", all - named);
}

/// Compares dependencies between our crates with the rules in deny.toml. Cargo-deny checks every dependency; this test
/// also runs without it.
#[test]
fn crate_dependencies_follow_deny_toml() {
    let rules = read("deny.toml");
    let rules: Vec<Vec<&str>> = rules
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("{ crate = ") && line.contains("wrappers"))
        .map(|line| line.split('"').skip(1).step_by(2).collect())
        .collect();
    assert!(rules.len() > 10, "{} walls", rules.len());
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(crates).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let manifest = std::fs::read_to_string(entry.path().join("Cargo.toml")).unwrap();
        for line in manifest.lines() {
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let wall = rules.iter().find(|rule| rule[0] == dependency);
            let may = wall.is_none_or(|rule| rule[1..].contains(&name.as_str()));
            assert!(may, "{name} depends on {dependency}");
        }
    }
}

/// Bounds the size of types: a type that does everything attracts tangles.
#[test]
fn types_have_at_most_twenty_public_methods() {
    let mut methods: std::collections::BTreeMap<(String, String), usize> = Default::default();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(crates).unwrap().flatten() {
        let mut all = String::new();
        sources(&entry.path().join("src"), &mut all);
        let name = entry.file_name().into_string().unwrap();
        let mut of = None;
        for line in all.lines() {
            if let Some(rest) = line.strip_prefix("impl") {
                let is_trait = line.contains(" for ");
                let named = rest.rsplit(' ').nth(1).unwrap_or_default();
                let named = named.split('<').next().unwrap_or_default();
                of = (!is_trait).then(|| named.to_owned());
            } else if line == "}" {
                of = None;
            }
            let is_method = ["    pub fn ", "    pub async fn ", "    pub const fn "]
                .iter()
                .any(|start| line.starts_with(start));
            if let (true, Some(of)) = (is_method, &of) {
                *methods.entry((name.clone(), of.clone())).or_default() += 1;
            }
        }
    }
    assert!(methods.len() > 50, "{} types", methods.len());
    methods.retain(|_, count| *count > 20);
    assert!(methods.is_empty(), "{methods:?}");
}

/// A test file without a `mod` line would never run, and never fail.
#[test]
fn every_test_file_belongs_to_binary() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut named = 0;
    for package in std::fs::read_dir(crates).unwrap().flatten() {
        let manifest = std::fs::read_to_string(package.path().join("Cargo.toml")).unwrap();
        let Ok(all) = std::fs::read_to_string(package.path().join("tests/all.rs")) else {
            continue;
        };
        for file in std::fs::read_dir(package.path().join("tests")).unwrap() {
            let path = file.unwrap().path();
            let is_module = path.extension().is_some_and(|extension| extension == "rs")
                || path.join("mod.rs").exists();
            if !is_module {
                continue;
            }
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_named = all.contains(&format!("\nmod {name};"))
                || manifest.contains(&format!("[[test]]\nname = \"{name}\""));
            assert!(is_named, "nobody names {}", path.display());
            named += 1;
        }
    }
    assert!(named > 50, "{named} files");
}
