//! Recent requests, as alerts look at them: from the counters of this hour and the one before.

use std::collections::BTreeSet;

use super::Alerts;
use crate::Result;
use crate::rows::Names;
use crate::writer::entry::hour;

/// Group of the counters of requests with PHI by key.
const BY_KEY: &str = "key_phi:";

/// Counts of the requests of this hour and the one before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recent {
    /// Number of requests.
    pub requests: u64,
    /// Requests that were blocked.
    pub blocked: u64,
    /// Keys that sent PHI.
    pub keys_with_phi: BTreeSet<String>,
}

impl Alerts {
    /// Counts recent requests of an account. `blocked` is the code of the action.
    pub async fn recent(&self, account_id: &str, blocked: &str) -> Result<Recent> {
        let first = hour(self.core.now().as_microsecond()) - 1;
        let mut recent = Recent::default();
        for (_, name, count) in self.core.store.counters(account_id, first).await? {
            let count = count.cast_unsigned();
            match name.split_once(':') {
                None if name == "requests" => recent.requests += count,
                Some(("action", action)) if action == blocked => recent.blocked += count,
                Some(_) => {
                    let key = name.strip_prefix(BY_KEY).map(str::to_owned);
                    recent.keys_with_phi.extend(key);
                }
                None => {}
            }
        }
        Ok(recent)
    }

    /// Whether a key sent PHI for the first time in this hour or the one before.
    pub async fn is_new_with_phi(&self, account_id: &str, key_id: &str) -> Result<bool> {
        let name = Names::one(format!("{BY_KEY}{key_id}"));
        let first = self.core.store.first_hour(account_id, &name).await?;
        let recent = hour(self.core.now().as_microsecond()) - 1;
        Ok(first.is_some_and(|first| first >= recent))
    }
}
