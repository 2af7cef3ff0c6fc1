//! Migrations of both engines: added, never edited, checked by their digest.

use phigate_verify::chain::digest;
use phigate_verify::chain::hex;

use crate::{Result, StoreError};

/// One step of a schema.
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) sql: &'static str,
}

impl Migration {
    /// Recognises the text of a step.
    pub(crate) fn checksum(&self) -> String {
        hex(&digest(b"phigate migration", &[self.sql.as_bytes()])[..16])
    }
}

/// The steps still to be taken, given those taken: version and checksum.
pub(crate) fn pending<'a>(
    known: &'a [Migration],
    applied: &[(i64, String)],
) -> Result<Vec<&'a Migration>> {
    let newest = known.iter().map(|step| step.version).max().unwrap_or(0);
    for (version, checksum) in applied {
        if *version > newest {
            return Err(StoreError::NewerSchema {
                found: *version,
                known: newest,
            });
        }
        let changed = known
            .iter()
            .any(|step| step.version == *version && step.checksum() != *checksum);
        if changed {
            return Err(StoreError::ChangedMigration(*version));
        }
    }
    Ok(known
        .iter()
        .filter(|step| applied.iter().all(|(version, _)| *version != step.version))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Migration] = &[
        Migration {
            version: 1,
            sql: "a",
        },
        Migration {
            version: 2,
            sql: "b",
        },
    ];

    #[test]
    fn only_missing_steps_are_pending() {
        let applied = [(1, KNOWN[0].checksum())];
        let pending = pending(KNOWN, &applied).unwrap();
        assert_eq!(
            pending.iter().map(|step| step.version).collect::<Vec<_>>(),
            [2]
        );
    }

    #[test]
    fn newer_and_edited_schemas_are_refused() {
        assert!(matches!(
            pending(KNOWN, &[(3, String::new())]),
            Err(StoreError::NewerSchema { found: 3, known: 2 })
        ));
        assert!(matches!(
            pending(KNOWN, &[(1, "other".to_owned())]),
            Err(StoreError::ChangedMigration(1))
        ));
    }
}
