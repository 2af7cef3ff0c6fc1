//! Slows down guessing of passwords and codes: after some failures the wait doubles with each further one.
//!
//! Counted in the store, so that it holds on all replicas and over a restart, and before the guess is looked at, so
//! that many guesses at one time are many. What is guessed at is known by a short hash: there are so many counts and
//! no more, and a count does not tell what was typed.

use crate::chain;
use crate::keys::hex;
use crate::store::{Change, Expect, SYSTEM};
use crate::vault::{Vault, body, item, replace};
use crate::{Result, StoreError};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

const GUESSES: &str = "guesses";
const WAIT_MAX_S: i64 = 15 * 60;
/// Failures older than this are forgotten.
const MEMORY: SignedDuration = SignedDuration::from_hours(1);
/// Many people may share an origin: those of one office, or all behind one proxy.
const ORIGIN_PATIENCE: u32 = 10;
/// Attempts to count while others count as well.
const TRIES: usize = 16;
/// 2¹⁸ counts at most.
const HASH_BITS: u32 = 18;

/// Something that is guessed at.
pub(crate) struct Guessed {
    id: String,
    /// How many failures cost nothing, as a multiple of what the settings say.
    patience: u32,
    /// Whether a right guess makes up for the wrong ones before it.
    is_cleared: bool,
}

impl Guessed {
    /// The password of an address.
    pub(crate) fn password(email: &str) -> Self {
        Self::new("email", email, 1, true)
    }

    /// The one-time code of a user.
    pub(crate) fn code(user_id: &str) -> Self {
        Self::new("code", user_id, 1, true)
    }

    /// Anything from one place, which may be guessing at others too.
    pub(crate) fn from_origin(origin: &str) -> Self {
        Self::new("origin", origin, ORIGIN_PATIENCE, false)
    }

    fn new(what: &str, name: &str, patience: u32, is_cleared: bool) -> Self {
        let digest = chain::digest(b"phigate guesses v1", &[what.as_bytes(), name.as_bytes()]);
        let short = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
        let short = short >> (u32::BITS - HASH_BITS);
        Self {
            id: hex(&short.to_be_bytes()),
            patience,
            is_cleared,
        }
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Count {
    failures: u32,
    last: Timestamp,
}

impl Vault {
    /// Counts a guess as failed before it is looked at. `Some` says after how many seconds to come again instead.
    pub(crate) async fn begin_guess(&self, guessed: &[Guessed]) -> Result<Option<u64>> {
        for _ in 0..TRIES {
            let now = self.now();
            let mut changes = Vec::new();
            let mut wait_s = 0;
            for one in guessed {
                let (old, count) = self.count_of(one, now).await?;
                let free = self.login_failures.saturating_mul(one.patience);
                let passed_s = now.duration_since(count.last).as_secs();
                wait_s = wait_s.max(pause_s(count.failures, free) - passed_s);
                let next = Count {
                    failures: count.failures.saturating_add(1),
                    last: now,
                };
                changes.push(match &old {
                    Some(old) => replace(old, &next),
                    None => {
                        Change::Put(item(SYSTEM, GUESSES, &one.id, None, &next), Expect::Absent)
                    }
                });
            }
            if let Some(wait_s) = u64::try_from(wait_s).ok().filter(|wait_s| *wait_s > 0) {
                return Ok(Some(wait_s));
            }
            if self.change_quietly(changes).await? {
                return Ok(None);
            }
        }
        Ok(Some(1))
    }

    /// The guess was right: it was no failure.
    pub(crate) async fn settle_guess(&self, guessed: &[Guessed]) -> Result<()> {
        for _ in 0..TRIES {
            let now = self.now();
            let mut changes = Vec::new();
            for one in guessed {
                let (Some(old), count) = self.count_of(one, now).await? else {
                    continue;
                };
                let failures = if one.is_cleared {
                    0
                } else {
                    count.failures.saturating_sub(1)
                };
                changes.push(replace(&old, &Count { failures, ..count }));
            }
            if self.change_quietly(changes).await? {
                return Ok(());
            }
        }
        Err(StoreError::Conflict("count of failed logins"))
    }

    async fn count_of(
        &self,
        guessed: &Guessed,
        now: Timestamp,
    ) -> Result<(Option<crate::store::Item>, Count)> {
        let none = Count {
            failures: 0,
            last: now,
        };
        let Some(item) = self.store.item(SYSTEM, GUESSES, &guessed.id).await? else {
            return Ok((None, none));
        };
        let count: Count = body(&item, "count of failed logins")?;
        let is_fresh = now.duration_since(count.last) < MEMORY;
        Ok((Some(item), if is_fresh { count } else { none }))
    }
}

/// Seconds to wait after so many failures.
fn pause_s(failures: u32, free: u32) -> i64 {
    match failures.checked_sub(free) {
        None => 0,
        Some(more) => (1 << more.min(16)).min(WAIT_MAX_S),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_failures_are_free_and_then_the_wait_doubles() {
        let pauses = [0, 4, 5, 6, 9, 60].map(|failures| pause_s(failures, 5));
        assert_eq!(pauses, [0, 0, 1, 2, 16, WAIT_MAX_S]);
    }

    #[test]
    fn what_is_guessed_at_is_told_apart_and_not_told() {
        let one = Guessed::password("jane@example.org");
        assert_ne!(one.id, Guessed::password("john@example.org").id);
        assert_ne!(one.id, Guessed::code("jane@example.org").id);
        assert_eq!(one.id.len(), 8);
    }
}
