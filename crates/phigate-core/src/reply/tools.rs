//! Tools that get the values back in their arguments.

/// Longest pattern; providers take names of 64 characters.
const PATTERN_BYTES_MAX: usize = 128;

/// Names of tools, with `*` for any characters. None at all means every tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames {
    patterns: Vec<String>,
}

impl ToolNames {
    /// The tools of these names.
    pub fn new(patterns: impl IntoIterator<Item = String>) -> Self {
        Self {
            patterns: patterns.into_iter().collect(),
        }
    }

    /// Whether a text can be one of them.
    pub fn is_pattern(text: &str) -> bool {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.*:/".contains(&byte);
        (1..=PATTERN_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_known)
    }

    /// Whether a tool is among them.
    pub fn contains(&self, name: &str) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| fits(pattern, name))
    }
}

/// Whether a name fits a pattern: its pieces between the stars follow one another in the name.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(head) else {
        return false;
    };
    let Some((middle, tail)) = rest.rsplit_once('*') else {
        return left.ends_with(rest);
    };
    for piece in middle.split('*') {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    left.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, name, expected) in [
            ("note", "note", true),
            ("note", "notes", false),
            ("send_*", "send_letter", true),
            ("send_*", "resend_letter", false),
            ("*_letter", "send_letter", true),
            ("*", "", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("a*a", "a", false),
            ("a**a", "aa", true),
            ("a*b*a", "aba", true),
            ("a*b*ba", "aba", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
        assert!(ToolNames::default().contains("anything"));
        assert!(!ToolNames::new(["a".to_owned()]).contains("b"));
    }
}
