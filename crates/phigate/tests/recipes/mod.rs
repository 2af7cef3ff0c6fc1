//! The recipes of CONTRIBUTING.md, followed: what one more of each thing costs, and that nothing else is needed.
//!
//! A recipe here is what a contributor would write: new files, and lines in files that are there. Each run checks that
//! every recipe still fits the sources and costs what CONTRIBUTING.md says. `make recipes` goes on to follow all of
//! them in a copy of the sources, and compiles and tests it.

mod follow;
mod table;

use table::{RECIPES, Recipe};

#[test]
fn every_recipe_fits_the_sources() {
    for recipe in RECIPES {
        for (file, after, _) in recipe.lines {
            let text = follow::read(file);
            let count = text.lines().filter(|line| line == after).count();
            assert_eq!(
                count, 1,
                "{}: {file} has no one line {after:?}",
                recipe.name
            );
        }
        for new in recipe.new {
            assert!(!follow::path(new.path).exists(), "{} is there", new.path);
        }
    }
}

#[test]
fn every_recipe_cost_is_documented() {
    let page = follow::read("CONTRIBUTING.md");
    for recipe in RECIPES {
        let row = format!(
            "| {} | {} | {} |",
            recipe.name,
            recipe.news(),
            recipe.edits()
        );
        assert!(page.contains(&row), "CONTRIBUTING.md lacks the row {row}");
    }
}

#[test]
#[ignore = "compiles the workspace once more; make recipes runs it"]
fn following_every_recipe_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    follow::copy_sources(folder.path());
    for recipe in RECIPES {
        follow::follow(recipe, folder.path());
    }
    follow::cargo(folder.path(), &["check", "--workspace"]);
    for arguments in table::PROOFS {
        follow::cargo(folder.path(), arguments);
    }
}

impl Recipe {
    /// List of the new files, as text.
    fn news(&self) -> String {
        let names: Vec<String> = self
            .new
            .iter()
            .map(|new| format!("`{}`", new.path))
            .collect();
        match names.is_empty() {
            true => "nothing".to_owned(),
            false => names.join(", ").replace("twin", "<id>"),
        }
    }

    /// List of the edited files, as text: each file once, without the `mod` lines of a folder.
    fn edits(&self) -> String {
        let mut files: Vec<String> = Vec::new();
        for (file, _, text) in self.lines {
            let name = format!("`{file}`");
            let is_mod_line = text.contains("mod ") && text.lines().count() == 1;
            if !files.contains(&name) && !is_mod_line {
                files.push(name);
            }
        }
        files.join(", ")
    }
}
