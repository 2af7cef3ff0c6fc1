//! Refused requests, counted by key and minute for the trail.
//!
//! A record for each would let an unauthenticated caller fill the store; no record at all would leave a gap in the
//! trail. So they are counted in memory, and each minute's count becomes one record.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use phigate_store::{AdminAct, Trail};
use phigate_types::{Act, ErrorCode};
use uuid::Uuid;

/// Counts kept at most between two writes. Keys that exist are few; this is the end of the worst case.
const COUNTS_MAX: usize = 10_000;

/// Subject of a count: key, as far as known, reason and minute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Subject {
    account_id: Option<String>,
    key_id: Option<String>,
    code: ErrorCode,
    minute: i64,
}

/// Number of refusals, with the first and last request id that callers received.
#[derive(Debug, Clone, Copy)]
struct Count {
    number: u64,
    first: Uuid,
    last: Uuid,
}

/// The counts that are not recorded yet.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<HashMap<Subject, Count>>);

/// A caller that was refused.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Refused<'a> {
    pub(crate) account_id: Option<&'a str>,
    pub(crate) key_id: Option<&'a str>,
    /// Address of the client, if its key was refused.
    pub(crate) client: Option<IpAddr>,
}

impl Refusals {
    /// Counts a request.
    pub(crate) fn count(
        &self,
        who: Refused<'_>,
        code: ErrorCode,
        request_id: Uuid,
        now: Timestamp,
    ) {
        let subject = Subject {
            account_id: who.account_id.map(str::to_owned),
            key_id: who.key_id.map(str::to_owned),
            code,
            minute: minute(now),
        };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= COUNTS_MAX && !counts.contains_key(&subject) {
            return;
        }
        let fresh = Count {
            number: 0,
            first: request_id,
            last: request_id,
        };
        let count = counts.entry(subject).or_insert(fresh);
        count.number += 1;
        count.last = request_id;
    }

    /// Takes the counts of minutes that are over, or all of them.
    fn take(&self, before: Option<Timestamp>) -> Vec<(Subject, Count)> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |subject: &Subject| before.is_none_or(|now| subject.minute < minute(now));
        counts.extract_if(|subject, _| is_over(subject)).collect()
    }

    /// Records the counts by key and minute: of minutes that are over, or all when the gateway stops.
    pub(crate) async fn record(&self, trail: &Trail, is_stopping: bool) {
        let before = (!is_stopping).then(Timestamp::now);
        let mut is_failing = false;
        for (subject, count) in self.take(before) {
            if !is_failing {
                let act = act(&subject, count);
                let account = subject.account_id.as_deref();
                match trail.record_admin(account, &act).await {
                    Ok(()) => continue,
                    Err(error) => tracing::warn!("refused requests are recorded later: {error}"),
                }
            }
            is_failing = true;
            self.put_back(subject, count);
        }
    }

    /// Puts a count back that could not be recorded.
    fn put_back(&self, subject: Subject, count: Count) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = counts
            .entry(subject)
            .or_insert(Count { number: 0, ..count });
        kept.number += count.number;
        kept.first = count.first;
    }
}

fn act(subject: &Subject, count: Count) -> AdminAct {
    let start = Timestamp::from_second(subject.minute * 60).unwrap_or_default();
    let mut act = AdminAct::new(Timestamp::now(), "", "caller", Act::RequestsRefused)
        .detail("count", &count.number)
        .detail("error_code", subject.code.code())
        .detail("minute", &start.strftime("%Y-%m-%dT%H:%MZ"))
        .detail("first_request", &count.first)
        .detail("last_request", &count.last);
    act.target.clone_from(&subject.key_id);
    act
}

fn minute(time: Timestamp) -> i64 {
    time.as_second().div_euclid(60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use phigate_store::{Filter, Record};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn refusals_are_counted_per_key_reason_minute() {
        let refusals = Refusals::default();
        let who = Refused {
            account_id: Some("a"),
            key_id: Some("k"),
            client: None,
        };
        let limited = ErrorCode::RateLimitExceeded;
        for second in [0, 59, 60] {
            refusals.count(who, limited, Uuid::nil(), at(second));
        }
        refusals.count(who, ErrorCode::InvalidApiKey, Uuid::nil(), at(1));
        refusals.count(Refused::default(), limited, Uuid::nil(), at(1));
        assert!(refusals.take(Some(at(59))).is_empty(), "the minute goes on");
        let mut over: Vec<u64> = refusals
            .take(Some(at(60)))
            .iter()
            .map(|(_, count)| count.number)
            .collect();
        over.sort_unstable();
        assert_eq!(over, [1, 1, 2]);
        assert_eq!(
            refusals.take(None).len(),
            1,
            "the rest, when the gateway stops"
        );
    }

    #[tokio::test]
    async fn refusals_of_minute_make_one_record() {
        let (gateway, _folder) = testing::gateway().await;
        let account = testing::account(&gateway, "default").await;
        let who = Refused {
            account_id: Some(&account.id),
            key_id: Some("abcdefghijkl"),
            client: None,
        };
        for _ in 0..3 {
            let id = Uuid::now_v7();
            gateway
                .refusals
                .count(who, ErrorCode::RateLimitExceeded, id, Timestamp::now());
        }
        gateway.record_refusals(true).await;
        gateway.record_refusals(true).await;
        let filter = Filter {
            act: Some(Act::RequestsRefused),
            ..Filter::default()
        };
        let trail = &gateway.vault.trail;
        let found = trail
            .audit_list(&account.id, &filter, None, 10)
            .await
            .unwrap();
        let [Record::Admin(act)] = found.items.as_slice() else {
            panic!("one record: {found:?}");
        };
        assert_eq!(act.target.as_deref(), Some("abcdefghijkl"));
        assert_eq!(act.details["count"], "3");
        assert_eq!(act.details["error_code"], "rate_limit_exceeded");
    }
}
