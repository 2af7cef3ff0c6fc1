//! Entries of each resource of the admin API, by name, as JSON. None holds a secret or content.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use phigate_gateway::{KindState, account_fields, kind_states, profile_name};
use phigate_store::{AdminAdmission, User};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{self, Session};

/// Entries by name, once they are read.
pub(super) type Entries<'a> = BoxFuture<'a, anyhow::Result<Vec<(String, Value)>>>;

/// Entries by the field that names them.
fn named<T: Serialize>(id: &str, entries: &[T]) -> anyhow::Result<Vec<(String, Value)>> {
    let entry = |entry: &T| {
        let value = serde_json::to_value(entry)?;
        let name = value[id].as_str().unwrap_or_default().to_owned();
        Ok((name, value))
    };
    entries.iter().map(entry).collect()
}

/// The accounts: the key's own, or all of them for a key of the installation.
pub(super) fn accounts<'a>(session: &'a Session, admission: &'a AdminAdmission) -> Entries<'a> {
    async {
        let mut accounts = session.vault.accounts.accounts().await?;
        accounts.retain(|account| admission.installation || account.id == admission.account_id);
        named("name", &accounts)
    }
    .boxed()
}

/// The admin keys.
pub(super) fn admin_keys<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async { named("id", &session.vault.admin_keys.list(&key.account_id).await?) }.boxed()
}

/// The allowed values, which are sealed.
pub(super) fn allowed<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        named(
            "id",
            &session.vault.allow_lists.entries(&key.account_id).await?,
        )
    }
    .boxed()
}

/// The targets of exports.
pub(super) fn exports<'a>(session: &'a Session, _: &'a AdminAdmission) -> Entries<'a> {
    async { named("name", &cli::export_rows(session).await?) }.boxed()
}

/// The fallbacks.
pub(super) fn fallbacks<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        let fallbacks = session.vault.accounts.fallbacks(&key.account_id).await?;
        let entry = |(model, targets): (String, Vec<String>)| {
            let value = json!({ "model": model, "targets": targets });
            (model, value)
        };
        Ok(fallbacks.into_iter().map(entry).collect())
    }
    .boxed()
}

/// The groups of keys with their words and keys.
pub(super) fn groups<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        let words = session.vault.accounts.policy(&key.account_id).await?;
        let entry = |name| {
            let keys = words.keys.iter();
            let keys = keys.filter(|(_, key)| key.group.as_ref() == Some(&name));
            let keys: Vec<&String> = keys.map(|(id, _)| id).collect();
            let own = words.groups.get(&name).cloned().unwrap_or_default();
            let value = json!({ "name": name, "words": own, "keys": keys });
            (name.to_string(), value)
        };
        Ok(words.group_names().into_iter().map(entry).collect())
    }
    .boxed()
}

/// The issuers whose tokens act as keys.
pub(super) fn issuers<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async { named("name", &session.vault.issuers.list(&key.account_id).await?) }.boxed()
}

/// The callers' keys.
pub(super) fn keys<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async { named("id", &session.vault.access.api_keys(&key.account_id).await?) }.boxed()
}

/// The kinds of PHI, with their states.
pub(super) fn kinds<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        let settings = session.vault.accounts.kinds(&key.account_id).await?;
        let states = kind_states(&settings).into_iter();
        let entry = |state: KindState| (state.kind.code().to_owned(), state.json());
        Ok(states.map(entry).collect())
    }
    .boxed()
}

/// The account's words of the policy.
pub(super) fn policy<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        let words = session.vault.accounts.policy(&key.account_id).await?;
        Ok(vec![(String::new(), serde_json::to_value(&words.account)?)])
    }
    .boxed()
}

/// The profile of the account.
pub(super) fn profile<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        let settings = session.vault.accounts.kinds(&key.account_id).await?;
        let value = json!({ "profile": profile_name(&settings) });
        Ok(vec![(String::new(), value)])
    }
    .boxed()
}

/// The providers, without secrets.
pub(super) fn providers<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        named(
            "name",
            &session.vault.access.providers(&key.account_id).await?,
        )
    }
    .boxed()
}

/// The open requests to reveal content.
pub(super) fn reveals<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async { named("id", &session.vault.reveals.open(&key.account_id).await?) }.boxed()
}

/// The settings.
pub(super) fn settings<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        let all = cli::stored_settings(session, &key.account_id).await?;
        let entry = |field: phigate_gateway::AccountField| {
            let (name, value) = (field.name(), field.get(&all));
            let value = json!({ "name": name, "value": value, "label": field.label() });
            (name, value)
        };
        Ok(account_fields().map(entry).collect())
    }
    .boxed()
}

/// Single sign-on, without the secret.
pub(super) fn sso<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        let info = session.vault.sign_on.info(&key.account_id).await?;
        let entry = |info| Ok((String::new(), serde_json::to_value(info)?));
        info.into_iter().map(entry).collect()
    }
    .boxed()
}

/// The users, without their passwords. People of an identity provider are named by their id.
pub(super) fn users<'a>(session: &'a Session, key: &'a AdminAdmission) -> Entries<'a> {
    async {
        let users = session.vault.people.users(&key.account_id).await?;
        let entry = |user: User| Ok((user.key().to_owned(), serde_json::to_value(&user)?));
        users.into_iter().map(entry).collect()
    }
    .boxed()
}
