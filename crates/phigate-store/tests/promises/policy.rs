//! Words of the policy, at every level.

use crate::support::{Site, account, close};
use phigate_store::{
    AdminAct, By, Filter, KindSettings, KindsAct, PolicyLevel, Record, RecordKind, SecretString,
    StoreError, Vault, WordChanges,
};
use phigate_types::{Act, Mode, Policy, Word};

fn changes(words: &str) -> WordChanges {
    let words = words.split(',').filter_map(|word| word.split_once('='));
    let words = words.map(|(kind, word)| (kind.into(), word.parse::<Word>().ok()));
    words.collect()
}

async fn set(vault: &Vault, account: &str, level: PolicyLevel<'_>, words: &str) {
    let changes = changes(words);
    let set = vault.accounts.set_policy(account, level, &changes, "cli");
    set.await.unwrap();
}

async fn acts(vault: &Vault, account: &str, act: Act) -> Vec<AdminAct> {
    let filter = Filter {
        record: Some(RecordKind::Admin),
        act: Some(act),
        ..Filter::default()
    };
    let page = vault.trail.audit_list(account, &filter, None, 100);
    let records = page.await.unwrap().items.into_iter();
    let acts = records.filter_map(|record| match record {
        Record::Admin(act) => Some(act),
        _ => None,
    });
    acts.collect()
}

fn said(policy: &Policy, kind: &str) -> String {
    let ruling = policy.of(kind);
    format!("{} by {}", ruling.word, ruling.by)
}

pub async fn words_of_every_level_bind_the_next_call(site: Site) {
    let (vault, other) = (site.open().await, site.open().await);
    let account = account(&vault).await;
    let new = vault
        .access
        .create_api_key_in(&account, Some("wards"), "", None, "cli")
        .await
        .unwrap();
    let asked = async |kind: &str| {
        let admitted = other.access.admit(new.key.expose()).await.unwrap();
        said(&admitted.policy, kind)
    };
    assert_eq!(asked("ssn").await, "flag by account");
    set(&vault, &account, PolicyLevel::Account, "ssn=mask,name=off").await;
    assert_eq!(asked("ssn").await, "mask by account");
    assert_eq!(asked("name").await, "off by account");
    set(&vault, &account, PolicyLevel::Group("wards"), "ssn=redact").await;
    assert_eq!(asked("ssn").await, "redact by group:wards");
    set(&vault, &account, PolicyLevel::Key(&new.id), "ssn=block").await;
    assert_eq!(asked("ssn").await, format!("block by key:{}", new.id));
    set(&vault, &account, PolicyLevel::Key(&new.id), "ssn=inherit").await;
    assert_eq!(asked("ssn").await, "redact by group:wards");
    let moved = vault
        .accounts
        .set_key_group(&account, &new.id, None, "cli")
        .await;
    moved.unwrap();
    assert_eq!(asked("ssn").await, "mask by account");
    vault
        .accounts
        .set_mode(&account, Mode::BLOCK, "cli")
        .await
        .unwrap();
    assert_eq!(asked("ssn").await, "mask by account");
    assert_eq!(asked("phone").await, "block by account");
    close(vault).await;
    close(other).await;
}

