//! Conditions of a filter on rows of the trail: one list, which each engine writes in its SQL.

use phigate_types::{Act, Action, ErrorCode, Mode};
use uuid::Uuid;

use crate::model::{Filter, RecordKind};

/// Operand of a condition.
pub(crate) enum Value {
    /// A text.
    Text(String),
    /// Microseconds.
    Time(i64),
    /// The hundred of a status.
    Class(u16),
    /// A request.
    Request(Uuid),
    /// Yes or no.
    Truth(bool),
}

/// Conditions that the engines write differently. A question mark is the placeholder of the value.
pub(crate) struct Dialect {
    /// The record's types contain this kind of PHI.
    pub(crate) has_type: &'static str,
    /// The record's body names this door. Read from the body, like the fields below: a column would cost every request
    /// an entry in the index for rare questions.
    pub(crate) at_door: &'static str,
    /// Decision for this provider, or with a further attempt at it.
    pub(crate) to_provider: &'static str,
    /// The record names this person: the whole actor, or its part before a colon that several people share.
    pub(crate) by_person: &'static str,
    /// The model's name begins with this text.
    pub(crate) model_begins: &'static str,
    /// The request ended with this error.
    pub(crate) ended_with_error: &'static str,
    /// The request ended with a status of this hundred.
    pub(crate) ended_with_class: &'static str,
    /// The record is a decision with PHI, or a decision without.
    pub(crate) has_phi: &'static str,
}

/// A condition on another record of the request, of this kind and called `o`.
macro_rules! other_record {
    ($kind:literal, $condition:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM audit_record o WHERE o.account = audit_record.account
                AND o.request = audit_record.request AND o.kind = ",
            $kind,
            " AND ",
            $condition,
            ")"
        )
    };
}

/// A condition on a request's outcome.
macro_rules! ended {
    ($condition:literal) => {
        $crate::conditions::other_record!(2, $condition)
    };
}

/// A condition on a request's provider: of its decision, or else of a further attempt.
macro_rules! provider {
    ($decision:literal, $attempt:literal) => {
        concat!(
            "(",
            $decision,
            " OR ",
            $crate::conditions::other_record!(4, $attempt),
            ")"
        )
    };
}
pub(crate) use {ended, other_record, provider};

/// The kinds of record that a filter chooses. They are written out, because an index that holds one kind is used only
/// by a search that says so.
pub(crate) fn kinds(filter: &Filter) -> String {
    let is_request = filter.requests.then_some(RecordKind::Decision);
    let is_act = filter.act.map(|_| RecordKind::Admin);
    let kinds = [filter.record, is_request, is_act].into_iter().flatten();
    kinds
        .map(|kind| format!(" AND kind = {}", kind.code()))
        .collect()
}

/// The other conditions of a filter, each with its operand.
pub(crate) fn conditions(filter: &Filter, sql: &Dialect) -> Vec<(&'static str, Value)> {
    let actor = filter.actor_written();
    let texts = [
        ("action = ?", filter.action.map(Action::code)),
        ("mode = ?", filter.mode.map(Mode::code)),
        ("key_id = ?", filter.key_id.as_deref()),
        ("model = ?", filter.model.as_deref()),
        ("act = ?", filter.act.map(Act::code)),
        (sql.has_type, filter.phi_type.as_deref()),
        (sql.at_door, filter.door.as_deref()),
        (sql.to_provider, filter.provider.as_deref()),
        (sql.by_person, actor.as_deref()),
        (sql.model_begins, filter.model_prefix.as_deref()),
        (sql.ended_with_error, filter.error.map(ErrorCode::code)),
    ];
    let texts =
        texts.map(|(condition, text)| (condition, text.map(|text| Value::Text(text.to_owned()))));
    let time = |time: jiff::Timestamp| Value::Time(time.as_microsecond());
    let others = [
        ("time >= ?", filter.since.map(time)),
        ("time < ?", filter.until.map(time)),
        ("request = ?", filter.request_id.map(Value::Request)),
        (sql.ended_with_class, filter.status_class.map(Value::Class)),
        (sql.has_phi, filter.phi_detected.map(Value::Truth)),
    ];
    let asked = |(condition, value): (&'static str, Option<Value>)| Some((condition, value?));
    texts.into_iter().chain(others).filter_map(asked).collect()
}
