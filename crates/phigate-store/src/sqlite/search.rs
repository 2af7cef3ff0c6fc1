//! Searching the trail.

use phigate_types::{Act, Action, Mode};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::model::{Cursor, Filter};
use crate::rows::AuditRow;
use crate::sqlite::read::{RECORD, read_record};

pub(super) fn list(
    connection: &Connection,
    account: &str,
    filter: &Filter,
    after: Option<Cursor>,
    limit: i64,
) -> rusqlite::Result<Vec<AuditRow>> {
    let mut sql = format!("{RECORD} WHERE account = ?1");
    let mut values: Vec<Value> = vec![account.to_owned().into()];
    let mut add = |condition: &str, value: Value| {
        values.push(value);
        sql.push_str(" AND ");
        sql.push_str(&condition.replace('?', &format!("?{}", values.len())));
    };
    for (condition, value) in conditions(filter) {
        add(condition, value);
    }
    if let Some(Cursor { time_us, id }) = after {
        add("time <= ?", time_us.into());
        let place = format!("(time < {time_us} OR id < ?)");
        add(&place, id.as_bytes().to_vec().into());
    }
    // The plus: of one request there are few records, and finding them by its id beats walking all by time.
    let plus = if filter.request_id.is_some() { "+" } else { "" };
    sql.push_str(&format!(" ORDER BY {plus}time DESC, id DESC LIMIT {limit}"));
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), read_record)?
        .collect()
}

fn conditions(filter: &Filter) -> Vec<(&'static str, Value)> {
    let mut conditions: Vec<(&'static str, Value)> = Vec::new();
    let mut text = |condition, value: Option<&str>| {
        conditions.extend(value.map(|value| (condition, Value::from(value.to_owned()))));
    };
    text("action = ?", filter.action.map(Action::code));
    text("mode = ?", filter.mode.map(Mode::code));
    text("key_id = ?", filter.key_id.as_deref());
    text("model = ?", filter.model.as_deref());
    text(
        "instr(types, ',' || ? || ',') > 0",
        filter.phi_type.as_deref(),
    );
    // Its own column would cost every request an entry in the index, and hardly anybody asks.
    text(
        "instr(body, '\"door\":\"' || ? || '\"') > 0",
        filter.door.as_deref(),
    );
    text("act = ?", filter.act.map(Act::code));
    conditions.extend(
        filter
            .since
            .map(|time| ("time >= ?", time.as_microsecond().into())),
    );
    conditions.extend(
        filter
            .until
            .map(|time| ("time < ?", time.as_microsecond().into())),
    );
    conditions.extend(
        filter
            .record
            .map(|kind| ("kind = ?", i64::from(kind.code()).into())),
    );
    conditions.extend(
        filter
            .request_id
            .map(|id| ("request = ?", id.as_bytes().to_vec().into())),
    );
    conditions.extend(filter.phi_detected.map(|phi| {
        (
            "(kind = 1 AND (types IS NOT NULL) = ?)",
            i64::from(phi).into(),
        )
    }));
    conditions
}
