//! Standbys that must confirm each commit: how many the server waits for, and how many there are.
//!
//! PostgreSQL waits for them on its own, but gives up silently: a cancelled wait is a warning, and a setting that no
//! longer names standbys ends every wait without a word. So each commit is checked afterwards.

use tokio_postgres::{Client, Row};

use crate::postgres::{Object, unavailable};
use crate::{Result, StoreError};

/// Columns with the state of a server: whether it is a standby itself, its `synchronous_standby_names`, whether this role
/// may see its standbys, and the number of those that confirm commits now.
pub(super) const STATE: &str = "pg_is_in_recovery(), current_setting('synchronous_standby_names'),
     pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'),
     (SELECT count(*) FROM pg_stat_get_wal_senders() WHERE sync_state IN ('sync', 'quorum'))";

/// Reports how commits on this connection have been confirmed since its transaction began: time of the last change of the
/// settings, and the standbys they name.
pub(super) const LOOK: &str =
    "SELECT pg_conf_load_time()::text, current_setting('synchronous_standby_names')";

/// A write that leaves no row, so that its commit is waited for.
pub(super) const MARK: &str = "SELECT pg_logical_emit_message(true, 'phigate', '')";

const MAY_NOT_SEE: &str = "store.standbys is set, but this role may not see the standbys of PostgreSQL; run as a \
    superuser: GRANT pg_monitor TO the role of the database address";

/// Checks the server of a connection.
pub(super) async fn check(client: &Client, wanted: u32) -> Result<()> {
    let row = client.query_one(&format!("SELECT {STATE}"), &[]).await;
    judge(&row.map_err(|error| unavailable(&error))?, 0, wanted)
}

/// Refuses a role that cannot see the standbys.
pub(super) async fn must_see(client: &Client) -> Result<()> {
    let sql = "SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')";
    let row = client.query_one(sql, &[]).await;
    match row.map_err(|error| unavailable(&error))?.get(0) {
        true => Ok(()),
        false => Err(StoreError::Standbys(MAY_NOT_SEE.to_owned())),
    }
}

/// Judges the columns of [`STATE`], which begin at `first`.
pub(super) fn judge(row: &Row, first: usize, wanted: u32) -> Result<()> {
    if row.get::<_, bool>(first) {
        let what = "the PostgreSQL server at this address is a standby, which cannot be written";
        return Err(StoreError::Unavailable(what.to_owned()));
    }
    if wanted == 0 {
        return Ok(());
    }
    let (may_see, present): (bool, i64) = (row.get(first + 2), row.get(first + 3));
    if !may_see {
        return Err(StoreError::Standbys(MAY_NOT_SEE.to_owned()));
    }
    let named = confirmations(row.get(first + 1));
    if named < wanted {
        return Err(StoreError::Standbys(format!(
            "store.standbys is {wanted}, but synchronous_standby_names of PostgreSQL waits for {named}; \
             set it to ANY {wanted} (*) or more, or lower store.standbys"
        )));
    }
    if present < i64::from(wanted) {
        return Err(StoreError::Standbys(format!(
            "store.standbys is {wanted}, but {present} synchronous standbys are connected to PostgreSQL; start the others"
        )));
    }
    Ok(())
}

/// Number of standbys that a commit waits for under this value of `synchronous_standby_names`.
pub(super) fn confirmations(names: &str) -> u32 {
    let names = names.trim();
    let (before, is_counted) = match names.split_once('(') {
        Some((before, _)) => (before.trim(), true),
        None => (names, false),
    };
    if !is_counted {
        return u32::from(!names.is_empty());
    }
    let count = before.split_whitespace().next_back().unwrap_or_default();
    count.parse().unwrap_or(0)
}

/// Writes something and waits until the standbys have it, and thereby everything before it.
pub(super) async fn confirm(client: &Object, wanted: u32) -> Result<()> {
    let fault = |error: tokio_postgres::Error| unavailable(&error);
    let look = client.prepare_cached(LOOK).await.map_err(fault)?;
    let before = client.query_one(&look, &[]).await.map_err(fault)?;
    let warnings = client.warnings();
    let marked = client.batch_execute(MARK).await;
    let after = client.query_one(&look, &[]).await.map_err(fault)?;
    marked.map_err(fault)?;
    let is_same = before.get::<_, &str>(0) == after.get::<_, &str>(0);
    let suffices = confirmations(after.get(1)) >= wanted;
    match is_same && suffices && client.warnings() == warnings {
        true => Ok(()),
        false => Err(StoreError::Unconfirmed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirmations_follow_the_setting() {
        let rows = [
            // Value of synchronous_standby_names, standbys that a commit waits for.
            ("", 0),
            ("  ", 0),
            ("*", 1),
            ("s1", 1),
            ("s1, s2", 1),
            ("\"first 3\"", 1),
            ("2 (s1, s2, s3)", 2),
            ("FIRST 2 (s1, s2)", 2),
            ("first 1 (*)", 1),
            ("ANY 3 (s1, s2, s3, s4)", 3),
            ("ANY 2(s1,s2)", 2),
        ];
        for (names, expected) in rows {
            assert_eq!(confirmations(names), expected, "{names}");
        }
    }
}
