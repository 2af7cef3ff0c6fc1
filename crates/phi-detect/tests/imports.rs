//! Imports run one way: no two modules of a folder need each other, parents and children aside.
//!
//! The graph is computed from the sources. Below every folder, its entries (a file or a whole folder) must have an
//! order in which each imports only entries before it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[test]
fn no_crate_has_a_circle_of_imports() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut circles = Vec::new();
    let all = std::fs::read_dir(&crates).expect("the crates are here");
    for entry in all {
        let folder = entry.expect("a folder is readable").path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let modules = Modules::read(&folder.join("src"));
        assert!(modules.0.len() > 1, "{name} has no sources");
        circles.extend(
            modules
                .circles()
                .into_iter()
                .map(|it| format!("{name}: {it}")),
        );
    }
    assert!(circles.is_empty(), "\n{}", circles.join("\n"));
}

/// A path is followed through at most this many re-exports.
const EXPORTS_MAX: usize = 8;

/// The path of a module: `["rules", "mrn"]`; the root has none.
type Module = Vec<String>;

/// Every module with the source of its file, tests left out.
struct Modules(BTreeMap<Module, String>);

impl Modules {
    fn read(folder: &Path) -> Self {
        let mut modules = BTreeMap::new();
        for file in files(folder) {
            let relative = file.strip_prefix(folder).expect("a file of the folder");
            let mut module: Module = relative
                .with_extension("")
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            if module
                .last()
                .is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main"))
            {
                module.pop();
            }
            let text = std::fs::read_to_string(&file).expect("sources are UTF-8");
            if module.last().is_none_or(|last| last != "tests") {
                modules.insert(module, code_of(&text));
            }
        }
        Modules(modules)
    }

    /// Circles among siblings, one line each.
    fn circles(&self) -> Vec<String> {
        let mut graphs: BTreeMap<Module, Graph> = BTreeMap::new();
        for (module, source) in &self.0 {
            for path in paths(source) {
                let Some(target) = self.resolve(module, &path, EXPORTS_MAX) else {
                    continue;
                };
                let common = module
                    .iter()
                    .zip(&target)
                    .take_while(|(a, b)| a == b)
                    .count();
                // A parent and its child may know each other.
                if let (Some(from), Some(to)) = (module.get(common), target.get(common)) {
                    let graph = graphs.entry(module[..common].to_vec()).or_default();
                    let line = format!("{} uses {}", module.join("::"), path.join("::"));
                    graph
                        .entry(from.clone())
                        .or_default()
                        .insert((to.clone(), line));
                }
            }
        }
        graphs
            .iter()
            .flat_map(|(folder, graph)| {
                let circle = circle_in(graph)?;
                Some(format!(
                    "in `{}`:\n  {}",
                    folder.join("::"),
                    circle.join("\n  ")
                ))
            })
            .collect()
    }

    /// The module that a path leads to, through re-exports of the modules on its way.
    fn resolve(&self, from: &Module, path: &[String], exports_max: usize) -> Option<Module> {
        let mut at: Module = Vec::new();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => rest = &rest[1..],
            Some("self") => {
                at = from.clone();
                rest = &rest[1..];
            }
            Some("super") => {
                at = from.clone();
                while rest.first().is_some_and(|part| part == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            _ => return None,
        }
        for name in rest {
            let mut next = at.clone();
            next.push(name.clone());
            if self.0.contains_key(&next) {
                at = next;
                continue;
            }
            let source = self.0.get(&at)?;
            let exported = exports(source)
                .into_iter()
                .find(|path| path.last() == Some(name));
            let through = exported.and_then(|mut path| {
                if !matches!(path[0].as_str(), "crate" | "self" | "super") {
                    path.insert(0, "self".to_owned());
                }
                self.resolve(&at, &path, exports_max.checked_sub(1)?)
            });
            return Some(through.unwrap_or(at));
        }
        Some(at)
    }
}

/// Imports of each node, each with the line that imports it.
type Graph = BTreeMap<String, BTreeSet<(String, String)>>;

/// The imports of one circle, if there is one.
fn circle_in(graph: &Graph) -> Option<Vec<String>> {
    let mut left: BTreeSet<&String> = graph.keys().collect();
    loop {
        let imports = |node: &String| graph[node].iter().any(|(to, _)| left.contains(to));
        let is_imported = |node: &String| {
            let mut others = left.iter().flat_map(|other| &graph[*other]);
            others.any(|(to, _)| to == node)
        };
        // A node that imports no remaining node, or is imported by none, is not in a circle.
        let free = left
            .iter()
            .find(|node| !imports(node) || !is_imported(node));
        let Some(&free) = free else {
            break;
        };
        left.remove(free);
    }
    let lines = left.iter().flat_map(|node| &graph[*node]);
    let lines: Vec<String> = lines
        .filter(|(to, _)| left.contains(to))
        .map(|(_, line)| line.clone())
        .collect();
    (!lines.is_empty()).then_some(lines)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The code of a file without comments and without its tests.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let lines = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path that starts at the crate, at the parent or at the module itself, braces spread out.
fn paths(source: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in source.match_indices(start) {
            let before = source[..at].chars().next_back().unwrap_or(' ');
            if !(before.is_alphanumeric() || before == '_' || before == ':') {
                spread(&source[at..], &[], &mut found);
            }
        }
    }
    found
}

/// The paths of the `pub use` lines of a module.
fn exports(source: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for line in ["pub use ", "pub(crate) use ", "pub(super) use "] {
        for (at, _) in source.match_indices(line) {
            spread(&source[at + line.len()..], &[], &mut found);
        }
    }
    found
}

/// Reads one path or tree of paths; returns how many bytes it took.
fn spread(source: &str, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    let mut at = 0;
    loop {
        let rest = &source[at..];
        let name = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        if name > 0 {
            path.push(rest[..name].to_owned());
            at += name;
        } else if rest.starts_with('{') {
            at += 1;
            while at < source.len() && !source[at..].starts_with('}') {
                let step = if source[at..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
                    spread(&source[at..], &path, found)
                } else {
                    source[at..].chars().next().map_or(1, char::len_utf8)
                };
                at += step;
            }
            return at + 1;
        }
        if source[at..].starts_with("::") {
            at += 2;
        } else {
            break;
        }
    }
    // `names::{self, Name}`: inside braces "self" is the module before it.
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    found.push(path);
    at
}