pub async fn records_spell_out_each_policy(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let new = vault
        .access
        .create_api_key(&account, "", None, "cli")
        .await
        .unwrap();
    let name = async || {
        let admitted = vault.access.admit(new.key.expose()).await.unwrap();
        admitted.policy.levels().name.clone()
    };
    assert_eq!(name().await, None);
    set(&vault, &account, PolicyLevel::Account, "ssn=mask").await;
    let first = name().await.unwrap();
    set(&vault, &account, PolicyLevel::Account, "ssn=mask").await;
    let key = PolicyLevel::Key(&new.id);
    set(&vault, &account, key, "phone=redact").await;
    let second = name().await.unwrap();
    assert_ne!(first, second);
    let reason = By {
        actor: "cli",
        reason: Some("as it was before"),
    };
    let back = changes("phone=inherit");
    let set = vault.accounts.set_policy(&account, key, &back, reason);
    set.await.unwrap();
    assert_eq!(name().await, Some(first.clone()));
    let acts = acts(&vault, &account, Act::PolicySet).await;
    assert_eq!(acts.len(), 3, "a change that changes nothing is no act");
    let text = |name: &str| {
        let detail = format!("policy {name}");
        acts.iter()
            .find_map(|act| act.details.get(&detail).cloned())
    };
    assert_eq!(text(&first).unwrap(), r#"{"account":{"ssn":"mask"}}"#);
    let spelled = r#"{"account":{"ssn":"mask"},"key":{"phone":"redact"}}"#;
    assert_eq!(text(&second).unwrap(), spelled);
    let last = &acts[0];
    assert_eq!(last.reason.as_deref(), Some("as it was before"));
    assert_eq!(last.from.as_deref(), Some("phone=redact"));
    assert_eq!(last.to.as_deref(), Some(""));
    let reduced = |act: &AdminAct| act.details.contains_key("protection");
    assert!(reduced(last) && !acts[1..].iter().any(reduced));
    close(vault).await;
}

pub async fn kinds_change_settings_and_words_in_one_act(site: Site) {
    let (vault, other) = (site.open().await, site.open().await);
    let account = account(&vault).await;
    let edit = |kinds: &mut KindSettings| {
        let from = kinds.words.len().to_string();
        kinds.detection.kinds.insert("date".to_owned());
        kinds.words.insert("phone".into(), Word::Off);
        KindsAct {
            act: Act::ProfileSet,
            kind: None,
            from,
            to: kinds.words.len().to_string(),
            on: vec!["date"],
            off: vec!["phone"],
            is_weaker: true,
        }
    };
    for _ in 0..2 {
        let reason = By {
            actor: "cli",
            reason: Some("a test"),
        };
        let edited = vault.accounts.edit_kinds(&account, edit, reason);
        edited.await.unwrap();
    }
    let stored = other.accounts.account(&account).await.unwrap();
    assert!(stored.policy.is_off("phone"));
    assert!(stored.settings.detection.kinds.contains("date"));
    let kinds = other.accounts.kinds(&account).await.unwrap();
    assert_eq!(kinds.detection, stored.settings.detection);
    let acts = acts(&vault, &account, Act::ProfileSet).await;
    assert_eq!(acts.len(), 1, "a change that changes nothing is no act");
    let details = &acts[0].details;
    for (name, value) in [
        ("switched_on", "date"),
        ("switched_off", "phone"),
        ("protection", "reduced"),
    ] {
        assert_eq!(details[name], value);
    }
    assert!(details.keys().any(|name| name.starts_with("policy ")));
    let change = (acts[0].from.as_deref(), acts[0].to.as_deref());
    assert_eq!(change, (Some("0"), Some("1")));
    close(vault).await;
    close(other).await;
}

pub async fn rotated_key_keeps_group_and_words(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let old = vault
        .access
        .create_api_key_in(&account, Some("wards"), "", None, "cli")
        .await
        .unwrap();
    set(&vault, &account, PolicyLevel::Group("wards"), "ssn=mask").await;
    set(&vault, &account, PolicyLevel::Key(&old.id), "phone=block").await;
    let overlap = jiff::SignedDuration::from_hours(1);
    let new = vault
        .access
        .rotate_api_key(&account, &old.id, overlap, "cli")
        .await
        .unwrap();
    for (key, id) in [(&old.key, &old.id), (&new.key, &new.id)] {
        let admitted = vault.access.admit(key.expose()).await.unwrap();
        assert_eq!(said(&admitted.policy, "ssn"), "mask by group:wards");
        let wanted = format!("block by key:{id}");
        assert_eq!(said(&admitted.policy, "phone"), wanted);
    }
    let names = vault.accounts.policy(&account).await.unwrap();
    assert_eq!(names.group_names().len(), 1);
    close(vault).await;
}

pub async fn wrong_levels_are_refused(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let set = async |level, words: &str| {
        let changes = changes(words);
        let set = vault.accounts.set_policy(&account, level, &changes, "cli");
        set.await.unwrap_err()
    };
    let unknown = set(PolicyLevel::Key("nosuchkey000"), "ssn=mask").await;
    assert!(matches!(unknown, StoreError::NotFound(_)), "{unknown}");
    for name in ["", "two words", "é"] {
        let wrong = set(PolicyLevel::Group(name), "ssn=mask").await;
        assert!(matches!(wrong, StoreError::Invalid { .. }), "{wrong}");
    }
    let off = set(PolicyLevel::Group("wards"), "ssn=off").await;
    assert!(matches!(off, StoreError::Invalid { .. }), "{off}");
    assert_eq!(acts(&vault, &account, Act::PolicySet).await, []);
    close(vault).await;
}

pub async fn allowed_values_bind_and_count_uses(site: Site) {
    let (vault, other) = (site.open().await, site.open().await);
    let account = account(&vault).await;
    let key = vault.access.create_api_key(&account, "", None, "cli");
    let key = key.await.unwrap();
    let entry = async || {
        let admitted = other.access.admit(key.key.expose()).await.unwrap();
        let allowed = &admitted.account.allowed;
        (allowed.entry("email", "desk@x.example"), allowed.is_empty())
    };
    assert_eq!(entry().await, (None, true));
    let reason = By {
        actor: "cli",
        reason: Some("our own desk"),
    };
    let value = SecretString::from("desk@x.example");
    let allow = async || {
        vault
            .allow_lists
            .add(&account, "email", &value, reason)
            .await
    };
    let id = allow().await.unwrap();
    assert_eq!(entry().await, (Some(id.clone()), false));
    let twice = allow().await.unwrap_err();
    assert!(matches!(twice, StoreError::Invalid { .. }), "{twice}");
    for count in [2, 3] {
        other
            .allow_lists
            .note_uses(&account, &[(id.clone(), count)].into());
    }
    close(other).await;
    let listed = vault.allow_lists.entries(&account).await.unwrap();
    assert_eq!((listed.len(), listed[0].hits), (1, 5));
    assert!(listed[0].last_used.is_some() && listed[0].reason == "our own desk");
    let added = acts(&vault, &account, Act::AllowAdd).await;
    assert_eq!(added[0].details["protection"], "reduced");
    let text = format!("{added:?}");
    assert!(!text.contains("desk@") && text.contains("our own desk"));
    vault
        .allow_lists
        .remove(&account, &id, "cli")
        .await
        .unwrap();
    let again = vault.allow_lists.remove(&account, &id, "cli").await;
    assert!(matches!(again, Err(StoreError::NotFound(_))));
    let admitted = vault.access.admit(key.key.expose()).await.unwrap();
    assert!(admitted.account.allowed.is_empty());
    assert_eq!(acts(&vault, &account, Act::AllowRemove).await.len(), 1);
    close(vault).await;
}
