//! API keys, providers, modes and admission.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{Site, account, close};
use jiff::SignedDuration;
use phigate_store::{AdmitError, NewSecret, ProviderConfig, StoreError};
use phigate_types::{Mode, ProviderKind};

/// The key with another last letter of its secret, and the checksum that goes with it.
fn with_another_secret(key: &str) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let (body, _) = key.split_at(key.len() - 6);
    let (body, last) = body.split_at(body.len() - 1);
    let body = format!("{body}{}", if last == "x" { "y" } else { "x" });
    let mut crc = !0u32;
    for byte in body.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & 0u32.wrapping_sub(crc & 1));
        }
    }
    let mut rest = !crc as usize;
    let mut check = [0; 6];
    for place in check.iter_mut().rev() {
        *place = LETTERS[rest % 62];
        rest /= 62;
    }
    body + std::str::from_utf8(&check).unwrap()
}

/// The key whose secret was wrong, and its account.
fn key_of<T>(refused: &Result<T, AdmitError>) -> Option<(&str, &str)> {
    match refused {
        Err(error @ AdmitError::WrongSecret { .. }) => error.key(),
        _ => None,
    }
}

pub async fn a_key_admits_until_it_is_revoked_or_expires(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let new = vault
        .access
        .create_api_key(&account, "laptop", None, "cli")
        .await
        .unwrap();
    let admitted = vault.access.admit(new.key.expose()).await.unwrap();
    assert_eq!(admitted.key_id, new.id);
    assert_eq!(admitted.account.mode, Mode::FLAG);
    assert!(vault.access.admit(new.key.expose()).await.is_ok(), "again");
    let forged = with_another_secret(new.key.expose());
    for _ in 0..2 {
        let refused = vault.access.admit(&forged).await;
        assert_eq!(key_of(&refused), Some((new.id.as_str(), account.as_str())));
    }
    vault
        .access
        .revoke_api_key(&account, &new.id, "cli")
        .await
        .unwrap();
    assert!(matches!(
        vault.access.admit(new.key.expose()).await,
        Err(AdmitError::Revoked { .. })
    ));
    let past = SignedDuration::from_secs(-1);
    let expired = vault
        .access
        .create_api_key(&account, "old", Some(past), "cli")
        .await
        .unwrap();
    assert!(matches!(
        vault.access.admit(expired.key.expose()).await,
        Err(AdmitError::Expired { .. })
    ));
    let misspelt = format!("{}x", &forged[..forged.len() - 1]);
    let refused = vault.access.admit(&misspelt).await;
    assert_eq!(key_of(&refused), Some((new.id.as_str(), account.as_str())));
    let stranger = expired.key.expose().replace(&expired.id, "aaaaaaaaaaaa");
    assert!(matches!(
        vault.access.admit(&stranger).await,
        Err(AdmitError::Malformed)
    ));
    assert!(matches!(
        vault.access.admit("").await,
        Err(AdmitError::Missing)
    ));
    let escape = vault
        .access
        .create_api_key(&account, "\u{1b}[31m", None, "cli");
    assert!(matches!(escape.await, Err(StoreError::Invalid { .. })));
    assert!(
        vault
            .access
            .revoke_api_key(&account, "bbbbbbbbbbbb", "cli")
            .await
            .is_err()
    );
    close(vault).await;
}

pub async fn a_rotated_key_overlaps_with_its_successor(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let old = vault
        .access
        .create_api_key(&account, "app", None, "cli")
        .await
        .unwrap();
    let new = vault
        .access
        .rotate_api_key(&account, &old.id, SignedDuration::from_hours(24), "cli")
        .await
        .unwrap();
    assert!(
        vault.access.admit(old.key.expose()).await.is_ok(),
        "the old key still works"
    );
    assert!(vault.access.admit(new.key.expose()).await.is_ok());
    let newest = vault
        .access
        .rotate_api_key(&account, &new.id, SignedDuration::ZERO, "cli")
        .await
        .unwrap();
    assert!(matches!(
        vault.access.admit(new.key.expose()).await,
        Err(AdmitError::Expired { .. })
    ));
    let keys = vault.access.api_keys(&account).await.unwrap();
    assert_eq!(keys.len(), 3);
    let listed = keys.iter().find(|key| key.id == new.id).unwrap();
    assert_eq!(listed.rotated_to.as_deref(), Some(newest.id.as_str()));
    close(vault).await;
}

