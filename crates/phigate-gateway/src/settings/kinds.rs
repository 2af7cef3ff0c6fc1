//! Kinds of PHI of an account: those of the table, and those that it defines.

use phi_detect::PhiKind;
use phigate_store::StoredRecognizer;

use crate::scanners::read_definition;

/// The kinds of an account. Kinds of the table come first, then those that the account defines, by code.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    own: Vec<(PhiKind, String)>,
}

impl Kinds {
    /// The kinds of an account with these recognizers. One that cannot be read keeps its code as its name.
    pub fn of(recognizers: &[StoredRecognizer]) -> Self {
        let named = |stored: &StoredRecognizer| {
            let kind = PhiKind::own(&stored.code)?;
            let label = read_definition(stored).map(|definition| definition.label);
            Some((kind, label.unwrap_or_else(|| stored.code.to_string())))
        };
        let mut own: Vec<_> = recognizers.iter().filter_map(named).collect();
        own.sort_unstable();
        Self { own }
    }

    /// Every kind with the name that people read.
    pub fn all(&self) -> impl Iterator<Item = (PhiKind, &str)> {
        let table = PhiKind::all().map(|kind| (kind, kind.label()));
        table.chain(self.own())
    }

    /// The kinds that the account defines.
    pub fn own(&self) -> impl Iterator<Item = (PhiKind, &str)> {
        self.own.iter().map(|(kind, label)| (*kind, label.as_str()))
    }

    /// The kind with this code.
    pub fn find(&self, code: &str) -> Option<PhiKind> {
        let mut all = self.all().map(|(kind, _)| kind);
        all.find(|kind| kind.code() == code)
    }
}
