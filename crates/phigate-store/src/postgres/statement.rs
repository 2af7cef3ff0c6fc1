//! Runs one statement of a batch and classifies its failure.

use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use crate::StoreError;
use crate::postgres::{Object, is_dead, unavailable};
use crate::store::CommitError;

/// The reason why a batch was not written on one connection.
pub(super) enum Failure {
    /// The connection was dead before anything was committed.
    Dead(StoreError),
    Refused(CommitError),
}

impl Failure {
    /// Rank among failures; the lowest says most about the cause.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Dead(_) => 0,
            Self::Refused(CommitError::Failed(_) | CommitError::Unknown(_)) => 2,
            Self::Refused(_) => 1,
        }
    }
}

impl From<Failure> for CommitError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Dead(error) => Self::Failed(error),
            Failure::Refused(error) => error,
        }
    }
}

/// Runs a statement, prepared once per connection.
pub(super) async fn run(
    client: &Object,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<u64, Failure> {
    let statement = client
        .prepare_cached(sql)
        .await
        .map_err(|error| failed(&error))?;
    client
        .execute(&statement, values)
        .await
        .map_err(|error| failed(&error))
}

/// Classifies a failed statement.
pub(super) fn failed(error: &tokio_postgres::Error) -> Failure {
    if is_dead(error) {
        return Failure::Dead(unavailable(error));
    }
    let table = error
        .as_db_error()
        .and_then(|inner| inner.table())
        .unwrap_or_default();
    let is_conflict = error.code() == Some(&SqlState::UNIQUE_VIOLATION);
    Failure::Refused(match (is_conflict, table) {
        (true, "item") => CommitError::Stale,
        (true, "audit_chain") => CommitError::LaneTaken,
        _ if is_refusal(error) => CommitError::Rejected(unavailable(error)),
        _ => CommitError::Failed(unavailable(error)),
    })
}

/// Whether the server refuses the values: data errors, violated constraints, limits.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    let class = error
        .code()
        .map(|code| code.code().get(..2).unwrap_or_default().to_owned());
    class.is_some_and(|class| ["22", "23", "42", "54"].contains(&class.as_str()))
}

pub(super) fn exactly_one(changed: u64) -> Result<(), Failure> {
    if changed == 1 {
        Ok(())
    } else {
        Err(Failure::Refused(CommitError::Stale))
    }
}
