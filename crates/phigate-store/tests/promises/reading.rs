//! Reading the trail.

use std::time::Duration;

use crate::support::life::recorded;
use crate::support::{PATIENCE, Site, Watch, account, answered, attempt_at, clean, close, masked};
use jiff::SignedDuration;
use phigate_store::{
    AttemptEnd, Filter, Identifier, Options, Record, RecordKind, StoreError, Vault, Window,
};
use phigate_types::{Act, Action, ErrorCode, Mode};

pub async fn lists_filter_and_page_newest_first(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let mut requests = Vec::new();
    for number in 0..25 {
        let mut new = if number % 5 == 0 {
            masked(&account)
        } else {
            clean(&account)
        };
        new.decision.key_id = format!("key{}", number % 3);
        new.decision.model = Some(format!("gpt-{}", number % 2));
        requests.push(recorded(&vault, new).await);
    }
    let Record::Decision(tenth) = &vault
        .trail
        .audit_show(&account, requests[10])
        .await
        .unwrap()[0]
    else {
        panic!()
    };
    for (filter, expected) in filters(requests[7], tenth.time) {
        let found = vault
            .trail
            .audit_list(&account, &filter, None, 1_000)
            .await
            .unwrap();
        assert_eq!(found.items.len(), expected, "{filter:?}");
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = vault
            .trail
            .request_list(&account, &Filter::default(), after, 7)
            .await
            .unwrap();
        assert!(
            page.items
                .iter()
                .all(|row| row.outcome.as_ref().unwrap().status == Some(200))
        );
        seen.extend(page.items.iter().map(|row| row.decision.request_id));
        let Some(next) = page.next else { break };
        after = phigate_store::Cursor::decode(&next.encode());
    }
    requests.reverse();
    assert_eq!(seen, requests);
    close(vault).await;
}

/// Filters and how many records each finds among those of the test above.
fn filters(request: uuid::Uuid, time: jiff::Timestamp) -> Vec<(Filter, usize)> {
    let text = |value: &str| Some(value.to_owned());
    let decisions = Some(RecordKind::Decision);
    vec![
        // One row per kind of filter.
        (with(|f| f.record = decisions), 25),
        (with(|f| f.phi_type = text("ssn")), 5),
        (with(|f| f.phi_type = text("dob")), 0),
        (with(|f| f.action = Some(Action::MASKED)), 5),
        (with(|f| f.mode = Some(Mode::FLAG)), 20),
        (with(|f| f.key_id = text("key0")), 9),
        (with(|f| f.model = text("gpt-1")), 12),
        (with(|f| f.request_id = Some(request)), 2),
        (with(|f| f.phi_detected = Some(true)), 5),
        (with(|f| f.phi_detected = Some(false)), 20),
        (with(|f| f.act = Some(Act::AccountCreate)), 1),
        (with(|f| f.act = Some(Act::AccountDelete)), 0),
        (with(|f| (f.since, f.record) = (Some(time), decisions)), 15),
        (with(|f| (f.until, f.record) = (Some(time), decisions)), 10),
    ]
}

fn with(edit: impl Fn(&mut Filter)) -> Filter {
    let mut filter = Filter::default();
    edit(&mut filter);
    filter
}

