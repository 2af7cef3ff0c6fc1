//! Choosing records: by outcome of the request, by provider, by the beginning of a model's name, by person.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use phigate_store::{
    AdminAct, AuditTable, Count, Decision, Filter, Outcome, Record, RecordKind, Vault, Window,
};
use phigate_types::{Act, Action, ErrorCode, Mode};
use serde_json::Value;
use uuid::Uuid;

use crate::support::{Site, account, answered, attempt_at, clean, close, export, masked};

/// Three requests: one that a provider failed, one with PHI, one refused. Their ids.
async fn three(vault: &Vault, account: &str) -> [Uuid; 3] {
    let mut ids = [Uuid::nil(); 3];
    for (number, (provider, model, status, error)) in [
        ("azure-eu", "gpt-4o-mini", 502, Some("provider_error")),
        ("openai", "gpt-4o", 200, None),
        ("openai", "claude-opus-4-5", 404, Some("model_not_found")),
    ]
    .into_iter()
    .enumerate()
    {
        let mut new = if number == 1 {
            masked(account)
        } else {
            clean(account)
        };
        let id = new.decision.request_id;
        new.decision.provider = Some(provider.to_owned());
        new.decision.model = Some(model.to_owned());
        let wait = Duration::from_secs(10);
        let fallback = attempt_at("cellar", account, &new.decision);
        vault.trail.record_decision(new, wait).await.unwrap();
        if number == 0 {
            vault.trail.record_attempt(fallback, wait).await.unwrap();
        }
        let mut outcome = serde_json::to_value(answered(id)).unwrap();
        outcome["status"] = status.into();
        outcome["error_code"] = error.into();
        outcome["key_id"] = "abcdefghijkl".into();
        // The error of an attempt is not that of the request.
        let attempt = serde_json::json!({"provider": "other", "model": null, "status": 503, "error_code": "provider_overloaded", "ms": 3});
        outcome["attempts"] = serde_json::json!([attempt]);
        let outcome = serde_json::from_value(outcome).unwrap();
        vault
            .trail
            .record_outcome(account, &outcome, wait)
            .await
            .unwrap();
        ids[number] = id;
    }
    ids
}

fn by(change: impl FnOnce(&mut Filter)) -> Filter {
    let mut filter = Filter {
        requests: true,
        ..Filter::default()
    };
    change(&mut filter);
    filter
}

#[expect(clippy::too_many_lines, reason = "a table of filters")]
pub async fn requests_are_chosen_by_what_came_of_them_and_counted(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let ids = three(&vault, &account).await;
    for (filter, wanted) in [
        (by(|_| {}), vec![2, 1, 0]),
        (
            by(|filter| filter.provider = Some("openai".into())),
            vec![2, 1],
        ),
        (by(|filter| filter.provider = Some("open".into())), vec![]),
        (
            by(|filter| filter.provider = Some("cellar".into())),
            vec![0],
        ),
        (
            by(|filter| filter.model_prefix = Some("gpt-4o".into())),
            vec![1, 0],
        ),
        (by(|filter| filter.model = Some("gpt-4o".into())), vec![1]),
        (by(|filter| filter.model_prefix = Some("%".into())), vec![]),
        (
            by(|filter| filter.error = Some(ErrorCode::ProviderError)),
            vec![0],
        ),
        (
            by(|filter| filter.error = Some(ErrorCode::ProviderOverloaded)),
            vec![],
        ),
        (by(|filter| filter.status_class = Some(5)), vec![0]),
        (by(|filter| filter.status_class = Some(2)), vec![1]),
    ] {
        let wanted: Vec<Uuid> = wanted
            .into_iter()
            .map(|number: usize| ids[number])
            .collect();
        let listed = vault
            .trail
            .request_list(&account, &filter, None, 10)
            .await
            .unwrap();
        let found: Vec<Uuid> = listed
            .items
            .iter()
            .map(|row| row.decision.request_id)
            .collect();
        assert_eq!(found, wanted, "{filter:?}");
        let counted = vault.figures.count(&account, &filter, 100).await.unwrap();
        let all = Count {
            number: wanted.len() as u64,
            is_least: false,
        };
        assert_eq!(counted, all, "{filter:?}");
        // An export of this choice contains every request completely, and claims nothing more.
        let lines = export(&vault, &account, &filter).await;
        let records = lines
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let records: Vec<Value> = records.filter(|record| record["record"] != "gap").collect();
        let of = |kind: &str| {
            records
                .iter()
                .filter(|record| record["record"] == kind)
                .count()
        };
        assert_eq!(
            (of("decision"), of("outcome"), of("admin")),
            (wanted.len(), wanted.len(), 0),
            "{filter:?}"
        );
    }
    assert_eq!(
        vault.figures.count(&account, &by(|_| {}), 2).await.unwrap(),
        Count {
            number: 2,
            is_least: true,
        },
        "no further than asked"
    );
    let stats = vault.figures.stats(&account, Window::Day).await.unwrap();
    let key = stats.by_key["abcdefghijkl"];
    assert_eq!((key.requests, key.with_phi, key.tokens), (3, 1, 30));
    assert_eq!(stats.by_model["gpt-4o"].with_phi, 1);
    assert_eq!(stats.by_error.len(), 2);
    close(vault).await;
}