pub async fn changes_by_another_process_bind_the_next_call(site: Site) {
    let (server, cli) = (site.open().await, site.open().await);
    let account = account(&server).await;
    let new = cli
        .access
        .create_api_key(&account, "laptop", None, "cli")
        .await
        .unwrap();
    assert_eq!(
        server
            .access
            .admit(new.key.expose())
            .await
            .unwrap()
            .account
            .mode,
        Mode::FLAG
    );
    for (round, mode) in [Mode::BLOCK, Mode::MASK, Mode::REDACT, Mode::FLAG]
        .into_iter()
        .cycle()
        .take(40)
        .enumerate()
    {
        let (writer, reader) = if round % 3 == 0 {
            (&server, &cli)
        } else {
            (&cli, &server)
        };
        writer
            .accounts
            .set_mode(&account, mode, "cli")
            .await
            .unwrap();
        assert_eq!(
            reader
                .access
                .admit(new.key.expose())
                .await
                .unwrap()
                .account
                .mode,
            mode
        );
    }
    let state = server.accounts.mode(&account).await.unwrap();
    assert_eq!(
        (state.previous, state.changed_by.as_deref()),
        (Some(Mode::REDACT), Some("cli"))
    );
    cli.access
        .revoke_api_key(&account, &new.id, "cli")
        .await
        .unwrap();
    assert!(matches!(
        server.access.admit(new.key.expose()).await,
        Err(AdmitError::Revoked { .. })
    ));
    close(cli).await;
    close(server).await;
}

pub async fn provider_keys_come_back_only_through_admission(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let plain = ProviderConfig::new(ProviderKind::OpenAi);
    let set = async |config: &ProviderConfig, secret: NewSecret<'_>| {
        let set = vault
            .access
            .set_provider(&account, "openai", config, secret, "cli");
        set.await
    };
    assert!(
        set(&plain, NewSecret::Keep).await.is_err(),
        "there is no key to keep"
    );
    let secret = "sk-test-0123456789wxyz".into();
    let elsewhere = plain.clone().at("https://api.example.org");
    set(&elsewhere, NewSecret::Set(&secret)).await.unwrap();
    set(&plain, NewSecret::Keep).await.unwrap();
    let key = vault
        .access
        .create_api_key(&account, "", None, "cli")
        .await
        .unwrap();
    let admitted = vault.access.admit(key.key.expose()).await.unwrap();
    let provider = &admitted.account.providers["openai"];
    let key_of_provider = provider.secret.as_ref().unwrap();
    assert_eq!(key_of_provider.expose(), secret.expose());
    assert_eq!(provider.config.base_url, None);
    let listed = vault.access.providers(&account).await.unwrap();
    assert_eq!(listed[0].last4, "wxyz");
    assert!(!format!("{listed:?} {admitted:?}").contains("sk-test"));
    vault
        .access
        .remove_provider(&account, "openai", "cli")
        .await
        .unwrap();
    assert!(
        vault
            .access
            .admit(key.key.expose())
            .await
            .unwrap()
            .account
            .providers
            .is_empty()
    );
    close(vault).await;
}

/// Reads run side by side, and one that saw the state before a change may end after one that saw the state after it.
pub async fn reads_that_overtake_one_another_are_no_tampering(site: Site) {
    let vault = Arc::new(site.open().await);
    let account = account(&vault).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (vault, account, is_over) = (vault.clone(), account.clone(), is_over.clone());
        readers.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                vault.accounts.settings(&account).await.unwrap();
            }
        });
    }
    for turn in 0..40 {
        let mode = [Mode::MASK, Mode::FLAG][turn % 2];
        vault
            .accounts
            .set_mode(&account, mode, "cli")
            .await
            .unwrap();
    }
    is_over.store(true, Ordering::Relaxed);
    readers.join_all().await;
    close(Arc::into_inner(vault).unwrap()).await;
}