pub async fn content_comes_back_only_by_reveal_which_is_recorded_first(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let request = recorded(&vault, masked(&account)).await;
    let revealed = vault
        .trail
        .reveal(&account, request, "jane@example.org", Some("complaint 12"))
        .await
        .unwrap();
    assert_eq!(
        revealed.original.unwrap().expose(),
        b"Jane Roe, SSN 900-55-1234"
    );
    assert_eq!(revealed.sent.unwrap().expose(), b"[NAME], SSN [SSN]");
    let Record::Admin(act) = vault
        .trail
        .audit_show(&account, request)
        .await
        .unwrap()
        .pop()
        .unwrap()
    else {
        panic!()
    };
    assert_eq!(
        (act.act, act.reason.as_deref()),
        (Act::ContentReveal, Some("complaint 12"))
    );
    let clean = recorded(&vault, clean(&account)).await;
    assert!(matches!(
        vault.trail.reveal(&account, clean, "cli", None).await,
        Err(StoreError::NotFound(_))
    ));
    let unknown = vault
        .trail
        .reveal(&account, uuid::Uuid::now_v7(), "cli", None)
        .await;
    assert!(matches!(unknown, Err(StoreError::NotFound(_))));
    let mut flagged = masked(&account);
    flagged.decision.action = Action::FORWARDED;
    flagged.sent = None;
    let flagged = recorded(&vault, flagged).await;
    let revealed = vault
        .trail
        .reveal(&account, flagged, "cli", None)
        .await
        .unwrap();
    assert_eq!(
        revealed.sent, revealed.original,
        "what was flagged went out as it came"
    );
    // Large enough to be sealed on a separate thread.
    let mut large = masked(&account);
    large.original = Some(phigate_store::SecretBytes::new(
        b"Jane Roe ".repeat(100_000),
    ));
    let large = recorded(&vault, large).await;
    let revealed = vault.trail.reveal(&account, large, "cli", None).await;
    let original = revealed.unwrap().original.unwrap();
    assert!(original.expose() == b"Jane Roe ".repeat(100_000));
    close(vault).await;
}

pub async fn an_identifier_is_found_by_its_value_and_only_in_its_account(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let request = recorded(&vault, masked(&account)).await;
    let other = vault
        .accounts
        .create_account("clinic", "cli")
        .await
        .unwrap()
        .id;
    let mut elsewhere = masked(&other);
    elsewhere.decision.account = "clinic".to_owned();
    recorded(&vault, elsewhere).await;
    let found = vault
        .trail
        .find_identifiers(&account, &[("ssn", vec!["900551234".into()])], "cli")
        .await
        .unwrap();
    assert_eq!(
        found.iter().map(|one| one.request_id).collect::<Vec<_>>(),
        [request]
    );
    assert_eq!(
        (found[0].action, found[0].provider_status),
        (Some(Action::MASKED), Some(200))
    );
    assert!(
        vault
            .trail
            .find_identifiers(&account, &[("mrn", vec!["900551234".into()])], "cli")
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        vault
            .trail
            .find_identifiers(&account, &[("ssn", vec!["900551235".into()])], "cli")
            .await
            .unwrap()
            .is_empty()
    );
    close(vault).await;
}

pub async fn an_identifier_is_found_among_thousands_of_requests(site: Site) {
    const REQUESTS: usize = 4_500;
    let vault = site.open().await;
    let account = account(&vault).await;
    let mut requests = Vec::new();
    for number in 0..REQUESTS {
        let mut new = clean(&account);
        new.decision.time += SignedDuration::from_micros(number as i64);
        let value = if number % 900 == 7 { 0 } else { number };
        new.identifiers.push(Identifier {
            kind: "mrn",
            value: value.to_string().into(),
        });
        requests.push(new.decision.request_id);
        let written = vault.trail.record_decision_lazily(new, PATIENCE).await;
        written.unwrap();
    }
    vault.flush().await.unwrap();
    let newest = [3_607, 2_707, 1_807, 907, 7, 0].map(|number| requests[number]);
    let of_one = |number: usize| vec![requests[number]];
    for (value, expected) in [
        (0, newest.to_vec()),
        (1, of_one(1)),
        (4_095, of_one(4_095)),
        (4_499, of_one(4_499)),
        (4_500, Vec::new()),
    ] {
        let asked = [("mrn", vec![value.to_string().into()])];
        let found = vault.trail.find_identifiers(&account, &asked, "cli");
        let found = found.await.unwrap();
        let found: Vec<_> = found.iter().map(|one| one.request_id).collect();
        assert_eq!(found, expected, "{value}");
    }
    close(vault).await;
}

