//! Opening a store.

use crate::support::{Site, account, close};
use phigate_store::{MasterKeySource, Options, StoreError, Vault};

pub async fn a_first_start_makes_everything_and_a_second_finds_it(site: Site) {
    let first = site.open().await;
    assert!(first.was_created());
    assert_eq!(
        first.accounts.find_account(None).await.unwrap().name,
        "default"
    );
    let id = account(&first).await;
    close(first).await;
    let second = site.open().await;
    assert!(!second.was_created());
    assert_eq!(account(&second).await, id);
    close(second).await;
}

pub async fn several_first_starts_at_once_make_one_store(site: Site) {
    let opening: Vec<_> = (0..6)
        .map(|_| tokio::spawn(Vault::open(site.options())))
        .collect();
    let mut vaults = Vec::new();
    for one in opening {
        vaults.push(one.await.unwrap().unwrap());
    }
    assert_eq!(vaults.iter().filter(|vault| vault.was_created()).count(), 1);
    for vault in vaults {
        assert_eq!(vault.accounts.accounts().await.unwrap().len(), 1);
        close(vault).await;
    }
}

pub async fn a_wrong_or_missing_master_key_is_refused(site: Site) {
    close(site.open().await).await;
    let other = MasterKeySource::Command(format!("echo {}", "ab".repeat(32)));
    let refused = Vault::open(Options {
        master_key: other,
        ..site.options()
    })
    .await
    .err();
    assert!(
        matches!(refused, Some(StoreError::WrongMasterKey { .. })),
        "{refused:?}"
    );
    let missing = MasterKeySource::File(site.folder.path().join("nowhere.key"));
    let refused = Vault::open(Options {
        master_key: missing,
        ..site.options()
    })
    .await
    .err();
    assert!(
        matches!(refused, Some(StoreError::MissingMasterKey(_))),
        "{refused:?}"
    );
    assert!(
        !site.folder.path().join("nowhere.key").exists(),
        "no key is made for a store that has one"
    );
}

pub async fn nothing_is_made_unless_asked_for(site: Site) {
    let refused = Vault::open(Options {
        create: false,
        ..site.options()
    })
    .await
    .err();
    assert!(
        matches!(refused, Some(StoreError::Missing(_))),
        "{refused:?}"
    );
    assert!(!site.key_file().exists());
}
