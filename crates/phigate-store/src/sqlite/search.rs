//! Searching the trail.

use phigate_types::{Act, Action, ErrorCode, Mode};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::model::{Cursor, Filter, RecordKind};
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
    // The plus: of one request there are few records, and finding them by its id beats walking all by time.
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

/// How many records there are, counted no further than `most`.
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

/// What a search asks for, and the values it names.
struct Search {
    conditions: String,
    values: Vec<Value>,
}

impl Search {
    fn new(account: &str, filter: &Filter) -> Self {
        let mut search = Self {
            conditions: "account = ?1".to_owned(),
            values: vec![account.to_owned().into()],
        };
        for (condition, value) in conditions(filter) {
            search.add(condition, value);
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

/// A request's outcome is another record of it.
macro_rules! ended {
    ($condition:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM audit_record o WHERE o.account = audit_record.account
                AND o.request = audit_record.request AND o.kind = 2 AND ",
            $condition,
            ")"
        )
    };
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
    text(
        "instr(body, '\"provider\":\"' || ? || '\"') > 0",
        filter.provider.as_deref(),
    );
    text(
        "substr(model, 1, length(?)) = ?",
        filter.model_prefix.as_deref(),
    );
    text(
        ended!("json_extract(o.body, '$.error_code') = ?"),
        filter.error.map(ErrorCode::code),
    );
    text("act = ?", filter.act.map(Act::code));
    // To its end, or to the colon after the word that several share.
    text(
        "(instr(body, '\"actor\":\"' || ? || '\"') > 0 OR instr(body, '\"actor\":\"' || ? || ': ') > 0)",
        filter.actor_written().as_deref(),
    );
    conditions.extend(filter.status_class.map(|class| {
        (
            ended!("json_extract(o.body, '$.status') / 100 = ?"),
            i64::from(class).into(),
        )
    }));
    if filter.requests {
        conditions.push(("kind = ?", i64::from(RecordKind::Decision.code()).into()));
    }
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
