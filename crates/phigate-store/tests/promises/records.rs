//! Writing the trail.

use crate::support::{
    PATIENCE, Site, Watch, account, answered, clean, close, life, masked, outcomes,
};
use jiff::SignedDuration;
use phigate_store::{Durability, Filter, Options, Record, RecordKind, Vault};
use std::sync::Arc;
use std::time::Duration;

pub async fn a_decision_is_there_when_it_is_acknowledged(site: Site) {
    let (vault, other) = (site.open().await, site.open().await);
    let account = account(&vault).await;
    let new = masked(&account);
    let (request, decision) = (new.decision.request_id, new.decision.clone());
    vault.trail.record_decision(new, PATIENCE).await.unwrap();
    let seen = other.trail.audit_show(&account, request).await.unwrap();
    let Record::Decision(seen) = &seen[0] else {
        panic!("the decision comes first")
    };
    assert_eq!(
        (&seen.findings, &seen.types, seen.time),
        (&decision.findings, &decision.types, decision.time)
    );
    vault
        .trail
        .record_outcome(&account, &answered(request), PATIENCE)
        .await
        .unwrap();
    assert_eq!(outcomes(&other, &account, request).await, [Some(200)]);
    close(vault).await;
    close(other).await;
}

pub async fn lazily_recorded_decisions_are_never_lost_on_close(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    for _ in 0..300 {
        let new = clean(&account);
        let request = new.decision.request_id;
        vault
            .trail
            .record_decision_lazily(new, PATIENCE)
            .await
            .unwrap();
        vault.trail.queue_outcome(&account, &answered(request));
    }
    close(vault).await;
    let vault = site.open().await;
    for kind in [RecordKind::Decision, RecordKind::Outcome] {
        let filter = Filter {
            record: Some(kind),
            ..Filter::default()
        };
        let page = vault
            .trail
            .audit_list(&account, &filter, None, 1_000)
            .await
            .unwrap();
        assert_eq!(page.items.len(), 300, "{kind:?}");
    }
    close(vault).await;
}

pub async fn a_request_that_is_over_at_once_is_written_whole(site: Site) {
    let vault = Arc::new(site.open().await);
    let account = account(&vault).await;
    for (new, durability) in [
        (masked(&account), Durability::Durable),
        (clean(&account), Durability::Queued),
    ] {
        let (request, trail) = (new.decision.request_id, &vault.trail);
        let outcome = answered(request);
        let written = trail.record_ended(new, &outcome, durability, PATIENCE);
        written.await.unwrap();
        if durability == Durability::Queued {
            vault.flush().await.unwrap();
        }
        assert_eq!(outcomes(&vault, &account, request).await, [Some(200)]);
    }
    // A caller that gives up finds both records or none, and no open request.
    let mut callers = Vec::new();
    for number in 0..60u64 {
        let (vault, new) = (vault.clone(), masked(&account));
        callers.push(tokio::spawn(async move {
            let request = new.decision.request_id;
            let (outcome, deadline) = (answered(request), Duration::from_micros(number * 200));
            let written = vault
                .trail
                .record_ended(new, &outcome, Durability::Durable, deadline);
            (request, written.await.is_ok())
        }));
    }
    let mut told = Vec::new();
    for caller in callers {
        told.push(caller.await.unwrap());
    }
    vault.flush().await.unwrap();
    for (request, is_written) in told {
        let records = vault.trail.audit_show(&account, request).await;
        let records = records.map_or(0, |records| records.len());
        assert!(records == 2 || !is_written && records == 0, "{records}");
    }
    vault.close(PATIENCE).await.unwrap();
}

pub async fn an_abandoned_decision_leaves_no_open_request(site: Site) {
    let vault = Arc::new(site.open().await);
    let account = account(&vault).await;
    // Some give up at once, some a little later, some wait: the moment of the commit is hit from all sides.
    let mut callers = Vec::new();
    for number in 0..120u64 {
        let (vault, new) = (vault.clone(), masked(&account));
        callers.push(tokio::spawn(async move {
            let request = new.decision.request_id;
            let deadline = Duration::from_micros(number * 200);
            (
                request,
                vault.trail.record_decision(new, deadline).await.is_ok(),
            )
        }));
    }
    let (mut told, mut given_up) = (Vec::new(), Vec::new());
    for caller in callers {
        let (request, is_written) = caller.await.unwrap();
        if is_written {
            told.push(request);
        } else {
            given_up.push(request);
        }
    }
    vault.flush().await.unwrap();
    vault.flush().await.unwrap();
    for request in given_up {
        match vault.trail.audit_show(&account, request).await {
            Err(_) => {}
            Ok(records) => {
                assert_eq!(
                    records.len(),
                    2,
                    "written all the same, so it has its outcome"
                );
                assert_eq!(outcomes(&vault, &account, request).await, [Some(503)]);
            }
        }
    }
    for request in told {
        assert_eq!(
            outcomes(&vault, &account, request).await,
            [],
            "its caller owes the outcome"
        );
    }
    vault.close(PATIENCE).await.unwrap();
}

