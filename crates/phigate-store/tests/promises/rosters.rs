//! Patients of an account, as keyed codes.

use crate::support::{Site, account, close};
use phigate_store::{By, StoreError, Vault};

async fn import(vault: &Vault, account: &str, name: &str, words: &[&str]) {
    let mut draft = vault.rosters.draft(account);
    for word in words {
        draft.add(&["n", word]);
    }
    // Enough for several parts.
    for number in 0..150_000 {
        draft.add(&["n", &number.to_string()]);
    }
    let import = vault.rosters.import(account, name, (draft, 2), "cli");
    import.await.unwrap();
}

pub async fn roster_binds_the_next_call_and_is_read_once(site: Site) {
    let (vault, other) = (site.open().await, site.open().await);
    let account = account(&vault).await;
    let key = vault.access.create_api_key(&account, "", None, "cli");
    let key = key.await.unwrap();
    let holds = async |word: &str| {
        let admitted = other.access.admit(key.key.expose()).await.unwrap();
        admitted.account.rosters.holds(&["n", word])
    };
    assert!(!holds("river").await);
    import(&vault, &account, "main", &["river"]).await;
    import(&vault, &account, "second", &["canyon"]).await;
    assert!(holds("river").await && holds("canyon").await && holds("149999").await);
    assert!(!holds("150000").await && !holds("desert").await);
    import(&vault, &account, "main", &["desert"]).await;
    assert!(!holds("river").await && holds("desert").await && holds("canyon").await);
    let listed = vault.rosters.list(&account).await.unwrap();
    let names: Vec<&str> = listed.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, listed[0].patients), (vec!["main", "second"], 2));
    let reason = By {
        actor: "cli",
        reason: Some("moved"),
    };
    let removed = vault.rosters.remove(&account, "main", reason).await;
    removed.unwrap();
    assert!(!holds("desert").await && holds("canyon").await);
    let again = vault.rosters.remove(&account, "main", reason).await;
    assert!(matches!(again, Err(StoreError::NotFound(_))));
    close(other).await;
    close(vault).await;
}
