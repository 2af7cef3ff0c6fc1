//! Secrets are unreadable in all files of a store.

use crate::support::life::recorded;
use crate::support::postgres::Postgres;
use crate::support::{Site, account, close, masked};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use phigate_store::{
    Identifier, Login, NewSecret, ProviderConfig, SecretBytes, SessionPolicy, Vault,
};
use phigate_types::{ProviderKind, Role};
use std::path::Path;

const NAME: &str = "Wilhelmina Testpatient-Quux";
const SSN: &str = "900-66-4321";
const PROVIDER_KEY: &str = "sk-canary-5f2c9e0d7b";
const PASSWORD: &str = "canary horse battery staple";

/// Fills a store with things to find, and returns all of them.
async fn fill(vault: &Vault) -> Vec<String> {
    let account = account(vault).await;
    let mut secrets = people(vault, &account).await;
    let key = vault
        .access
        .create_api_key(&account, "", None, "cli")
        .await
        .unwrap();
    secrets.push(key.key.expose()[17..].to_owned());
    vault
        .access
        .set_provider(
            &account,
            "openai",
            &ProviderConfig::new(ProviderKind::OpenAi),
            NewSecret::Set(&PROVIDER_KEY.into()),
            "cli",
        )
        .await
        .unwrap();
    for _ in 0..20 {
        let mut new = masked(&account);
        new.original = Some(SecretBytes::new(
            format!("{NAME}, SSN {SSN}, has a cough").into_bytes(),
        ));
        new.identifiers.push(Identifier {
            kind: "ssn",
            value: "900664321".into(),
        });
        let request = recorded(vault, new).await;
        vault
            .trail
            .reveal(&account, request, "cli", None)
            .await
            .unwrap();
    }
    vault
        .trail
        .find_identifiers(&account, &[("ssn", vec!["900664321".into()])], "cli")
        .await
        .unwrap();
    secrets.extend([NAME, SSN, "900664321", PROVIDER_KEY].map(str::to_owned));
    secrets
}

/// A user, a session and a failed login.
async fn people(vault: &Vault, account: &str) -> Vec<String> {
    let user = vault
        .people
        .create_user(
            account,
            "jane@example.org",
            &PASSWORD.into(),
            Role::Owner,
            "cli",
        )
        .await
        .unwrap();
    vault
        .people
        .set_totp(
            &user,
            Some(&SecretBytes::from(&b"canary-totp-seed-123"[..])),
            None,
            "cli",
        )
        .await
        .unwrap();
    let session = vault
        .sessions
        .begin_session(&user, SessionPolicy::default(), "test")
        .await
        .unwrap();
    let login = Login {
        email: "canary-typed-as-email",
        password: &"canary wrong password".into(),
        origin: "test",
        device: None,
    };
    vault.people.verify_login(&login).await.unwrap();
    let known = [
        PASSWORD,
        "canary-totp-seed-123",
        "canary-typed-as-email",
        "canary wrong password",
    ];
    let mut secrets = known.map(str::to_owned).to_vec();
    secrets.push(session.token.expose().to_owned());
    secrets
}

/// Spellings of a secret: plain, base64 at any offset, hexadecimal, UTF-16.
fn spellings(secret: &str) -> Vec<Vec<u8>> {
    let mut found = vec![secret.as_bytes().to_vec()];
    for offset in 0..3 {
        let padded = [vec![0; offset], secret.as_bytes().to_vec()].concat();
        for text in [STANDARD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            // The letters at both ends depend on the neighbours.
            let middle = &text.trim_end_matches('=')[(offset * 8).div_ceil(6)..];
            found.push(middle.as_bytes()[..middle.len() - 1].to_vec());
        }
    }
    found.push(
        secret
            .bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
            .into_bytes(),
    );
    found.push(secret.encode_utf16().flat_map(u16::to_le_bytes).collect());
    found
}

/// Looks through every file of a folder; the number of bytes read.
fn sweep(folder: &Path, secrets: &[String]) -> usize {
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read += sweep(&path, secrets);
            continue;
        }
        let Ok(bytes) = std::fs::read(&path) else {
            continue;
        };
        read += bytes.len();
        for secret in secrets {
            for spelling in spellings(secret) {
                let is_there = memchr::memmem::find(&bytes, &spelling).is_some();
                assert!(
                    !is_there,
                    "{} holds a secret ({} letters)",
                    path.display(),
                    secret.len()
                );
            }
        }
    }
    read
}

#[test]
fn sweep_finds_every_spelling_of_name() {
    let folder = tempfile::tempdir().unwrap();
    for (number, spelling) in spellings(NAME).into_iter().enumerate() {
        let path = folder.path().join("file");
        std::fs::write(
            &path,
            [b"before ".to_vec(), spelling, b" after".to_vec()].concat(),
        )
        .unwrap();
        let found = std::panic::catch_unwind(|| sweep(folder.path(), &[NAME.to_owned()])).is_err();
        assert!(found, "spelling {number}");
    }
}

#[tokio::test]
async fn sqlite_folder_holds_no_readable_secret() {
    let site = Site::sqlite();
    let vault = site.open().await;
    let secrets = fill(&vault).await;
    // While it is open, with the log not folded in, and after it was closed.
    assert!(sweep(&site.data(), &secrets) > 50_000);
    close(vault).await;
    assert!(sweep(&site.data(), &secrets) > 50_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgresql_folder_holds_no_readable_secret() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let site = Site::postgres(&server, "sealed");
    let vault = site.open().await;
    let secrets = fill(&vault).await;
    close(vault).await;
    assert!(server.psql("sealed", "CHECKPOINT"));
    assert!(sweep(server.data().parent().unwrap(), &secrets) > 1_000_000);
}
