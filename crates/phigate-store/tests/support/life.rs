//! Events in an installation: requests that are recorded, time that passes, people who set it up.

use super::{PATIENCE, Site, Watch, account, answered, masked};
use jiff::SignedDuration;
use phigate_store::{NewDecision, NewSecret, Options, ProviderConfig, Retention, Settings, Vault};
use phigate_types::ProviderKind;
use uuid::Uuid;

/// Records a decision and its outcome together; returns the request.
pub async fn recorded(vault: &Vault, new: NewDecision) -> Uuid {
    let (account, request) = (new.account_id.clone(), new.decision.request_id);
    let mut outcome = answered(request);
    outcome.time = new.decision.time;
    vault.trail.record_decision(new, PATIENCE).await.unwrap();
    vault
        .trail
        .record_outcome(&account, &outcome, PATIENCE)
        .await
        .unwrap();
    request
}

/// A masked request with both its records.
pub async fn request(vault: &Vault, account: &str) -> Uuid {
    recorded(vault, masked(account)).await
}

/// A store in which a request was recorded every few days.
pub async fn aged(
    site: &Site,
    watch: &Watch,
    retention: Retention,
    (requests, days): (usize, i64),
) -> (Vault, String, Vec<Uuid>) {
    let options = Options {
        clock: watch.clock(),
        ..site.options()
    };
    let vault = Vault::open(options).await.unwrap();
    let account = account(&vault).await;
    let settings = Settings {
        retention,
        ..Settings::default()
    };
    vault
        .accounts
        .set_settings(&account, &settings, "cli")
        .await
        .unwrap();
    let mut recorded_requests = Vec::new();
    for _ in 0..requests {
        let mut new = masked(&account);
        new.decision.time = watch.now();
        recorded_requests.push(recorded(&vault, new).await);
        watch.advance(SignedDuration::from_hours(24 * days));
    }
    (vault, account, recorded_requests)
}

/// Deletes everything that is due.
pub async fn retain(vault: &Vault, account: &str) {
    while vault.expiry.retain(account).await.unwrap() > 0 {}
}

/// Gives an account a key for a provider.
pub async fn provide(vault: &Vault, account: &str) {
    let key = "sk-0123456789abcd".into();
    vault
        .access
        .set_provider(
            account,
            "openai",
            &ProviderConfig::new(ProviderKind::OpenAi),
            NewSecret::Set(&key),
            "cli",
        )
        .await
        .unwrap();
}
