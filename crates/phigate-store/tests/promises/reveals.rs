//! Looks at content that take two people.

use jiff::SignedDuration;
use phigate_store::{
    By, Filter, Options, Record, RecordKind, RevealSubject, Settings, StoreError, Vault,
};
use phigate_types::{Act, AlertCode, Approvals};
use uuid::Uuid;

use crate::support::life::recorded;
use crate::support::{Site, Watch, account, close, masked};

const REASON: &str = "complaint 12";

/// A store on a watch, whose account takes two people for a look.
async fn two(site: &Site, watch: &Watch) -> (Vault, String) {
    let options = Options {
        clock: watch.clock(),
        ..site.options()
    };
    let vault = Vault::open(options).await.unwrap();
    let account = account(&vault).await;
    let change = |settings: &mut Settings| settings.reveal_approvals = Approvals::Two;
    let by = By {
        actor: "cli",
        reason: None,
    };
    let edited = vault.accounts.edit_settings(&account, change, by);
    edited.await.unwrap();
    (vault, account)
}

async fn is_shown(vault: &Vault, account: &str, request: Uuid, actor: &str) -> bool {
    let shown = vault.trail.reveal(account, request, actor, Some(REASON));
    match shown.await {
        Ok(shown) => shown.original.is_some(),
        Err(StoreError::NeedsApproval) => false,
        Err(error) => panic!("{error}"),
    }
}

async fn ask(vault: &Vault, account: &str, request: Uuid, actor: &str) -> String {
    let subject = RevealSubject::Request(request);
    let asked = vault.reveals.ask(account, &subject, actor, REASON);
    asked.await.unwrap().id
}

/// Acts about a request, oldest first, with their actors.
async fn acts(vault: &Vault, account: &str, request: Uuid) -> Vec<(Act, String)> {
    let records = vault.trail.audit_show(account, request).await.unwrap();
    let acts = records.into_iter().filter_map(|record| match record {
        Record::Admin(act) => Some((act.act, act.actor)),
        _ => None,
    });
    acts.collect()
}

pub async fn another_person_approves_and_all_is_recorded(site: Site) {
    let (vault, account) = two(&site, &Watch::new()).await;
    let request = recorded(&vault, masked(&account)).await;
    let other = recorded(&vault, masked(&account)).await;
    assert!(!is_shown(&vault, &account, request, "sam").await);
    assert_eq!(acts(&vault, &account, request).await, []);
    let id = ask(&vault, &account, request, "sam").await;
    assert_eq!(
        ask(&vault, &account, request, "sam").await,
        id,
        "asked once"
    );
    assert!(!is_shown(&vault, &account, request, "sam").await);
    let own = vault.reveals.approve(&account, &id, "sam").await;
    assert!(matches!(own, Err(StoreError::Invalid { .. })), "{own:?}");
    let approved = vault.reveals.approve(&account, &id, "alex").await.unwrap();
    assert_eq!(approved.approved_by.as_deref(), Some("alex"));
    let again = vault.reveals.approve(&account, &id, "kim").await;
    assert!(
        matches!(again, Err(StoreError::Invalid { .. })),
        "{again:?}"
    );
    assert!(is_shown(&vault, &account, request, "sam").await);
    for (request, actor) in [(request, "alex"), (request, "kim"), (other, "sam")] {
        assert!(!is_shown(&vault, &account, request, actor).await, "{actor}");
    }
    let wanted = [
        (Act::ContentRevealAsk, "sam"),
        (Act::ContentRevealApprove, "alex"),
        (Act::ContentReveal, "sam"),
    ];
    let wanted = wanted.map(|(act, actor)| (act, actor.to_owned()));
    assert_eq!(acts(&vault, &account, request).await, wanted);
    close(vault).await;
}

pub async fn approval_and_its_use_have_thirty_minutes(site: Site) {
    let watch = Watch::new();
    let (vault, account) = two(&site, &watch).await;
    let request = recorded(&vault, masked(&account)).await;
    let id = ask(&vault, &account, request, "sam").await;
    watch.advance(SignedDuration::from_mins(31));
    let late = vault.reveals.approve(&account, &id, "alex").await;
    assert!(matches!(late, Err(StoreError::NotFound(_))), "{late:?}");
    assert!(vault.reveals.open(&account).await.unwrap().is_empty());
    let id = ask(&vault, &account, request, "sam").await;
    watch.advance(SignedDuration::from_mins(29));
    vault.reveals.approve(&account, &id, "alex").await.unwrap();
    watch.advance(SignedDuration::from_mins(29));
    assert!(is_shown(&vault, &account, request, "sam").await);
    watch.advance(SignedDuration::from_mins(2));
    assert!(!is_shown(&vault, &account, request, "sam").await);
    close(vault).await;
}

pub async fn declined_request_opens_nothing(site: Site) {
    let (vault, account) = two(&site, &Watch::new()).await;
    let elsewhere = vault.accounts.create_account("elsewhere", "cli").await;
    let elsewhere = elsewhere.unwrap().id;
    let request = recorded(&vault, masked(&account)).await;
    let id = ask(&vault, &account, request, "sam").await;
    let stranger = vault.reveals.approve(&elsewhere, &id, "alex").await;
    assert!(matches!(stranger, Err(StoreError::NotFound(_))));
    vault.reveals.approve(&account, &id, "alex").await.unwrap();
    vault.reveals.decline(&account, &id, "kim").await.unwrap();
    assert!(!is_shown(&vault, &account, request, "sam").await);
    let gone = vault.reveals.approve(&account, &id, "alex").await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))));
    let open = (0..20).map(|number| RevealSubject::Token(format!("NAME_{number}")));
    for subject in open {
        let asked = vault.reveals.ask(&account, &subject, "sam", REASON);
        asked.await.unwrap();
    }
    let subject = RevealSubject::Request(request);
    let many = vault.reveals.ask(&account, &subject, "sam", REASON).await;
    assert!(matches!(many, Err(StoreError::Invalid { .. })), "{many:?}");
    close(vault).await;
}

pub async fn emergency_shows_content_and_raises_an_alert(site: Site) {
    let watch = Watch::new();
    let (vault, account) = two(&site, &watch).await;
    let request = recorded(&vault, masked(&account)).await;
    let reveals = &vault.reveals;
    for hours in [0, 1, 24] {
        watch.advance(SignedDuration::from_hours(hours));
        let shown = reveals.reveal_in_emergency(&account, request, "sam", REASON);
        assert!(shown.await.unwrap().original.is_some());
    }
    assert_eq!(acts(&vault, &account, request).await.len(), 3);
    let filter = Filter {
        record: Some(RecordKind::Alert),
        ..Filter::default()
    };
    let alerts = vault.trail.audit_list(&account, &filter, None, 9).await;
    let alerts = alerts.unwrap().items;
    assert_eq!(alerts.len(), 2, "one per subject and day");
    for alert in alerts {
        let Record::Alert(alert) = alert else {
            panic!("{alert:?}")
        };
        assert_eq!(alert.alert, AlertCode::EmergencyReveal);
        assert_eq!(alert.requests, [request]);
        assert_eq!(alert.details["actor"], "sam");
    }
    close(vault).await;
}
