//! The queue: its limits, its order, and the events that wake the writer.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use jiff::Timestamp;
use phigate_types::ErrorCode;
use uuid::Uuid;

use crate::StoreError;
use crate::item::Change;
use crate::rows::{Contents, RowKey};
use crate::writer::entry;
use crate::writer::job::{Entry, Job, Wait, Waiter};
use crate::writer::queue::{Bounds, Queue};

const ALL: Bounds = Bounds {
    jobs: usize::MAX,
    bytes: usize::MAX,
};

fn queue(jobs: usize, bytes: usize) -> Queue {
    Queue::new(Bounds { jobs, bytes })
}

/// An outcome; its number identifies the job.
fn entry(number: u128) -> Arc<Entry> {
    let (id, time) = (Uuid::from_u128(number), Timestamp::UNIX_EPOCH);
    let outcome = entry::ended(id, time, "clinic", None, ErrorCode::Interrupted);
    entry::outcome("a", &outcome)
}

fn job(number: u128) -> Job {
    Job::of(entry(number), Waiter::none())
}

fn awaited(number: u128) -> (Job, Wait) {
    let (waiter, wait) = Waiter::new(false);
    (Job::of(entry(number), waiter), wait)
}

/// A job that changes settings and is therefore committed alone.
fn alone(number: u128) -> Job {
    let account = "a".to_owned();
    Job {
        changes: vec![Change::Shred { account }],
        ..job(number)
    }
}

/// A job with sealed content: one mebibyte in all.
fn large(number: u128) -> Job {
    let outcome = entry::ended(
        Uuid::from_u128(number),
        Timestamp::UNIX_EPOCH,
        "clinic",
        None,
        ErrorCode::Interrupted,
    );
    let contents = Contents {
        original: Some(vec![0; (1 << 20) - job(number).bytes()].into()),
        sent: None,
    };
    let entry = entry::outcome_with("a", Uuid::now_v7(), &outcome, contents);
    Job::of(entry, Waiter::none())
}

fn numbers(jobs: &[Job]) -> Vec<u128> {
    let request = |job: &Job| job.entries[0].row.request.unwrap().as_u128();
    jobs.iter().map(request).collect()
}

fn take(queue: &Queue) -> Vec<u128> {
    numbers(&queue.take(ALL, |_| true))
}

fn is_full(queue: &Queue, number: u128) -> bool {
    match queue.push(job(number)) {
        Ok(()) => false,
        Err(refused) => matches!(refused.1, StoreError::Unavailable(_)),
    }
}

#[test]
fn full_queue_accepts_only_outcomes() {
    let few = queue(2, usize::MAX);
    assert!(!is_full(&few, 1) && !is_full(&few, 2) && is_full(&few, 3));
    few.push_always(job(4));
    assert!(!few.is_empty());
    assert_eq!((few.len(), take(&few)), (3, vec![1, 2, 4]));
    assert!(few.is_empty() && !is_full(&few, 5));
    let small = queue(usize::MAX, 1 << 20);
    assert!(!is_full(&small, 1) && !is_full(&small, 2));
    small.push_always(large(3));
    assert!(is_full(&small, 4));
    // Taking jobs frees capacity, and putting them back uses it again.
    let taken = small.take(ALL, |_| true);
    assert!(!is_full(&small, 5));
    small.put_back(taken);
    assert!(is_full(&small, 6));
}

#[test]
fn records_without_content_have_a_size() {
    let small = queue(usize::MAX, job(1).bytes());
    assert!(!is_full(&small, 1) && is_full(&small, 2));
}

#[test]
fn closed_queue_accepts_only_outcomes() {
    let queue = queue(9, 9_999);
    queue.close();
    let refused = queue.push(job(1)).err().unwrap().1;
    assert!(matches!(refused, StoreError::Closed));
    let waiting = queue.push_waiting(job(2)).now_or_never();
    assert!(matches!(waiting, Some(Err(StoreError::Closed))));
    queue.push_always(job(3));
    assert_eq!(take(&queue), [3]);
}

#[test]
fn jobs_are_taken_in_order_within_bounds() {
    let queue = queue(99, usize::MAX);
    for number in 1..=5 {
        queue.push_always(job(number));
    }
    let two = Bounds { jobs: 2, ..ALL };
    assert_eq!(numbers(&queue.take(two, |_| true)), [1, 2]);
    let bytes = job(1).bytes();
    let little = Bounds { bytes, ..ALL };
    assert_eq!(
        numbers(&queue.take(little, |_| true)),
        [3],
        "one always fits"
    );
    // A job that does not fit blocks the jobs behind it.
    let fits = |job: &Job| numbers(std::slice::from_ref(job)) != [5];
    let taken = queue.take(ALL, fits);
    assert_eq!((numbers(&taken), queue.len()), (vec![4], 1));
    queue.put_back(taken);
    assert_eq!(take(&queue), [4, 5]);
}