pub async fn a_second_outcome_is_not_written(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let request = life::request(&vault, &account).await;
    vault
        .trail
        .record_outcome(&account, &answered(request), PATIENCE)
        .await
        .unwrap();
    vault
        .trail
        .record_outcome(&account, &answered(uuid::Uuid::now_v7()), PATIENCE)
        .await
        .unwrap();
    assert_eq!(outcomes(&vault, &account, request).await, [Some(200)]);
    assert!(
        vault
            .trail
            .verify(None, &[], |_| {})
            .await
            .unwrap()
            .is_intact()
    );
    close(vault).await;
}

pub async fn requests_of_a_dead_process_are_interrupted_and_those_of_a_live_one_are_not(
    site: Site,
) {
    let alive = site.open().await;
    let account = account(&alive).await;
    let under_way = masked(&account);
    let (under_way_id, dead_id);
    under_way_id = under_way.decision.request_id;
    alive
        .trail
        .record_decision(under_way, PATIENCE)
        .await
        .unwrap();
    {
        let new = masked(&account);
        dead_id = new.decision.request_id;
        let dying = site.open().await;
        dying.trail.record_decision(new, PATIENCE).await.unwrap();
        // Closing releases the lease as the end of a process does; the outcome was never written.
        close(dying).await;
    }
    let server = site.serve().await;
    for _ in 0..100 {
        server.flush().await.unwrap();
        if !outcomes(&server, &account, dead_id).await.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(
        outcomes(&server, &account, dead_id).await,
        [None],
        "interrupted, never a success"
    );
    assert_eq!(
        outcomes(&server, &account, under_way_id).await,
        [],
        "still under way"
    );
    alive
        .trail
        .record_outcome(&account, &answered(under_way_id), PATIENCE)
        .await
        .unwrap();
    assert_eq!(outcomes(&server, &account, under_way_id).await, [Some(200)]);
    assert!(
        server
            .trail
            .verify(None, &[], |_| {})
            .await
            .unwrap()
            .is_intact()
    );
    close(server).await;
    close(alive).await;
}

pub async fn many_writers_share_groups_and_every_record_is_there(site: Site) {
    let processes = [
        Arc::new(site.open().await),
        Arc::new(site.open().await),
        Arc::new(site.open().await),
    ];
    let account = account(&processes[0]).await;
    let mut callers = Vec::new();
    for number in 0..150 {
        let (vault, account) = (processes[number % 3].clone(), account.clone());
        callers.push(tokio::spawn(async move {
            life::request(&vault, &account).await
        }));
    }
    for caller in callers {
        let request = caller.await.unwrap();
        assert_eq!(
            processes[0]
                .trail
                .audit_show(&account, request)
                .await
                .unwrap()
                .len(),
            2
        );
    }
    let report = processes[1].trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert!(report.records >= 300 && report.chains >= 3, "{report:?}");
    for vault in processes {
        vault.close(PATIENCE).await.unwrap();
    }
}

pub async fn a_clock_that_jumps_loses_and_doubles_nothing(site: Site) {
    let watch = Watch::new();
    let open = async || {
        let options = Options {
            serve: true,
            clock: watch.clock(),
            ..site.options()
        };
        Vault::open(options).await.unwrap()
    };
    let mut vault = open().await;
    let account = account(&vault).await;
    let mut requests = Vec::new();
    // To the next day, to the month before, and by a year, between the two records of a request and between processes.
    for hours in [26, -50, 1, -24 * 40, 24 * 365, -24 * 365] {
        let mut new = masked(&account);
        new.decision.time = watch.now();
        let mut outcome = answered(new.decision.request_id);
        requests.push(new.decision.request_id);
        vault.trail.record_decision(new, PATIENCE).await.unwrap();
        watch.advance(SignedDuration::from_hours(hours));
        outcome.time = watch.now();
        let recorded = vault.trail.record_outcome(&account, &outcome, PATIENCE);
        recorded.await.unwrap();
        close(vault).await;
        vault = open().await;
    }
    for request in requests {
        let records = vault.trail.audit_show(&account, request).await.unwrap();
        assert_eq!(records.len(), 2);
        assert_eq!(outcomes(&vault, &account, request).await, [Some(200)]);
    }
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    close(vault).await;
}
