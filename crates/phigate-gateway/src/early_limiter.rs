//! Refuses requests of a key at its limits by their heads, before their bodies are read.

use std::time::Instant;

use phigate_core::doors::Door;
use phigate_edge::{Asked, EarlyLimiter, TurnedAway};
use phigate_store::Access;

use crate::admit::one_key;
use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::refusals::Refused;

impl EarlyLimiter for Gateway {
    fn turn_away(&self, asked: &Asked<'_>) -> Option<TurnedAway> {
        let door = Door::at(asked.path)?;
        let key = one_key(asked.authorization, asked.api_key).ok()?;
        let now = Instant::now();
        // The cheapest check comes first; it passes all requests while no key is at a limit.
        if !self.key_limits.is_at_limit(Access::claimed_id(key)?, now) {
            return None;
        }
        let admission = self.vault.access.admit_at_once(key)?;
        let (account, key_id) = (&admission.account, &admission.key_id);
        let limited = self
            .key_limits
            .room(key_id, &account.settings.limits, now)
            .err()?;
        let error = GatewayError::from(limited);
        let who = Refused {
            account_id: Some(&account.id),
            key_id: Some(key_id),
            client: None,
        };
        self.not_let_in(who, *asked.request_id, &error);
        Some(TurnedAway {
            error: error.body(),
            format: door.errors,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::LazyCell;

    use phigate_core::doors::MESSAGES;
    use phigate_types::{ErrorCode, ErrorFormat};
    use uuid::Uuid;

    use super::*;
    use crate::testing;

    #[tokio::test]
    async fn only_a_key_at_limits_is_refused() {
        let (gateway, _folder) = testing::gateway().await;
        let account = testing::account(&gateway, "default").await;
        let access = &gateway.vault.access;
        let mut keys = Vec::new();
        for name in ["one", "other"] {
            let created = access.create_api_key(&account.id, name, None, "test");
            let key = created.await.unwrap().key;
            // Refusal by head needs a cached admission, so each key is admitted once.
            let admission = access.admit(key.expose()).await.unwrap();
            keys.push((format!("Bearer {}", key.expose()), admission.key_id));
        }
        let turn_away = |path: &str, authorization: &str| {
            gateway.turn_away(&Asked {
                request_id: LazyCell::new(Uuid::now_v7),
                path,
                authorization: Some(authorization),
                api_key: None,
            })
        };
        let [(one, one_id), (other, _)] = &keys[..] else {
            panic!("two keys");
        };
        assert!(turn_away(MESSAGES.path, one).is_none());
        let (limits, now) = (&account.settings.limits, Instant::now());
        let admit = || gateway.key_limits.admit(&account.id, one_id, limits, now);
        let held: Vec<_> = std::iter::from_fn(|| admit().ok()).collect();
        let told = turn_away(MESSAGES.path, one).unwrap();
        assert_eq!(told.format, ErrorFormat::Anthropic);
        assert_eq!(told.error.code, ErrorCode::RateLimitExceeded);
        assert_eq!(told.error.retry_after_s, Some(1));
        assert!(turn_away(MESSAGES.path, other).is_none());
        assert!(turn_away("/v1/models", one).is_none());
        let (forged, _) = one.split_at(one.len() - 1);
        assert!(turn_away(MESSAGES.path, forged).is_none());
        drop(held);
        assert!(turn_away(MESSAGES.path, one).is_none());
    }
}