/// A request every other hour, 150 of them, each with its outcome, oldest first. Some properties are rare.
async fn sparse(vault: &Vault, account: &str) -> Vec<(Decision, Outcome)> {
    let wait = Duration::from_secs(10);
    let start = Timestamp::now() - SignedDuration::from_hours(300);
    let mut all = Vec::new();
    for number in 0..150 {
        let mut new = if number % 3 == 0 {
            masked(account)
        } else {
            clean(account)
        };
        let decision = &mut new.decision;
        decision.time = start + SignedDuration::from_hours(2 * number);
        decision.key_id = if number % 50 == 20 {
            "rarelyused01"
        } else {
            "abcdefghijkl"
        }
        .into();
        decision.model = (number % 10 != 9).then(|| format!("gpt-{}", number / 30));
        decision.door = Some(if number == 3 { "embeddings" } else { "chat" }.into());
        if number % 41 == 40 {
            decision.action = Action::REFUSED;
        }
        if number == 99 {
            decision.mode = Mode::BLOCK;
            decision.action = Action::BLOCKED;
            decision.types = BTreeMap::from([("medicare_id".to_owned(), 2)]);
        }
        let mut outcome = answered(decision.request_id);
        outcome.time = decision.time;
        if number == 70 {
            // A request that took long, and a request whose process ended.
            outcome.time = decision.time + SignedDuration::from_hours(20);
            outcome.error_code = Some(ErrorCode::ProviderTimeout);
            outcome.status = Some(504);
        } else if number == 80 {
            outcome.time = start + SignedDuration::from_hours(290);
            outcome.error_code = Some(ErrorCode::Interrupted);
            outcome.status = None;
        }
        all.push((decision.clone(), outcome.clone()));
        vault.trail.record_decision_lazily(new, wait).await.unwrap();
        vault.trail.queue_outcome(account, &outcome);
    }
    vault.flush().await.unwrap();
    all
}

/// Whether a filter chooses a request, asked the plain way.
fn chooses(filter: &Filter, (decision, outcome): &(Decision, Outcome)) -> bool {
    let is = |wanted: &Option<String>, found: Option<&str>| {
        wanted.is_none() || wanted.as_deref() == found
    };
    let model = decision.model.as_deref();
    let prefix = filter.model_prefix.as_deref();
    let kind = filter.phi_type.as_ref();
    filter.since.is_none_or(|since| decision.time >= since)
        && filter.until.is_none_or(|until| decision.time < until)
        && is(&filter.key_id, Some(&decision.key_id))
        && is(&filter.model, model)
        && is(&filter.door, decision.door.as_deref())
        && prefix.is_none_or(|prefix| model.is_some_and(|model| model.starts_with(prefix)))
        && kind.is_none_or(|kind| decision.types.contains_key(kind))
        && filter.action.is_none_or(|action| action == decision.action)
        && filter.mode.is_none_or(|mode| mode == decision.mode)
        && filter
            .error
            .is_none_or(|error| Some(error) == outcome.error_code)
        && filter
            .status_class
            .is_none_or(|class| outcome.status.map(|status| status / 100) == Some(class))
        && filter
            .phi_detected
            .is_none_or(|phi| phi == decision.phi_detected)
}

/// A search looks only at hours that can hold something, gives up after a while and says so, and still finds all there
/// is, page by page, as the plain way does.
pub async fn what_is_rare_is_found_wherever_it_is(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let all = sparse(&vault, &account).await;
    let middle = all[70].0.time;
    let choices: [fn(&mut Filter); 14] = [
        |filter| filter.action = Some(Action::REFUSED),
        |filter| filter.action = Some(Action::BLOCKED),
        |filter| filter.mode = Some(Mode::BLOCK),
        |filter| filter.mode = Some(Mode::MASK),
        |filter| filter.key_id = Some("rarelyused01".into()),
        |filter| filter.key_id = Some("unheard-of".into()),
        |filter| filter.model = Some("gpt-4".into()),
        |filter| filter.model_prefix = Some("gp".into()),
        |filter| filter.phi_type = Some("medicare_id".into()),
        |filter| filter.door = Some("embeddings".into()),
        |filter| filter.error = Some(ErrorCode::ProviderTimeout),
        |filter| filter.error = Some(ErrorCode::Interrupted),
        |filter| filter.status_class = Some(5),
        |filter| filter.phi_detected = Some(false),
    ];
    let filters = choices.iter().enumerate().flat_map(|(at, one)| {
        let pairs = choices[at + 1..].iter().map(|other| (*one, *other));
        [(*one, (|_| {}) as fn(&mut Filter))]
            .into_iter()
            .chain(pairs)
    });
    let mut stopped = 0;
    for (one, other) in filters {
        for (since, until) in [(None, None), (Some(middle), None), (None, Some(middle))] {
            let filter = by(|filter| {
                one(filter);
                other(filter);
                (filter.since, filter.until) = (since, until);
            });
            let wanted = all.iter().rev().filter(|request| chooses(&filter, request));
            let wanted: Vec<Uuid> = wanted.map(|(decision, _)| decision.request_id).collect();
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let list = vault.trail.request_list(&account, &filter, after, 7);
                let page = list.await.unwrap();
                let ids = page.items.iter().map(|row| row.decision.request_id);
                found.extend(ids);
                stopped += usize::from(page.looked_back_to.is_some());
                assert!(
                    page.items.len() == 7 || page.next.is_none() == page.looked_back_to.is_none()
                );
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(found, wanted, "{filter:?}");
            let count = vault.figures.count(&account, &filter, 1_000).await.unwrap();
            let number = wanted.len() as u64;
            match count.is_least {
                true => assert!(count.number <= number, "{filter:?}"),
                false => assert_eq!(count.number, number, "{filter:?}"),
            }
        }
    }
    assert!(stopped > 0, "no search gave up");
    close(vault).await;
}