pub async fn content_is_found_by_the_tokens_that_stood_for_it(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let mut new = masked(&account);
    new.decision.conversation = Some("c".to_owned());
    new.tokens = vec!["NAME_7K3QD".into(), "HEALTH_PLAN_ID_0ABCD".into()];
    let request = recorded(&vault, new).await;
    // As earlier versions stored it.
    let mut hashed = masked(&account);
    hashed.decision.conversation = Some("c".to_owned());
    hashed.identifiers.push(Identifier {
        kind: "token",
        value: "MRN_XXXXX".into(),
    });
    let earlier = recorded(&vault, hashed).await;
    for (token, expected) in [
        ("NAME_7K3QD", Some(request)),
        ("HEALTH_PLAN_ID_0ABCD", Some(request)),
        ("MRN_XXXXX", Some(earlier)),
        ("NAME_7K3Q", None),
        ("NAME_7K3QE", None),
    ] {
        let trail = &vault.trail;
        let found = trail.contents_with_token(&account, token, "cli", "a complaint");
        let found: Vec<_> = found.await.unwrap();
        let found = found.iter().map(|(decision, _)| decision.request_id);
        assert_eq!(
            found.collect::<Vec<_>>(),
            Vec::from_iter(expected),
            "{token}"
        );
    }
    close(vault).await;
}

pub async fn figures_add_up(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    for number in 0..10 {
        recorded(
            &vault,
            if number < 3 {
                masked(&account)
            } else {
                clean(&account)
            },
        )
        .await;
    }
    for window in [Window::Hour, Window::Day, Window::Week, Window::Month] {
        let stats = vault.figures.stats(&account, window).await.unwrap();
        assert_eq!((stats.requests, stats.with_phi, stats.tokens), (10, 3, 100));
        assert_eq!(
            (
                stats.by_action["masked"],
                stats.by_type["ssn"],
                stats.by_mode["flag"]
            ),
            (3, 3, 7)
        );
        assert_eq!(
            (stats.by_status["2xx"], stats.by_family["openai"]),
            (10, 10)
        );
        assert!(
            (300..=380).contains(&stats.total_ms[0].unwrap()),
            "{:?}",
            stats.total_ms
        );
        assert_eq!(
            stats
                .buckets
                .iter()
                .map(|bucket| bucket.requests)
                .sum::<u64>(),
            10
        );
        let lengths = [12, 24, 28, 30];
        assert!(lengths.contains(&stats.buckets.len()));
        assert_eq!((stats.by_model.len(), stats.newest), (1, None));
    }
    close(vault).await;
}

pub async fn an_attempt_tells_whom_else_an_identifier_went_to(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let new = masked(&account);
    let attempt = attempt_at("cellar", &account, &new.decision);
    let outcome = answered(new.decision.request_id);
    vault.trail.record_decision(new, PATIENCE).await.unwrap();
    let written = vault.trail.record_attempt(attempt, PATIENCE).await;
    written.unwrap();
    let written = vault.trail.record_outcome(&account, &outcome, PATIENCE);
    written.await.unwrap();
    let found = vault
        .trail
        .find_identifiers(&account, &[("ssn", vec!["900551234".into()])], "cli")
        .await
        .unwrap();
    assert_eq!(found[0].provider.as_deref(), Some("openai"));
    let further: Vec<_> = found[0]
        .attempts
        .iter()
        .map(|one| (one.provider.as_str(), one.model.as_deref(), one.action))
        .collect();
    assert_eq!(further, [("cellar", Some("llama"), Action::FORWARDED)]);
    close(vault).await;
}

pub async fn a_disclosure_of_a_blocked_request_names_no_provider(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let mut new = masked(&account);
    (new.decision.action, new.decision.sizes.sent) = (Action::BLOCKED, None);
    recorded(&vault, new).await;
    let asked = [("ssn", vec!["900551234".into()])];
    let find = vault.trail.find_identifiers(&account, &asked, "cli");
    let found = find.await.unwrap();
    assert_eq!(found[0].action, Some(Action::BLOCKED));
    assert_eq!(found[0].provider, None);
    close(vault).await;
}

/// A request that went to `azure-eu`, and how that ended.
async fn fared(
    vault: &Vault,
    account: &str,
    watch: &Watch,
    end: (Option<u16>, Option<ErrorCode>, u64),
) {
    let mut new = clean(account);
    new.decision.time = watch.now();
    let (status, error, ms) = end;
    let mut outcome = answered(new.decision.request_id);
    outcome.time = watch.now();
    outcome.attempts = vec![AttemptEnd {
        provider: "azure-eu".to_owned(),
        model: None,
        status,
        error_code: error,
        ms,
    }];
    vault.trail.record_decision(new, PATIENCE).await.unwrap();
    let written = vault.trail.record_outcome(account, &outcome, PATIENCE);
    written.await.unwrap();
}

