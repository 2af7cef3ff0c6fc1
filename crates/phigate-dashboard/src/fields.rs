//! The fields of a form or of an address: names and values, as the browser sent them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Fields in order; a name may occur more than once.
#[derive(Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Makes the fields from pairs.
    pub(crate) fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// Makes the fields from pairs, as tests write them.
    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(pairs.iter().map(owned).collect())
    }

    /// The value of a field, trimmed; empty when there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.exact(name).trim()
    }

    /// Returns the value of a field as typed: for passwords and texts, in which spaces count.
    pub(crate) fn exact(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(field, _)| field == name)
            .map_or("", |(_, value)| value)
    }

    /// Every value of a field.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let found = self.0.iter().filter(move |(field, _)| field == name);
        found.map(|(_, value)| value.trim())
    }

    /// Every field with its value, trimmed.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter();
        pairs.map(|(name, value)| (name.as_str(), value.trim()))
    }

    /// Returns the value of a field that occurs once.
    pub(crate) fn only(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(field, _)| field == name);
        let value = found.next().map(|(_, value)| value.as_str());
        value.filter(|value| !value.is_empty() && found.next().is_none())
    }

    /// Whether a box was ticked.
    pub(crate) fn is_ticked(&self, name: &str) -> bool {
        self.get(name) == "yes"
    }

    /// All fields but these, to be sent once more.
    pub(crate) fn without(&self, names: &[&str]) -> Vec<(String, String)> {
        let kept = self.0.iter();
        let kept = kept.filter(|(field, _)| !names.contains(&field.as_str()));
        kept.cloned().collect()
    }

    /// The filled fields as the query of an address, without one of them and with another value for it.
    pub(crate) fn query_with(&self, name: &str, value: &str) -> String {
        let kept = self
            .0
            .iter()
            .map(|(field, value)| (field.as_str(), value.trim()))
            .filter(|(field, _)| *field != name);
        let pairs = kept
            .chain([(name, value)])
            .filter(|(_, value)| !value.is_empty());
        let encoded: Vec<String> = pairs
            .map(|(field, value)| format!("{}={}", encode(field), encode(value)))
            .collect();
        encoded.join("&")
    }
}

/// Characters to percent-encode in an address: all but letters, digits and the unreserved signs.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Percent-encodes everything that could mean something in an address.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

// Forms hold passwords and PHI: only names may be printed.
impl std::fmt::Debug for Fields {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_keeps_filled_fields_and_replaces_one() {
        let fields = Fields::of(&[
            ("type", "ssn"),
            ("model", ""),
            ("before", "1"),
            ("key", "a&b=c d"),
        ]);
        assert_eq!(
            fields.query_with("before", "2"),
            "type=ssn&key=a%26b%3Dc%20d&before=2"
        );
        assert_eq!(
            fields.query_with("before", ""),
            "type=ssn&key=a%26b%3Dc%20d"
        );
    }

    #[test]
    fn values_are_never_printed() {
        let fields = Fields::of(&[("password", "invented secret")]);
        assert_eq!(format!("{fields:?}"), "[\"password\"]");
    }
}