/// Actors of one act each.
const ACTORS: [&str; 7] = [
    "sam@clinic.example",
    "sam@clinic.example.org",
    "cli: jroe@ward-7",
    "cli: root@ward-7",
    "cli: root@ward-7 as root",
    "client@clinic.example",
    "odd\"name@clinic.example",
];

/// Actors in a filter, with the number of their acts.
const CHOSEN: [(&str, usize); 9] = [
    ("sam@clinic.example", 1),
    ("sam@clinic.example.org", 1),
    ("sam@clinic.exampl", 0),
    ("am@clinic.example", 0),
    ("cli", 3),
    ("cli: root", 0),
    ("cli: root@ward-7", 1),
    ("client@clinic.example", 1),
    ("odd\"name@clinic.example", 1),
];

pub async fn acts_are_chosen_by_person_and_exports_are_recorded(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    for actor in ACTORS {
        let act = AdminAct::new(Timestamp::now(), "default", actor, Act::AuditFind);
        vault
            .trail
            .record_admin(Some(&account), &act)
            .await
            .unwrap();
    }
    let find = |actor: &str| Filter {
        record: Some(RecordKind::Admin),
        act: Some(Act::AuditFind),
        actor: Some(actor.to_owned()),
        ..Filter::default()
    };
    for (actor, wanted) in CHOSEN {
        let found = vault
            .trail
            .audit_list(&account, &find(actor), None, 10)
            .await
            .unwrap();
        assert_eq!(found.items.len(), wanted, "{actor}");
        let lines = export(&vault, &account, &find(actor)).await;
        let acts = lines.iter().filter(|line| line.contains("audit.find"));
        assert_eq!(acts.count(), wanted, "{actor}");
    }
    let order = phigate_store::ExportOrder {
        actor: "sam@clinic.example",
        format: "csv",
    };
    let chosen = by(|filter| filter.phi_detected = Some(true));
    let request = crate::support::life::request(&vault, &account).await;
    let mut lines = vault
        .trail
        .audit_export(&account, &chosen, order)
        .await
        .unwrap();
    let (mut table, mut written) = (AuditTable::default(), String::new());
    while let Some(line) = lines.next().await.unwrap() {
        written.extend(line.record.as_ref().and_then(|one| table.line(one)));
    }
    written.push_str(&table.rest());
    assert_eq!(written.lines().count(), 1, "{request}: {written}");
    lines.made_rows(table.rows());
    lines.end(true).await.unwrap();
    for (act, detail, value) in [
        (Act::AuditExport, "format", "csv"),
        (Act::AuditExport, "filter", "requests phi_detected=true"),
        (Act::AuditExportEnd, "rows", "1"),
        (Act::AuditExportEnd, "whole", "yes"),
    ] {
        let filter = Filter {
            act: Some(act),
            actor: Some("sam@clinic.example".to_owned()),
            ..Filter::default()
        };
        let found = vault
            .trail
            .audit_list(&account, &filter, None, 1)
            .await
            .unwrap();
        let [Record::Admin(act)] = found.items.as_slice() else {
            panic!("no record of {act:?}");
        };
        assert_eq!(act.details[detail], value, "{detail}");
    }
    close(vault).await;
}

pub async fn revealed_content_is_opened_again_for_the_same_person_for_a_while(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let new = masked(&account);
    let id = new.decision.request_id;
    vault
        .trail
        .record_decision(new, Duration::from_secs(10))
        .await
        .unwrap();
    let before = Timestamp::now();
    let reopen = async |actor: &str, since: Timestamp| {
        vault
            .trail
            .reopen(&account, id, actor, since)
            .await
            .unwrap()
            .is_some()
    };
    assert!(!reopen("sam", before).await, "nobody revealed it");
    vault
        .trail
        .reveal(&account, id, "sam", Some("incident 4711"))
        .await
        .unwrap();
    assert!(reopen("sam", before).await);
    assert!(!reopen("alex", before).await, "somebody else did not");
    assert!(!reopen("sam", Timestamp::now()).await, "that was before");
    let records = vault.trail.audit_show(&account, id).await.unwrap();
    let reveals = records
        .iter()
        .filter(|record| matches!(record, Record::Admin(_)));
    assert_eq!(reveals.count(), 1);
    close(vault).await;
}