pub async fn how_providers_fare_is_told_of_the_last_sixty_minutes(site: Site) {
    let watch = Watch::new();
    let options = Options {
        clock: watch.clock(),
        ..site.options()
    };
    let vault = Vault::open(options).await.unwrap();
    let account = account(&vault).await;
    let health = async || {
        let health = vault.trail.provider_health(&account).await.unwrap();
        let fare = health.get("azure-eu").cloned().unwrap_or_default();
        (fare.requests, fare.failures)
    };
    assert_eq!(health().await, (0, 0));
    // A minute before the full hour, and on both sides of it.
    watch.advance(SignedDuration::from_mins(59));
    fared(&vault, &account, &watch, (Some(200), None, 100)).await;
    fared(
        &vault,
        &account,
        &watch,
        (Some(503), Some(ErrorCode::ProviderOverloaded), 5),
    )
    .await;
    // The caller left before the provider answered: that is not the provider's failure.
    fared(
        &vault,
        &account,
        &watch,
        (None, Some(ErrorCode::ClientDisconnected), 5),
    )
    .await;
    assert_eq!(health().await, (2, 1));
    watch.advance(SignedDuration::from_mins(2));
    for _ in 0..18 {
        fared(&vault, &account, &watch, (Some(200), None, 400)).await;
    }
    fared(&vault, &account, &watch, (Some(200), None, 9_000)).await;
    assert_eq!(health().await, (21, 1), "the full hour changes nothing");
    let told = vault.trail.provider_health(&account).await.unwrap();
    let (half, most) = (told["azure-eu"].p50_ms, told["azure-eu"].p95_ms);
    assert!((380..=420).contains(&half.unwrap()), "{half:?}");
    assert!((380..=420).contains(&most.unwrap()), "{most:?}");
    watch.advance(SignedDuration::from_mins(57));
    assert_eq!(health().await, (21, 1), "59 minutes after the first");
    watch.advance(SignedDuration::from_mins(1));
    assert_eq!(health().await, (19, 0), "the first are past");
    vault.expiry.retain_all(Duration::ZERO).await.unwrap();
    assert_eq!(health().await, (19, 0), "what is told is not swept away");
    watch.advance(SignedDuration::from_hours(3));
    vault.expiry.retain_all(Duration::ZERO).await.unwrap();
    assert_eq!(health().await, (0, 0));
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    close(vault).await;
}

pub async fn accounts_are_walls(site: Site) {
    let vault = site.open().await;
    let one = account(&vault).await;
    let other = vault
        .accounts
        .create_account("clinic", "cli")
        .await
        .unwrap()
        .id;
    let request = recorded(&vault, masked(&one)).await;
    let key = vault
        .access
        .create_api_key(&one, "", None, "cli")
        .await
        .unwrap();
    assert!(vault.trail.audit_show(&other, request).await.is_err());
    assert!(
        vault
            .trail
            .reveal(&other, request, "cli", None)
            .await
            .is_err()
    );
    assert!(
        vault
            .access
            .revoke_api_key(&other, &key.id, "cli")
            .await
            .is_err()
    );
    let seen = vault
        .trail
        .audit_list(&other, &Filter::default(), None, 100)
        .await
        .unwrap();
    assert_eq!(seen.items.len(), 1, "only that the account was made");
    assert_eq!(
        vault
            .figures
            .stats(&other, Window::Day)
            .await
            .unwrap()
            .requests,
        0
    );
    let mut export = vault
        .trail
        .audit_export(&other, &Filter::default(), "cli")
        .await
        .unwrap();
    while let Some(line) = export.next().await.unwrap() {
        assert!(!line.json.contains(&request.to_string()));
    }
    assert!(
        vault.accounts.find_account(None).await.is_err(),
        "with two accounts one must be named"
    );
    close(vault).await;
}