#[test]
fn settings_changes_and_deletions_are_exclusive() {
    let rows = || Some(("a".to_owned(), Vec::<RowKey>::new()));
    let deletes_contents = Job {
        drop_contents: rows(),
        ..job(4)
    };
    let deletes_records = Job {
        drop_records: rows(),
        ..job(6)
    };
    let queue = queue(99, usize::MAX);
    let others = [alone(3), deletes_contents, job(5), deletes_records, job(7)];
    for job in [job(1), job(2)].into_iter().chain(others) {
        queue.push_always(job);
    }
    let groups: Vec<Vec<u128>> = (0..6).map(|_| take(&queue)).collect();
    let expected = [vec![1, 2], vec![3], vec![4], vec![5], vec![6], vec![7]];
    assert_eq!(groups, expected);
}

#[test]
fn abandoned_job_is_not_taken() {
    let queue = queue(99, usize::MAX);
    let (given_up, wait) = awaited(1);
    let (kept, _wait) = awaited(2);
    let (later, later_wait) = awaited(4);
    for job in [given_up, kept, job(3), later] {
        queue.push_always(job);
    }
    assert!(wait.abandon());
    assert_eq!(
        numbers(&queue.take(Bounds { jobs: 1, ..ALL }, |_| true)),
        [2]
    );
    assert!(later_wait.abandon());
    queue.forget_abandoned();
    assert_eq!((queue.len(), take(&queue)), (1, vec![3]));
    assert!(!queue.is_urgent(), "nobody waits any more");
}

#[test]
fn awaited_or_large_queues_are_urgent() {
    let with = |jobs: Vec<Job>| {
        let queue = queue(usize::MAX, usize::MAX);
        jobs.into_iter().for_each(|job| queue.push_always(job));
        queue
    };
    let many = |many: u128| (0..many).map(job).collect();
    assert!(!with(many(255)).is_urgent());
    assert!(with(many(256)).is_urgent());
    assert!(!with(vec![large(1), large(2), large(3)]).is_urgent());
    assert!(with(vec![large(1), large(2), large(3), large(4)]).is_urgent());
    let (job, _wait) = awaited(1);
    let one = with(vec![job]);
    assert!(one.is_urgent());
    // Still urgent after it was put back.
    let taken = one.take(ALL, |_| true);
    assert!(!one.is_urgent());
    one.put_back(taken);
    assert!(one.is_urgent());
    let closed = with(Vec::new());
    closed.close();
    assert!(closed.is_urgent());
}

#[tokio::test(start_paused = true)]
async fn writer_wakes_at_the_wanted_count() {
    let queue = Arc::new(queue(999, usize::MAX));
    let wait = |queue: &Arc<Queue>, many: usize| {
        let queue = queue.clone();
        tokio::spawn(async move { queue.wait_for(many).await })
    };
    assert!(queue.wait().now_or_never().is_none(), "there is nothing");
    let waiting = wait(&queue, 3);
    for (number, is_enough) in [(1, false), (2, false), (3, true)] {
        queue.push_always(job(number));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(waiting.is_finished(), is_enough, "{number}");
    }
    assert!(queue.wait().now_or_never().is_some());
    let waiting = wait(&queue, 4);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(!waiting.is_finished());
    queue.close();
    waiting.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn writer_waits_for_urgency() {
    for (before, is_awaited) in [(3, true), (255, false)] {
        let queue = Arc::new(queue(999, usize::MAX));
        let waiting = {
            let queue = queue.clone();
            tokio::spawn(async move { queue.wait_for_urgency().await })
        };
        (0..before).for_each(|number| queue.push_always(job(number)));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(!waiting.is_finished());
        let (last, _wait) = awaited(255);
        queue.push_always(if is_awaited { last } else { job(255) });
        waiting.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_push_succeeds_after_a_drain() {
    let queue = Arc::new(queue(1, usize::MAX));
    type Free = fn(&Queue);
    let frees: [Free; 2] = [|queue| drop(take(queue)), Queue::forget_abandoned];
    for free in frees {
        let (full, wait) = awaited(1);
        queue.push_always(full);
        let pushing = {
            let queue = queue.clone();
            tokio::spawn(async move { queue.push_waiting(job(2)).await })
        };
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(!pushing.is_finished());
        assert!(wait.abandon());
        free(&queue);
        pushing.await.unwrap().unwrap();
        assert_eq!(take(&queue), [2]);
    }
    queue.push_always(job(1));
    let pushing = {
        let queue = queue.clone();
        tokio::spawn(async move { queue.push_waiting(job(2)).await })
    };
    tokio::time::sleep(Duration::from_millis(1)).await;
    queue.close();
    assert!(matches!(pushing.await.unwrap(), Err(StoreError::Closed)));
}
