//! Files to scan: those that were named, and those in folders that were named.

use std::path::{Path, PathBuf};

use anyhow::Context;
use ignore::WalkBuilder;

/// File with patterns of files that are not scanned, in the form of `.gitignore`.
const IGNORE_FILE: &str = ".phigateignore";

/// One file to scan.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Input {
    /// `None` for standard input.
    pub(super) path: Option<PathBuf>,
    /// Whether it was named itself, rather than a folder that holds it. A named file must be readable.
    pub(super) is_named: bool,
}

/// Every file, those of folders in order. `besides` is a file that folders do not count as theirs.
pub(super) fn inputs(named: &[PathBuf], besides: Option<&Path>) -> anyhow::Result<Vec<Input>> {
    let mut inputs = Vec::new();
    if named.is_empty() {
        inputs.push(Input {
            path: None,
            is_named: true,
        });
    }
    let besides = besides.and_then(|path| path.canonicalize().ok());
    for path in named {
        if !path.is_dir() {
            inputs.push(Input {
                path: Some(path.clone()),
                is_named: true,
            });
            continue;
        }
        for file in files_of(path)? {
            if besides.is_none() || file.canonicalize().ok() != besides {
                inputs.push(Input {
                    path: Some(file),
                    is_named: false,
                });
            }
        }
    }
    Ok(inputs)
}

/// Files of a folder, without those that `.gitignore` and `.phigateignore` name. Links are not followed.
fn files_of(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let walk = WalkBuilder::new(folder)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .add_custom_ignore_filename(IGNORE_FILE)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_path(Path::cmp)
        .build();
    let mut files = Vec::new();
    for entry in walk {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_files_and_git_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for name in ["b/note.txt", ".env", ".git/config", "build/x", "data/y.csv"] {
            write(name, "x");
        }
        write(".gitignore", "build/\n");
        write(".phigateignore", "*.csv\n");
        write("known.json", "{}");
        let besides = folder.path().join("known.json");
        let named = [folder.path().to_owned()];
        let found = inputs(&named, Some(&besides)).unwrap();
        let names: Vec<_> = found
            .iter()
            .filter_map(|input| input.path.as_ref()?.strip_prefix(folder.path()).ok())
            .map(Path::to_string_lossy)
            .collect();
        assert_eq!(
            names,
            [".env", ".gitignore", ".phigateignore", "b/note.txt"]
        );
    }
}
