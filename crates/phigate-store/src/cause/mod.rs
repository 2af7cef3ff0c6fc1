//! Alerts before they are raised: their causes, their records, and the items that remember them.

mod acts;

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use phigate_types::AlertCode;
use uuid::Uuid;

use crate::item::{Change, Expect, Item, ItemKind};
use crate::model::{AdminAct, Alert, AlertState};
use crate::store::Store;

pub(crate) use acts::EMERGENCY;

/// An alert to raise, without its time and account.
#[derive(Debug, Clone)]
pub struct NewAlert<'a> {
    /// The cause.
    pub alert: AlertCode,
    /// The part of the account that it concerns; never content.
    pub subject: Cow<'a, str>,
    /// The requests that it concerns.
    pub requests: &'a [Uuid],
    /// Further details, such as counts.
    pub details: Vec<(&'static str, String)>,
}

impl<'a> NewAlert<'a> {
    /// An alert without details.
    pub fn new(alert: AlertCode, subject: impl Into<Cow<'a, str>>) -> Self {
        Self {
            alert,
            subject: subject.into(),
            requests: &[],
            details: Vec::new(),
        }
    }

    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, name: &'static str, value: &(impl ToString + ?Sized)) -> Self {
        self.details.push((name, value.to_string()));
        self
    }

    /// The alert as it is recorded.
    pub(crate) fn recorded(&self, time: Timestamp, account: &str) -> Alert {
        let alert = Alert::new(time, account, self.alert);
        let alert = alert.subject(&self.subject).requests(self.requests);
        let add = |alert: Alert, (name, value): &(&'static str, String)| alert.detail(name, value);
        self.details.iter().fold(alert, add)
    }
}

/// The alert that an act causes, unless the same one was raised today: its record, and the change that remembers it. Two
/// processes that write at the same moment may both raise it.
pub(crate) async fn caused(
    store: &dyn Store,
    account_id: &str,
    act: &AdminAct,
) -> Option<(Alert, Change)> {
    let new = acts::of_act(act)?;
    let alert = new.recorded(act.time, &act.account);
    let id = item_id(new.alert, &new.subject);
    // If this cannot be read, the act cannot be written either.
    let known = store.item(account_id, ItemKind::Alert, &id).await;
    let before: Option<AlertState> = known.ok().flatten().and_then(|item| item.read().ok());
    let is_known = before.is_some_and(|before| day(before.alert.time) == day(alert.time));
    let change = remembered(account_id, &alert);
    (!is_known).then_some((alert, change))
}

/// The change that remembers an alert which is recorded in another way.
pub(crate) fn remembered(account_id: &str, alert: &Alert) -> Change {
    let subject = alert.subject.as_deref().unwrap_or_default();
    let id = item_id(alert.alert, subject);
    let state = AlertState {
        alert: alert.clone(),
        acknowledged: None,
    };
    let item = Item::new(account_id, ItemKind::Alert, &id, None, &state);
    Change::Put(item, Expect::Any)
}

/// The name of the item that remembers the alerts of a cause and subject.
pub(crate) fn item_id(code: AlertCode, subject: &str) -> String {
    format!("{}:{subject}", code.code())
}

/// The day of an alert: the same one is raised once on it.
pub(crate) fn day(time: Timestamp) -> jiff::civil::Date {
    time.to_zoned(TimeZone::UTC).date()
}
