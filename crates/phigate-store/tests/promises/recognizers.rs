//! Kinds that an account defines.

use crate::support::{Site, account, close};
use phigate_store::{
    By, Filter, PolicyLevel, Record, RecordKind, StoreError, StoredRecognizer, WordChanges,
};
use phigate_types::Act;

fn recognizer(code: &str, definition: &str) -> StoredRecognizer {
    StoredRecognizer {
        code: code.into(),
        definition: definition.into(),
    }
}

pub async fn recognizers_bind_the_next_call_and_leave_with_their_words(site: Site) {
    let (vault, other) = (site.open().await, site.open().await);
    let account = account(&vault).await;
    let key = vault.access.create_api_key(&account, "", None, "cli");
    let key = key.await.unwrap();
    let seen = async || {
        let admitted = other.access.admit(key.key.expose()).await.unwrap();
        admitted.account.recognizers.to_vec()
    };
    assert_eq!(seen().await, []);
    let (first, second) = (recognizer("x_b", "ZKP-1"), recognizer("x_a", "ZKP-2"));
    for one in [&first, &second] {
        vault.recognizers.set(&account, one, "cli").await.unwrap();
    }
    assert_eq!(seen().await, [second.clone(), first.clone()]);
    let changed = recognizer("x_b", "ZKP-3");
    let reason = By {
        actor: "cli",
        reason: Some("a new form"),
    };
    let set = vault.recognizers.set(&account, &changed, reason);
    set.await.unwrap();
    assert_eq!(seen().await, [second.clone(), changed]);
    let accounts = &vault.accounts;
    for level in [
        PolicyLevel::Account,
        PolicyLevel::Group("wards"),
        PolicyLevel::Key(&key.id),
    ] {
        let words = [
            ("x_b".into(), "block".parse().ok()),
            ("ssn".into(), "mask".parse().ok()),
        ];
        let words: WordChanges = words.into();
        let set = accounts.set_policy(&account, level, &words, "cli");
        set.await.unwrap();
    }
    vault
        .recognizers
        .remove(&account, "x_b", reason)
        .await
        .unwrap();
    assert_eq!(seen().await, [second]);
    let words = accounts.policy(&account).await.unwrap();
    let text = format!("{words:?}");
    assert!(
        !text.contains("x_b") && text.matches("ssn").count() == 3,
        "{text}"
    );
    let again = vault.recognizers.remove(&account, "x_b", reason).await;
    assert!(matches!(again, Err(StoreError::NotFound(_))));
    let filter = Filter {
        record: Some(RecordKind::Admin),
        act: Some(Act::RecognizerRemove),
        ..Filter::default()
    };
    let page = vault.trail.audit_list(&account, &filter, None, 10).await;
    let [Record::Admin(act)] = &page.unwrap().items[..] else {
        panic!("not one act");
    };
    assert_eq!(act.details["protection"], "reduced");
    assert!(!format!("{act:?}").contains("ZKP"));
    close(other).await;
    close(vault).await;
}

pub async fn account_has_no_more_than_64_recognizers(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    for number in 0..64 {
        let one = recognizer(&format!("x_{number}"), "ZKP");
        vault.recognizers.set(&account, &one, "cli").await.unwrap();
    }
    let more = recognizer("x_64", "ZKP");
    let refused = vault.recognizers.set(&account, &more, "cli").await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })));
    let known = recognizer("x_63", "QXT");
    let replaced = vault.recognizers.set(&account, &known, "cli").await;
    replaced.unwrap();
    assert_eq!(vault.recognizers.list(&account).await.unwrap().len(), 64);
    close(vault).await;
}
