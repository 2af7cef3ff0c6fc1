//! PostgreSQL over TLS: trusted and refused certificates, and whether the refusal shows the remedy.

use crate::support::postgres::Postgres;
use crate::support::{account, close, life};
use phigate_store::{MasterKeySource, Options, Target, Vault};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use std::path::Path;

fn certificate(name: &str) -> CertifiedKey<KeyPair> {
    generate_simple_self_signed(vec![name.to_owned()]).unwrap()
}

/// Writes a certificate to a file for `sslrootcert`; returns the parameter.
fn trust(folder: &Path, name: &str, certificate: &CertifiedKey<KeyPair>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, certificate.cert.pem()).unwrap();
    format!("sslrootcert={}", path.display())
}

async fn open(folder: &Path, url: String) -> phigate_store::Result<Vault> {
    let key = MasterKeySource::File(folder.join("data.key"));
    Vault::open(Options::new(Target::Url(url), key)).await
}

/// Error message for an address that does not work.
async fn refusal(folder: &Path, url: String) -> String {
    match open(folder, url).await {
        Ok(_) => "let in".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_encrypted_and_certificates_checked() {
    let (own, other) = (certificate("localhost"), certificate("localhost"));
    let Some(server) = Postgres::start_tls(&own.cert.pem(), &own.signing_key.serialize_pem())
    else {
        return;
    };
    server.database("tls");
    let folder = tempfile::tempdir().unwrap();
    let right = trust(folder.path(), "right.pem", &own);
    let wrong = trust(folder.path(), "wrong.pem", &other);
    for parameters in [format!("sslmode=verify-full&{right}"), right.clone()] {
        let url = server.url_with("tls", &parameters);
        let vault = open(folder.path(), url).await.unwrap();
        let account = account(&vault).await;
        life::request(&vault, &account).await;
        // The server itself says whether they are encrypted; a division by zero fails.
        let ours =
            "FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'phigate'";
        assert!(server.psql("tls", &format!("SELECT 1 / count(*) {ours} AND ssl")));
        assert!(!server.psql("tls", &format!("SELECT 1 / count(*) {ours} AND NOT ssl")));
        close(vault).await;
    }
    let refusals = [
        // Parameters, subject of the message.
        (
            format!("sslmode=verify-full&{wrong}"),
            ["certificate", "sslrootcert=FILE"],
        ),
        (
            "sslmode=require".to_owned(),
            ["certificate", "sslrootcert=FILE"],
        ),
        ("sslmode=disable".to_owned(), ["28000", "sslmode=require"]),
        // TLS not mentioned: unused inside one machine.
        ("connect_timeout=3".to_owned(), ["28000", "sslmode=require"]),
        (
            "sslmode=verify-full&sslrootcert=/nowhere.pem".to_owned(),
            ["sslrootcert", "no certificates"],
        ),
    ];
    for (parameters, words) in refusals {
        let said = refusal(folder.path(), server.url_with("tls", &parameters)).await;
        let is_helpful = words.iter().all(|word| said.contains(word));
        assert!(is_helpful, "{parameters}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificate_for_another_host_is_refused() {
    let own = certificate("database.example");
    let Some(server) = Postgres::start_tls(&own.cert.pem(), &own.signing_key.serialize_pem())
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let right = trust(folder.path(), "right.pem", &own);
    for mode in ["verify-full", "verify-ca", "require"] {
        let url = server.url_with("postgres", &format!("sslmode={mode}&{right}"));
        let said = refusal(folder.path(), url).await;
        assert!(said.contains("host name"), "{mode}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_without_required_tls_is_refused() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let url = server.url_with("postgres", "sslmode=require");
    let said = refusal(folder.path(), url).await;
    assert!(
        said.contains("ssl = off") && said.contains("sslmode=disable"),
        "{said}"
    );
}
