//! Substitutes for a model: aliases always, fallbacks when its providers fail. Both are written line by line.

use std::collections::BTreeMap;

use phigate_core::wire::format_for_model;
use phigate_types::is_model_id;

const LINES_MAX: usize = 200;

/// The most that are tried for one request, besides the first.
const TARGETS_MAX: usize = 8;

/// Lines of `asked = served`.
pub(crate) fn alias_lines(aliases: &BTreeMap<String, String>) -> String {
    let lines: Vec<String> = aliases
        .iter()
        .map(|(asked, served)| format!("{asked} = {served}"))
        .collect();
    lines.join("\n")
}

/// Lines of `asked = first, second`.
pub(crate) fn fallback_lines(fallbacks: &BTreeMap<String, Vec<String>>) -> String {
    let lines: Vec<String> = fallbacks
        .iter()
        .map(|(asked, targets)| format!("{asked} = {}", targets.join(", ")))
        .collect();
    lines.join("\n")
}

/// The filled lines of a text, each with its number and its two sides.
fn sides(text: &str) -> impl Iterator<Item = (usize, Option<(&str, &str)>)> {
    let numbered = text.lines().enumerate();
    let lines = numbered.map(|(index, line)| (index + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| {
            let sides = line.split_once('=');
            let sides = sides.map(|(asked, other)| (asked.trim(), other.trim()));
            let is_whole = |sides: &(&str, &str)| !sides.0.is_empty() && !sides.1.is_empty();
            (number, sides.filter(is_whole))
        })
}

/// Reads aliases.
pub(crate) fn read_aliases(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut aliases = BTreeMap::new();
    for (number, sides) in sides(text) {
        let Some((asked, served)) = sides else {
            return Err(format!(
                "Line {number}: write the name asked for, an equals sign and the name served."
            ));
        };
        match (format_for_model(asked), format_for_model(served)) {
            (Some(one), Some(other)) if one.id() == other.id() => {}
            (Some(_), Some(_)) => {
                return Err(format!(
                    "Line {number}: both names must be models of the same provider."
                ));
            }
            _ => {
                return Err(format!(
                    "Line {number}: aliases are for models of OpenAI, Anthropic and Google. Other names belong in the model list of the provider that serves them: open it above and add “{asked}={served}”."
                ));
            }
        }
        aliases.insert(asked.to_owned(), served.to_owned());
    }
    if aliases.len() > LINES_MAX {
        return Err(format!("At most {LINES_MAX} aliases."));
    }
    Ok(aliases)
}

/// Reads fallbacks. The order of targets is the order in which they are asked.
pub(crate) fn read_fallbacks(text: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut fallbacks = BTreeMap::new();
    for (number, sides) in sides(text) {
        let wrong = |why: &str| Err(format!("Line {number}: {why}"));
        let Some((asked, targets)) = sides else {
            return wrong("write the model asked for, an equals sign and who is asked instead.");
        };
        let targets: Vec<String> = targets
            .split(',')
            .map(|one| one.trim().to_owned())
            .collect();
        if !is_model_id(asked) || !targets.iter().all(|target| is_model_id(target)) {
            return wrong("models have letters, digits and . _ : / @ -, separated by commas.");
        }
        let has_twice = (1..targets.len()).any(|at| targets[..at].contains(&targets[at]));
        if targets.iter().any(|target| target == asked) || has_twice {
            return wrong("a model cannot stand in for itself or be asked twice.");
        }
        if targets.len() > TARGETS_MAX {
            return Err(format!("Line {number}: at most {TARGETS_MAX} are asked."));
        }
        fallbacks.insert(asked.to_owned(), targets);
    }
    if fallbacks.len() > LINES_MAX {
        return Err(format!("At most {LINES_MAX} fallbacks."));
    }
    Ok(fallbacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_read_line_by_line() {
        let read = read_aliases("\n gpt-4 = gpt-4o \r\n\r\ngpt-3.5-turbo=gpt-4o-mini").unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read["gpt-4"], "gpt-4o");
    }

    #[test]
    fn invalid_alias_is_named_by_line() {
        for (text, line) in [
            ("gpt-4", "Line 1"),
            ("gpt-4 = gpt-4o\n= gpt-4", "Line 2"),
            ("gpt-4 = unheard-of", "Line 1"),
        ] {
            assert!(read_aliases(text).unwrap_err().starts_with(line), "{text}");
        }
    }

    #[test]
    fn fallback_lines_survive_reading_and_writing() {
        let text = "gpt-4o = eu/gpt-4o, llama-3\nm = n";
        let read = read_fallbacks(text).unwrap();
        assert_eq!(read["gpt-4o"], ["eu/gpt-4o", "llama-3"]);
        assert_eq!(fallback_lines(&read), text);
        for (text, line) in [
            ("gpt-4o", "Line 1"),
            ("a = b\nc = c", "Line 2"),
            ("a = b,,c", "Line 1"),
            ("a = b, b", "Line 1"),
            ("a b = c", "Line 1"),
        ] {
            let error = read_fallbacks(text).unwrap_err();
            assert!(error.starts_with(line), "{text}: {error}");
        }
    }
}
