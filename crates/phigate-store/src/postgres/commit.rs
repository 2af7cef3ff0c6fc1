//! The end of a transaction: `COMMIT`, preceded by a check of what it builds on and followed by a check of its standbys.

use futures_util::future::join3;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use crate::StoreError;
use crate::postgres::{BUSY, Object, is_dead, standbys, unavailable};
use crate::rows::ChainEnd;
use crate::store::CommitError;

/// Fails if one of these ends is missing: the text is not a number, and is only read if there is a row.
const EXTENDS: &str = "SELECT ('missing: ' || count(*))::integer
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[]) AS e (account, lane, seq, digest)
    WHERE e.digest IS DISTINCT FROM (SELECT c.digest FROM audit_chain c
        WHERE c.account = e.account AND c.lane = e.lane AND c.seq = e.seq)
    HAVING count(*) > 0";

/// The error of [`EXTENDS`] about a missing end.
const MISSING: SqlState = SqlState::INVALID_TEXT_REPRESENTATION;

/// Commits the transaction of a connection. `loaded` is the time of the last change of the server's settings, as seen
/// when the transaction began.
pub(super) async fn commit(
    client: &Object,
    extends: &[ChainEnd],
    loaded: &str,
    wanted: u32,
) -> Result<(), CommitError> {
    let failed = |error: Error| CommitError::Failed(unavailable(&error));
    // Prepared first, so that the statements below leave together and in order.
    let checks = !extends.is_empty();
    let check = client.prepare_cached(EXTENDS).await.map_err(failed)?;
    let look = match wanted {
        0 => None,
        _ => Some(
            client
                .prepare_cached(standbys::LOOK)
                .await
                .map_err(failed)?,
        ),
    };
    let (accounts, lanes, seqs, digests) = columns(extends);
    let values: [&(dyn ToSql + Sync); 4] = [&accounts, &lanes, &seqs, &digests];
    let warnings = client.warnings();
    let (checked, committed, looked) = join3(
        async {
            match checks {
                true => client.execute(&check, &values).await.map(drop),
                false => Ok(()),
            }
        },
        client.batch_execute("COMMIT"),
        async {
            match &look {
                Some(look) => client.query_one(look, &[]).await.map(Some),
                None => Ok(None),
            }
        },
    )
    .await;
    // After a failed check the server answers `COMMIT` with a rollback, and reports no error.
    checked.map_err(|error| judge_check(&error))?;
    committed.map_err(|error| judge_commit(&error))?;
    let looked = looked.map_err(|error| CommitError::Unknown(unavailable(&error)))?;
    let Some(row) = looked else { return Ok(()) };
    if client.warnings() != warnings || standbys::confirmations(row.get(1)) < wanted {
        return Err(CommitError::Unconfirmed(StoreError::Unconfirmed));
    }
    if row.get::<_, &str>(0) == loaded {
        return Ok(());
    }
    // The settings changed meanwhile, perhaps to ones that ended the wait.
    let confirmed = standbys::confirm(client, wanted).await;
    confirmed.map_err(CommitError::Unconfirmed)
}

fn judge_check(error: &Error) -> CommitError {
    match error.code() {
        Some(code) if *code == MISSING => CommitError::RolledBack,
        _ if is_dead(error) => CommitError::Unknown(unavailable(error)),
        _ => CommitError::Failed(unavailable(error)),
    }
}

fn judge_commit(error: &Error) -> CommitError {
    let fault = unavailable(error);
    match error.code() {
        // The server said that it was rolled back.
        Some(code) if BUSY.contains(code) => CommitError::Failed(fault),
        // The server may have committed, or may yet do so.
        _ => CommitError::Unknown(fault),
    }
}

/// Accounts, lanes, places and digests.
type Columns<'a> = (Vec<&'a str>, Vec<i64>, Vec<i64>, Vec<&'a [u8]>);

/// The ends as one array per column.
pub(super) fn columns(ends: &[ChainEnd]) -> Columns<'_> {
    let accounts = ends.iter().map(|end| end.account.as_str()).collect();
    let lanes = ends.iter().map(|end| end.lane).collect();
    let seqs = ends.iter().map(|end| end.seq).collect();
    let digests = ends.iter().map(|end| end.digest.as_slice()).collect();
    (accounts, lanes, seqs, digests)
}
