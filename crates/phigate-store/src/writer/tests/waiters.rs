//! Waiting callers: results, and callers that gave up.

use crate::StoreError;
use crate::writer::job::Waiter;

#[test]
fn result_reaches_a_waiting_caller() {
    let (mut waiter, mut wait) = Waiter::new(false);
    assert!(!waiter.is_abandoned());
    assert!(waiter.settle(Err(StoreError::Timeout)), "somebody waited");
    assert!(!wait.abandon(), "too late");
    assert!(matches!(wait.settled(), Err(StoreError::Timeout)));
    let (mut waiter, mut wait) = Waiter::new(false);
    assert!(waiter.settle(Ok(())));
    assert!(wait.settled().is_ok());
}

#[test]
fn abandoned_waiter_gets_no_result() {
    for must in [false, true] {
        let (mut waiter, mut wait) = Waiter::new(must);
        assert!(wait.abandon());
        // A job that must be written is written even so.
        assert_eq!(waiter.is_abandoned(), !must);
        assert!(!waiter.settle(Ok(())), "nobody waited");
        drop(waiter);
        assert!(matches!(wait.settled(), Err(StoreError::Closed)));
    }
}

#[test]
fn unawaited_job_is_never_abandoned() {
    let mut waiter = Waiter::none();
    assert!(!waiter.is_abandoned());
    assert!(waiter.settle(Ok(())), "nobody is missed");
}
