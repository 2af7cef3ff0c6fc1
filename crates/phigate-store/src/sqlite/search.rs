//! Searches the trail.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::conditions::{self, Dialect, ended, provider};
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
    let mut search = Search::new(account, filter);
    if let Some(Cursor { time_us, id }) = after {
        search.add("time <= ?", time_us.into());
        let place = format!("(time < {time_us} OR id < ?)");
        search.add(&place, id.as_bytes().to_vec().into());
    }
    // The plus makes SQLite use the index by request: a request has few records.
    let plus = if filter.request_id.is_some() { "+" } else { "" };
    let sql = format!(
        "{RECORD} WHERE {} ORDER BY {plus}time DESC, id DESC LIMIT {limit}",
        search.conditions
    );
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(search.values), read_record)?
        .collect()
}

/// The number of matching records, counted up to `most`.
pub(super) fn count(
    connection: &Connection,
    account: &str,
    filter: &Filter,
    most: i64,
) -> rusqlite::Result<i64> {
    let search = Search::new(account, filter);
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM audit_record WHERE {} LIMIT {most})",
        search.conditions
    );
    connection
        .prepare_cached(&sql)?
        .query_row(params_from_iter(search.values), |row| row.get(0))
}

/// SQL conditions of a search with their values.
struct Search {
    conditions: String,
    values: Vec<Value>,
}

impl Search {
    fn new(account: &str, filter: &Filter) -> Self {
        let mut search = Self {
            conditions: format!("account = ?1{}", conditions::kinds(filter)),
            values: vec![account.to_owned().into()],
        };
        for (condition, value) in conditions::conditions(filter, &DIALECT) {
            search.add(condition, stored(value));
        }
        search
    }

    fn add(&mut self, condition: &str, value: Value) {
        self.values.push(value);
        let place = format!("?{}", self.values.len());
        self.conditions.push_str(" AND ");
        self.conditions.push_str(&condition.replace('?', &place));
    }
}

/// SQLite's SQL for the conditions.
const DIALECT: Dialect = Dialect {
    has_type: "instr(types, ',' || ? || ',') > 0",
    at_door: "instr(body, '\"door\":\"' || ? || '\"') > 0",
    to_provider: provider!(
        "instr(body, '\"provider\":\"' || ? || '\"') > 0",
        "instr(o.body, '\"provider\":\"' || ? || '\"') > 0"
    ),
    by_person: "(instr(body, '\"actor\":\"' || ? || '\"') > 0 OR instr(body, '\"actor\":\"' || ? || ': ') > 0)",
    model_begins: "substr(model, 1, length(?)) = ?",
    ended_with_error: ended!("json_extract(o.body, '$.error_code') = ?"),
    ended_with_class: ended!("json_extract(o.body, '$.status') / 100 = ?"),
    has_phi: "(kind = 1 AND (types IS NOT NULL) = ?)",
};

fn stored(value: conditions::Value) -> Value {
    match value {
        conditions::Value::Text(text) => text.into(),
        conditions::Value::Time(microseconds) => microseconds.into(),
        conditions::Value::Class(class) => i64::from(class).into(),
        conditions::Value::Request(id) => id.as_bytes().to_vec().into(),
        conditions::Value::Truth(truth) => i64::from(truth).into(),
    }
}
