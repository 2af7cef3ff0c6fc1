//! Users who gave the right password and have not given the one-time code yet. Kept in the store, because the code may
//! reach a different replica.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::random_id;
use crate::model::User;
use crate::people::People;
use crate::people::sessions::token_hash;
use crate::people::throttle::{Begun, Guess};
use crate::people::users::{UserBody, public};
use crate::{Result, StoreError};

/// Time allowed for the one-time code.
const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

#[derive(Serialize, Deserialize)]
struct HalfwayBody {
    user: String,
    since: Timestamp,
}

impl People {
    /// Stores for `PATIENCE` that the holder of this token gave a user's password.
    pub async fn begin_second_step(&self, token: &str, user: &User) -> Result<()> {
        let now = self.core.now();
        let lookup = token_hash(token);
        let mut changes = Vec::new();
        for old in self
            .core
            .guard()
            .items(&user.account_id, ItemKind::Halfway)
            .await?
        {
            let known: HalfwayBody = old.read()?;
            if now.duration_since(known.since) >= PATIENCE || old.lookup.as_ref() == Some(&lookup) {
                changes.push(old.deleted());
            }
        }
        let stored = HalfwayBody {
            user: user.id.clone(),
            since: now,
        };
        let new = Item::new(
            &user.account_id,
            ItemKind::Halfway,
            &random_id(12),
            Some(&lookup),
            &stored,
        );
        changes.push(Change::Put(new, Expect::Absent));
        if self.core.change_quietly(changes).await? {
            Ok(())
        } else {
            Err(StoreError::Conflict(ItemKind::Halfway.label()))
        }
    }

    /// The user who gave the password with this token, unless the time for the code is over.
    pub async fn second_step(&self, token: &str) -> Result<Option<User>> {
        let Some(found) = self
            .core
            .guard()
            .find(ItemKind::Halfway, &token_hash(token))
            .await?
        else {
            return Ok(None);
        };
        let known: HalfwayBody = found.read()?;
        if self.core.now().duration_since(known.since) >= PATIENCE {
            return Ok(None);
        }
        let user = self
            .core
            .guard()
            .item(&found.account, ItemKind::User, &known.user)
            .await?;
        user.map(|user| Ok(public(&user, &user.read::<UserBody>()?)))
            .transpose()
    }

    /// Counts a one-time code before it is verified. `Some`: throttled, with the seconds to wait.
    pub async fn begin_code(&self, user: &User) -> Result<Option<u64>> {
        match self.begin_guess(&self.code_guess(user)).await? {
            Begun::Counted { .. } => Ok(None),
            Begun::Wait(wait_s) => Ok(Some(wait_s)),
        }
    }

    /// Ends the second step after a correct code.
    pub async fn end_second_step(&self, token: &str, user: &User) -> Result<()> {
        self.settle_guess(&self.code_guess(user)).await?;
        if let Some(found) = self
            .core
            .guard()
            .find(ItemKind::Halfway, &token_hash(token))
            .await?
        {
            // A concurrent removal has the same effect.
            self.core.change_quietly(vec![found.deleted()]).await?;
        }
        Ok(())
    }

    fn code_guess(&self, user: &User) -> Guess {
        Guess::code(&self.core.keyring.root.guesses, &user.id)
    }
}
