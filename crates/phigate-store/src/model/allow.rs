//! Values that an account does not count as PHI.

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::cmac;
use jiff::Timestamp;
use serde::Serialize;
use smol_str::SmolStr;

use crate::codes::short_code;

/// Allowed values, by keyed codes alone.
#[derive(Clone, Default)]
pub struct AllowedValues(Option<Arc<Codes>>);

struct Codes {
    key: cmac::Key,
    entries: HashMap<[u8; 16], SmolStr>,
}

/// Shows the number of values.
impl std::fmt::Debug for AllowedValues {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.0.as_ref().map_or(0, |codes| codes.entries.len());
        write!(out, "AllowedValues({count})")
    }
}

/// Compares the entries. An entry's value never changes.
impl PartialEq for AllowedValues {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one.entries == other.entries,
            _ => false,
        }
    }
}

impl AllowedValues {
    /// The values with these codes, by the ids of their entries.
    pub(crate) fn new(
        key: impl FnOnce() -> cmac::Key,
        entries: impl Iterator<Item = ([u8; 16], SmolStr)>,
    ) -> Self {
        let entries: HashMap<_, _> = entries.collect();
        let codes = (!entries.is_empty()).then(|| Codes {
            key: key(),
            entries,
        });
        Self(codes.map(Arc::new))
    }

    /// Whether no value is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Id of the entry for a value of a kind.
    pub fn entry(&self, kind: &str, value: &str) -> Option<SmolStr> {
        let codes = self.0.as_ref()?;
        let code = short_code(&codes.key, &[kind, value]);
        codes.entries.get(&code).cloned()
    }
}

/// An entry of an allow list, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AllowInfo {
    /// Id of the entry.
    pub id: SmolStr,
    /// Code of the kind.
    pub kind: SmolStr,
    /// Reason of the actor who added it.
    pub reason: String,
    /// Number of values that it let through.
    pub hits: u64,
    /// Time of last use, accurate to about ten seconds.
    pub last_used: Option<Timestamp>,
    /// Time of addition.
    pub added: Timestamp,
    /// The actor who added it.
    pub added_by: String,
}
