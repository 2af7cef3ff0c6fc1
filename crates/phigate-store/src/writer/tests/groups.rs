//! Groups: jobs that share a transaction, are filled ahead, or are committed alone.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::StoreError;
use crate::item::Expect;
use crate::writer::tests::memory::ScriptedEnd;
use crate::writer::tests::{LIMIT, SOON, Site, all_ok, pass};

const COMMIT: Duration = Duration::from_millis(50);

#[tokio::test(start_paused = true)]
async fn transactions_are_shared_and_bounded() {
    let site = Site::new().await;
    let process = site.start(false).await;
    for _ in 0..600 {
        process.decide_lazily().await;
    }
    process.core.flush().await.unwrap();
    assert_eq!(site.groups(), [512, 88]);
    assert_eq!(process.commits(), 2);
    assert_eq!(site.lanes(&process), [1]);
    // A flush without jobs does not commit.
    process.core.flush().await.unwrap();
    assert_eq!(process.commits(), 2);
}

#[tokio::test(start_paused = true)]
async fn unawaited_records_are_delayed_and_grouped() {
    // First jobs; delay in milliseconds; later jobs; whether those are awaited; resulting groups.
    let table: [(usize, u64, usize, bool, &[usize]); 5] = [
        (1, 3, 1, false, &[2]),
        (1, 3, 1, true, &[2]),
        (7, 10, 3, false, &[7, 3]),
        (8, 10, 3, false, &[11]),
        (8, 30, 3, false, &[8, 3]),
    ];
    for (first, milliseconds, second, is_awaited, groups) in table {
        let site = Site::new().await;
        let process = site.start(false).await;
        for _ in 0..first {
            process.decide_lazily().await;
        }
        pass(Duration::from_millis(milliseconds)).await;
        for _ in 0..second {
            match is_awaited {
                true => drop(process.decided().await),
                false => drop(process.decide_lazily().await),
            }
        }
        pass(SOON).await;
        assert_eq!(site.groups(), groups, "{first}, {second}");
    }
}

#[tokio::test(start_paused = true)]
async fn next_group_is_filled_during_a_commit() {
    for overlaps in [true, false] {
        let site = Site::new().await;
        site.memory.with(|state| state.takes = COMMIT);
        site.memory.with(|state| state.overlaps = overlaps);
        let process = site.start(false).await;
        let mut tasks = Vec::new();
        for _ in 0..3 {
            tasks.extend((0..20).map(|_| process.decide()));
            pass(COMMIT / 2).await;
        }
        let requests = all_ok(tasks).await;
        let open = site.memory.with(|state| state.rows.open.clone());
        let open: BTreeSet<_> = open.iter().map(|row| row.request).collect();
        assert_eq!(open, requests);
        assert!(site.memory.with(|state| state.ahead > 0));
        assert_eq!(site.lanes(&process), [1]);
    }
}

