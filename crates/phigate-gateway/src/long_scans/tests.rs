//! Order of service, by the order of starts and independent of the clock.

use std::sync::mpsc;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, poll};

use super::*;

const LONG: Duration = Duration::from_secs(3600);

fn queue(places: usize) -> Arc<LongScans> {
    LongScans::with_places(places, 100, LONG, Duration::ZERO)
}

/// A pending request for a place, with its account.
type Asking = (String, BoxFuture<'static, Result<ScanPlace, NoPlace>>);

/// Requests a place for each of these accounts, in order.
async fn ask(queue: &Arc<LongScans>, accounts: &str) -> Vec<Asking> {
    let mut asking = Vec::new();
    for account in accounts.split(' ') {
        let (queue, account) = (Arc::clone(queue), account.to_owned());
        let name = account.clone();
        let mut wait = async move { queue.enter(&name).await }.boxed();
        assert!(poll!(&mut wait).is_pending(), "{account} did not wait");
        asking.push((account, wait));
    }
    asking
}

/// The order of service if each scan ends before the next begins.
async fn order(mut asking: Vec<Asking>) -> String {
    let mut served = Vec::new();
    while !asking.is_empty() {
        let mut ready = None;
        for (number, (_, wait)) in asking.iter_mut().enumerate() {
            if let std::task::Poll::Ready(place) = poll!(wait) {
                assert!(ready.replace((number, place)).is_none(), "two at one place");
            }
        }
        let (number, place) = ready.expect("a place is free and nobody has it");
        served.push(asking.remove(number).0);
        drop(place.unwrap());
    }
    served.join(" ")
}

#[tokio::test]
async fn accounts_take_turns_regardless_of_arrival() {
    for (asked, expected) in [
        ("a a a a a a a a b", "b a a a a a a a a"),
        ("a a a b b c", "b c a b a a"),
        ("b c b c a", "b c a b c"),
        ("a a a", "a a a"),
    ] {
        let queue = queue(1);
        let working = queue.enter("a").await.unwrap();
        let asking = ask(&queue, asked).await;
        drop(working);
        assert_eq!(order(asking).await, expected, "{asked}");
        let state = queue.state();
        assert!(state.accounts.is_empty(), "something was kept");
        assert_eq!((state.free, state.begun), (1, 0));
    }
}

#[tokio::test]
async fn idle_account_is_served_first() {
    let queue = queue(2);
    let (one, _two) = (
        queue.enter("a").await.unwrap(),
        queue.enter("a").await.unwrap(),
    );
    let mut asking = ask(&queue, "a a a b").await;
    drop(one);
    let (account, wait) = asking.pop().unwrap();
    assert_eq!(account, "b");
    assert!(wait.now_or_never().unwrap().is_ok());
}

#[tokio::test]
async fn long_scan_pauses_for_another_account() {
    let queue = queue(1);
    let long = queue.enter("a").await.unwrap();
    let more = ask(&queue, "a a a").await;
    let mut other = ask(&queue, "b").await.remove(0).1;
    let (tell, told) = mpsc::channel();
    let scan = std::thread::spawn(move || {
        long.checkpoint();
        tell.send(()).unwrap();
        long.checkpoint();
        drop(long);
    });
    let place = (&mut other).await.unwrap();
    assert!(told.try_recv().is_err(), "it went on without a place");
    drop(place);
    told.recv().unwrap();
    scan.join().unwrap();
    assert_eq!(order(more).await, "a a a");
}

#[tokio::test]
async fn scan_with_fair_share_continues() {
    let queue = queue(2);
    let (one, other) = (
        queue.enter("a").await.unwrap(),
        queue.enter("b").await.unwrap(),
    );
    let _more = ask(&queue, "a b a b").await;
    // Both have their fair share; a switch would repeat forever.
    one.checkpoint();
    other.checkpoint();
    assert_eq!(queue.state().free, 0);
}

#[tokio::test]
async fn waiting_is_bounded_in_count_and_time() {
    let queue = LongScans::with_places(1, 2, Duration::from_millis(20), Duration::ZERO);
    let _working = queue.enter("a").await.unwrap();
    let waiting = ask(&queue, "a a").await;
    assert_eq!(queue.enter("a").await.unwrap_err(), NoPlace::QueueFull);
    assert_eq!(queue.enter("b").await.unwrap_err(), NoPlace::WaitedTooLong);
    drop(waiting);
    assert_eq!(
        queue.enter("a").await.unwrap_err(),
        NoPlace::WaitedTooLong,
        "those who left still count"
    );
}

#[tokio::test]
async fn place_of_a_dropped_waiter_is_regranted() {
    let queue = queue(1);
    let working = queue.enter("a").await.unwrap();
    let mut asking = ask(&queue, "b c").await;
    drop(working);
    // The place is granted to b, whose request is dropped before it takes the place.
    drop(asking.remove(0));
    assert_eq!(order(asking).await, "c");
    assert_eq!(queue.state().free, 1);
}

#[tokio::test]
async fn scans_in_progress_are_bounded() {
    let queue = queue(1);
    queue.state().begun = BEGUN_MAX;
    let _waiting = ask(&queue, "a").await;
    assert_eq!(queue.state().free, 1);
}
