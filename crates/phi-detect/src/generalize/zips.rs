//! The table of ZIP codes by their first three digits.

/// The table in use.
pub static ZIP_TABLE: ZipTable = ZipTable(include_str!("zips.txt"));

/// First three digits of ZIP codes that are kept. Every other prefix is written as 000.
pub struct ZipTable(&'static str);

impl ZipTable {
    /// Whether a prefix is kept.
    pub fn lists(&self, prefix: &str) -> bool {
        self.prefixes().any(|one| one == prefix)
    }

    /// Returns the number of prefixes that are kept.
    pub fn count(&self) -> usize {
        self.prefixes().count()
    }

    /// Returns the origin of the table, with its dates.
    pub fn source(&self) -> &'static str {
        let mut lines = self
            .0
            .lines()
            .filter_map(|line| line.strip_prefix("# Source: "));
        lines.next_back().unwrap_or_default()
    }

    /// Returns the table as it is stored, for its hash.
    pub fn text(&self) -> &'static str {
        self.0
    }

    fn prefixes(&self) -> impl Iterator<Item = &'static str> {
        let lines = self.0.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_ascii_whitespace)
    }
}