#[tokio::test(start_paused = true)]
async fn callers_of_a_slow_group_are_gathered() {
    // Callers; duration of a commit; whether the engine overlaps commits; groups of the second round.
    let table: [(usize, Duration, bool, &[usize]); 5] = [
        (16, COMMIT, false, &[16]),
        (8, COMMIT, false, &[8]),
        (16, COMMIT, true, &[1, 15]),
        (16, COMMIT / 10, false, &[1, 15]),
        (7, COMMIT, false, &[1, 6]),
    ];
    for (callers, takes, overlaps, groups) in table {
        let site = Site::new().await;
        site.memory.with(|state| state.takes = takes);
        site.memory.with(|state| state.overlaps = overlaps);
        let process = std::sync::Arc::new(site.start(false).await);
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..callers {
            let process = process.clone();
            tasks.spawn(async move {
                process.decided().await;
                if number > 0 {
                    pass(Duration::from_millis(1)).await;
                }
                process.decided().await;
            });
        }
        tasks.join_all().await;
        assert_eq!(
            site.groups()[1..],
            *groups,
            "{callers}, {takes:?}, {overlaps}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn outcome_does_not_overtake_its_decision() {
    let site = Site::new().await;
    site.memory.with(|state| state.takes = COMMIT);
    let process = site.start(false).await;
    let mut requests = Vec::new();
    for _ in 0..20 {
        requests.push(process.decide_lazily().await);
    }
    pass(COMMIT / 2).await;
    requests.iter().for_each(|one| process.end_lazily(*one));
    // Decided and ended at once, so the request is never open.
    requests.push(process.decide_lazily().await);
    process.end_lazily(requests[20]);
    process.core.flush().await.unwrap();
    for request in requests {
        assert_eq!(site.ends(request), [Some(200)]);
        assert!(!site.is_open(request));
    }
    assert_eq!(site.groups(), [20, 22]);
}

#[tokio::test(start_paused = true)]
async fn settings_change_commits_and_fails_alone() {
    for overlaps in [true, false] {
        let site = Site::new().await;
        site.memory.with(|state| state.takes = COMMIT);
        site.memory.with(|state| state.overlaps = overlaps);
        let process = site.start(false).await;
        let mut tasks: Vec<_> = (0..20).map(|_| process.decide()).collect();
        let (mut good, mut stale) = (Vec::new(), Vec::new());
        for number in 0..6 {
            pass(COMMIT / 2).await;
            tasks.extend((0..20).map(|_| process.decide()));
            pass(Duration::ZERO).await;
            good.push(process.change(&number.to_string(), Expect::Absent));
            stale.push(process.change("0", Expect::Absent));
            pass(Duration::ZERO).await;
            tasks.extend((0..20).map(|_| process.decide()));
        }
        all_ok(tasks).await;
        let mut ends = Vec::new();
        for task in good.into_iter().chain(stale) {
            ends.push(task.await.unwrap());
        }
        let refused = |end: &Result<(), StoreError>| matches!(end, Err(StoreError::Conflict(_)));
        assert!(ends[..6].iter().all(Result::is_ok), "{ends:?}");
        assert!(ends[6..].iter().all(refused), "{ends:?}");
        let groups = site.groups();
        assert_eq!(
            groups.iter().filter(|size| **size == 1).count(),
            6,
            "{groups:?}"
        );
        assert_eq!(site.lanes(&process), [1]);
    }
}

#[tokio::test(start_paused = true)]
async fn group_after_a_failed_commit_is_requeued() {
    for end in [
        ScriptedEnd::Fails,
        ScriptedEnd::Lost,
        ScriptedEnd::Answerless,
    ] {
        let site = Site::new().await;
        site.memory.with(|state| state.takes = COMMIT);
        let process = site.start(false).await;
        site.memory.with(|state| state.ends.push_back(end));
        let mut tasks: Vec<_> = (0..20).map(|_| process.decide()).collect();
        pass(COMMIT / 2).await;
        tasks.extend((0..10).map(|_| process.decide()));
        tasks.extend((0..10).map(|_| process.decide_for("another")));
        let requests = all_ok(tasks).await;
        assert!(site.memory.with(|state| state.ahead > 0));
        for request in requests {
            assert_eq!(site.records(request).len(), 1);
        }
        assert_eq!(site.groups(), [20, 20]);
        assert_eq!(site.lanes(&process), [1]);
    }
}

#[tokio::test(start_paused = true)]
async fn failed_insert_is_not_acknowledged() {
    for overlaps in [true, false] {
        let site = Site::new().await;
        site.memory.with(|state| state.takes = COMMIT);
        site.memory.with(|state| state.overlaps = overlaps);
        let process = site.start(false).await;
        let ends = [ScriptedEnd::Written, ScriptedEnd::NotAdded];
        site.memory.with(|state| state.ends = ends.into());
        let mut tasks: Vec<_> = (0..20).map(|_| process.decide()).collect();
        // Twice during the commit of the first jobs: the second ones must wait for it, the third ones could be added.
        for _ in 0..2 {
            pass(COMMIT / 3).await;
            tasks.extend((0..20).map(|_| process.decide()));
        }
        for request in all_ok(tasks).await {
            assert_eq!(site.records(request).len(), 1);
        }
        assert_eq!(site.lanes(&process), [1]);
    }
}

#[tokio::test(start_paused = true)]
async fn consecutive_transactions_use_different_counter_rows() {
    let site = Site::new().await;
    site.memory.with(|state| state.takes = COMMIT);
    let process = site.start(false).await;
    let mut tasks = Vec::new();
    for _ in 0..4 {
        // In two batches of one transaction.
        for _ in 0..2 {
            tasks.extend((0..20).map(|_| process.decide()));
            pass(COMMIT / 2).await;
        }
    }
    all_ok(tasks).await;
    let counters = site.memory.with(|state| state.rows.counters.clone());
    let rows: Vec<BTreeSet<i64>> = counters
        .iter()
        .map(|group| group.iter().map(|counter| counter.lane).collect())
        .filter(|rows: &BTreeSet<i64>| !rows.is_empty())
        .collect();
    assert!(
        rows.len() > 3 && rows.iter().all(|group| group.len() == 1),
        "{rows:?}"
    );
    assert!(rows.windows(2).all(|two| two[0] != two[1]), "{rows:?}");
    let of_lane_1 = BTreeSet::from([2, 3]);
    assert_eq!(
        rows.into_iter().flatten().collect::<BTreeSet<_>>(),
        of_lane_1
    );
    let counted: i64 = counters
        .iter()
        .flatten()
        .filter(|counter| counter.name == "requests")
        .map(|counter| counter.count)
        .sum();
    assert_eq!(counted, 160);
}

#[tokio::test(start_paused = true)]
async fn only_the_last_record_is_signed() {
    let site = Site::new().await;
    let process = site.start(false).await;
    all_ok((0..5).map(|_| process.decide()).collect()).await;
    let records = site.memory.with(|state| state.rows.records.clone());
    let signed: Vec<bool> = records[records.len() - 5..]
        .iter()
        .map(|new| new.link.signature.is_some())
        .collect();
    assert_eq!(signed, [false, false, false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn abandoned_request_is_not_left_open() {
    let site = Site::new().await;
    site.memory.with(|state| state.takes = COMMIT);
    let process = site.start(false).await;
    // The first gives up during its write, the second before it.
    let (first, first_task) = process.decide_within(COMMIT / 2);
    pass(COMMIT / 4).await;
    let (second, second_task) = process.decide_within(COMMIT / 4);
    for task in [first_task, second_task] {
        assert!(matches!(task.await.unwrap(), Err(StoreError::Timeout)));
    }
    pass(SOON).await;
    assert_eq!(site.ends(first), [Some(503)]);
    assert!(!site.is_open(first));
    assert!(site.records(second).is_empty());
}

#[tokio::test(start_paused = true)]
async fn request_is_found_by_its_tokens() {
    let site = Site::new().await;
    let process = site.start(false).await;
    process.decided().await;
    let mut new = process.new_decision();
    new.tokens = vec!["NAME_1".to_owned()];
    let request = new.decision.request_id;
    let recorded = process.trail.record_decision(new, LIMIT);
    recorded.await.unwrap();
    let lookups = site.memory.with(|state| state.rows.lookups.clone());
    let found: Vec<_> = lookups
        .iter()
        .map(|row| (row.request, row.codes.len()))
        .collect();
    assert_eq!(found, [(request, 1)]);
}

#[tokio::test(start_paused = true)]
async fn lease_is_renewed_under_constant_load() {
    for overlaps in [true, false] {
        let site = Site::new().await;
        site.memory.with(|state| state.overlaps = overlaps);
        site.memory
            .with(|state| state.takes = Duration::from_millis(500));
        let process = site.start(false).await;
        process.decided().await;
        let (before, _) = site.leases()[&1];
        let end = tokio::time::Instant::now() + Duration::from_secs(30);
        let mut callers = tokio::task::JoinSet::new();
        for number in 0..48 {
            let (trail, news) = (process.trail.clone(), process.new_decision());
            callers.spawn(async move {
                // Staggered, so that some are queued during commits.
                pass(Duration::from_millis(number % 2 * 250)).await;
                while tokio::time::Instant::now() < end {
                    let mut new = news.clone();
                    new.decision.request_id = uuid::Uuid::now_v7();
                    trail.record_decision(new, LIMIT).await.unwrap();
                }
            });
        }
        callers.join_all().await;
        let renewed = site.leases()[&1].0 - before;
        assert!(renewed >= 4, "renewed {renewed} times in 30 s");
    }
}
