//! A failing store: jobs that are retried, refused or looked up.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::StoreError;
use crate::item::Expect;
use crate::writer::tests::memory::ScriptedEnd;
use crate::writer::tests::{FIRST, LIMIT, SOON, Site, pass};

const SECOND: Duration = Duration::from_secs(1);
const CUT: ScriptedEnd = ScriptedEnd::Cut { is_written: false };

#[tokio::test(start_paused = true)]
async fn group_is_written_exactly_once() {
    // Fates of the commits; number of lookups by position.
    let table = [
        (vec![ScriptedEnd::NotAdded], 0),
        (vec![ScriptedEnd::Fails], 0),
        (vec![ScriptedEnd::Lost], 1),
        (vec![ScriptedEnd::Answerless], 1),
        (vec![ScriptedEnd::Lost, ScriptedEnd::Answerless], 2),
    ];
    for (ends, looked_up) in table {
        let site = Site::new().await;
        let process = site.start(false).await;
        site.memory.with(|state| state.ends = ends.into());
        let request = process.decided().await;
        assert_eq!(site.records(request).len(), 1);
        assert_eq!(site.memory.with(|state| state.looked_up), looked_up);
        // The chain continues correctly.
        process.decided().await;
        assert_eq!(site.lanes(&process), [1]);
        let records = site.memory.with(|state| state.rows.records.len());
        assert_eq!(records, FIRST + 2);
    }
}

#[tokio::test(start_paused = true)]
async fn retried_group_counts_as_one_commit() {
    let site = Site::new().await;
    let process = site.start(false).await;
    site.memory
        .with(|state| state.ends.push_back(ScriptedEnd::Fails));
    process.decided().await;
    assert_eq!(process.commits(), 1);
}

#[tokio::test(start_paused = true)]
async fn overtaken_lane_is_left() {
    let site = Site::new().await;
    let process = site.start(false).await;
    site.memory
        .with(|state| state.ends.push_back(ScriptedEnd::Overtaken));
    let requests = [process.decided().await, process.decided().await];
    let records = site.memory.with(|state| state.rows.records.clone());
    for request in requests {
        let its = records
            .iter()
            .filter(|new| new.row.request == Some(request));
        let lanes: Vec<i64> = its
            .filter(|new| new.link.digest != [1; 32])
            .map(|new| new.link.lane)
            .collect();
        assert_eq!(lanes, [2]);
    }
}

#[tokio::test(start_paused = true)]
async fn store_outage_fails_callers_and_keeps_outcomes() {
    let site = Site::new().await;
    let process = site.start(false).await;
    let request = process.decided().await;
    site.memory.with(|state| state.is_down = true);
    let (refused, task) = process.decide_within(SECOND);
    let told = task.await.unwrap();
    assert!(matches!(told, Err(StoreError::Unavailable(_))), "{told:?}");
    process.end_lazily(request);
    let lazily = process.decide_lazily().await;
    let outcome = process.answer(lazily);
    let told = process
        .trail
        .record_outcome(&process.account, &outcome, SECOND);
    assert!(matches!(told.await, Err(StoreError::Timeout)));
    pass(SECOND * 5).await;
    site.memory.with(|state| state.is_down = false);
    pass(SECOND * 2).await;
    assert_eq!(site.ends(request), [Some(200)]);
    assert_eq!(site.ends(lazily), [Some(200)]);
    assert!(site.records(refused).is_empty());
    process.decided().await;
    assert_eq!(site.lanes(&process), [1]);
}

#[tokio::test(start_paused = true)]
async fn jobs_abandoned_during_an_outage_are_dropped() {
    // Down from the beginning, or in the middle of a commit that may have been written.
    let written = ScriptedEnd::Cut { is_written: true };
    for end in [None, Some(CUT), Some(written)] {
        let site = Site::new().await;
        let process = site.start(false).await;
        process.decided().await;
        site.memory.with(|state| {
            state.is_down = end.is_none();
            state.ends.extend(end);
        });
        let kept = process.decide_lazily().await;
        pass(SOON).await;
        let given_up = process.decide_within(SOON);
        assert!(given_up.1.await.unwrap().is_err());
        pass(SECOND * 3).await;
        assert_eq!(process.core.writer.queue.len(), 0);
        site.memory.with(|state| state.is_down = false);
        pass(SECOND * 2).await;
        assert_eq!(site.ends(kept), []);
        assert!(site.records(given_up.0).is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn job_abandoned_between_attempts_is_dropped() {
    let site = Site::new().await;
    let process = site.start(false).await;
    process.decided().await;
    site.memory.with(|state| state.is_down = true);
    let (request, task) = process.decide_within(Duration::from_millis(10));
    pass(Duration::from_millis(20)).await;
    site.memory.with(|state| state.is_down = false);
    assert!(matches!(task.await.unwrap(), Err(StoreError::Timeout)));
    pass(SECOND).await;
    assert!(site.records(request).is_empty());
}

#[tokio::test(start_paused = true)]
async fn unwritable_jobs_are_dropped_at_shutdown() {
    for end in [None, Some(CUT)] {
        let site = Site::new().await;
        let process = site.start(false).await;
        process.decided().await;
        site.memory.with(|state| {
            state.is_down = end.is_none();
            state.ends.extend(end);
        });
        let request = process.decide_lazily().await;
        let writer = process.core.writer.clone();
        writer.queue.close();
        pass(SECOND * 5).await;
        assert!(!process.task.is_finished(), "it goes on trying");
        writer.give_up.store(true, Ordering::Release);
        tokio::time::timeout(SECOND * 3, process.task)
            .await
            .unwrap()
            .unwrap();
        assert!(site.records(request).is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_record_does_not_block_its_group() {
    let site = Site::new().await;
    let process = site.start(false).await;
    let tasks: Vec<_> = (0..5).map(|_| process.decide()).collect();
    let unwanted = tasks[2].0;
    site.memory.with(|state| state.unwanted = Some(unwanted));
    for (request, task) in tasks {
        let told = task.await.unwrap();
        assert_eq!(told.is_ok(), request != unwanted);
        assert_eq!(site.records(request).is_empty(), request == unwanted);
        if request == unwanted {
            assert!(matches!(told, Err(StoreError::Unavailable(_))), "told why");
        }
    }
    assert_eq!(site.lanes(&process), [1]);
}

#[tokio::test(start_paused = true)]
async fn stale_change_is_refused() {
    let site = Site::new().await;
    let process = site.start(false).await;
    process.change("a", Expect::Absent).await.unwrap().unwrap();
    let again = process.change("a", Expect::Absent).await.unwrap();
    assert!(matches!(again, Err(StoreError::Conflict(_))));
    process
        .change("a", Expect::Version(1))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn second_outcome_is_dropped_from_its_group() {
    let site = Site::new().await;
    let process = site.start(false).await;
    let ended = process.decided().await;
    process.end_lazily(ended);
    process.core.flush().await.unwrap();
    // In one group: the second outcome, the first outcome of another request, and a decision.
    let other = process.decided().await;
    process.end_lazily(ended);
    process.end_lazily(other);
    let decided = process.decided().await;
    assert_eq!(site.ends(ended), [Some(200)]);
    assert_eq!(site.ends(other), [Some(200)]);
    assert_eq!(site.ends(decided), []);
    let outcome = process.answer(ended);
    let told = process
        .trail
        .record_outcome(&process.account, &outcome, LIMIT);
    told.await.unwrap();
    assert_eq!(site.ends(ended), [Some(200)]);
    assert_eq!(site.lanes(&process), [1]);
}
