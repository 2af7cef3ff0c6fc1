//! Shared set-up of this crate's tests: a gateway with a temporary store.

use std::sync::Arc;
use std::time::Instant;

use phigate_core::doors::CHAT;
use phigate_edge::Drain;
use phigate_store::{
    Account, Admission, MasterKeySource, NewSecret, Options, ProviderConfig, SecretString, Target,
    Vault,
};
use phigate_types::{Limits, ProviderKind};
use uuid::Uuid;

use crate::gateway::{Gateway, ProviderSettings};
use crate::metrics::Metrics;
use crate::record::RequestRecord;

/// A gateway with one account, `default`. The folder goes with it.
pub(crate) async fn gateway() -> (Arc<Gateway>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let target = Target::Folder(folder.path().join("data"));
    let key = MasterKeySource::File(folder.path().join("data.key"));
    let vault = Arc::new(Vault::open(Options::new(target, key)).await.unwrap());
    let providers = ProviderSettings {
        allow_private: true,
        allow_ambient: false,
        ca_file: None,
    };
    let (metrics, drain) = (Metrics::new(), Drain::default());
    let gateway = Gateway::new(&Limits::default(), providers, vault, metrics, drain);
    (gateway.unwrap(), folder)
}

/// The account `default`, or a new one of this name, with a key for OpenAI's models.
pub(crate) async fn account(gateway: &Gateway, name: &str) -> Arc<Account> {
    let vault = &gateway.vault;
    let id = if name == "default" {
        vault.accounts.find_account(None).await.unwrap().id
    } else {
        vault
            .accounts
            .create_account(name, "test")
            .await
            .unwrap()
            .id
    };
    let key = SecretString::new("an-invented-key".to_owned());
    let config = ProviderConfig::new(ProviderKind::OpenAi);
    let secret = NewSecret::Set(&key);
    let set = vault
        .access
        .set_provider(&id, "openai", &config, secret, "test");
    set.await.unwrap();
    vault.accounts.account(&id).await.unwrap()
}

/// A request of the account of which nothing is recorded yet.
pub(crate) fn record(gateway: &Arc<Gateway>, account: &Arc<Account>) -> Box<RequestRecord> {
    let received = Instant::now();
    let permit = gateway
        .key_limits
        .admit(&account.id, "key", &account.settings.limits, received)
        .unwrap();
    Box::new(RequestRecord {
        gateway: Arc::clone(gateway),
        door: Some(&CHAT),
        admission: Admission::without_key("key", Arc::clone(account)),
        request_id: Uuid::now_v7(),
        received,
        permit,
        stages: None,
        trace: None,
    })
}
