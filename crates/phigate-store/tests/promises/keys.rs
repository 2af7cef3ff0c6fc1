//! API keys and admission.

use crate::support::{Site, account, close};
use phigate_store::AdmitError;

pub async fn a_key_admits_until_it_is_revoked_or_expires(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let new = vault
        .create_api_key(&account, "laptop", None, "cli")
        .await
        .unwrap();
    let admitted = vault.admit(new.key.expose()).await.unwrap();
    assert_eq!(admitted.key_id, new.id);
    assert_eq!(admitted.account.mode, "flag");
    vault
        .revoke_api_key(&account, &new.id, "cli")
        .await
        .unwrap();
    assert!(matches!(
        vault.admit(new.key.expose()).await,
        Err(AdmitError::Revoked { .. })
    ));
    let past = jiff::SignedDuration::from_secs(-1);
    let expired = vault
        .create_api_key(&account, "old", Some(past), "cli")
        .await
        .unwrap();
    assert!(matches!(
        vault.admit(expired.key.expose()).await,
        Err(AdmitError::Expired { .. })
    ));
    let stranger = expired.key.expose().replace(&expired.id, "aaaaaaaaaaaa");
    assert!(matches!(
        vault.admit(&stranger).await,
        Err(AdmitError::Malformed)
    ));
    assert!(matches!(vault.admit("").await, Err(AdmitError::Missing)));
    close(vault).await;
}
