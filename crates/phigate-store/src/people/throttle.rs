//! Slows down guessing of passwords and codes, without letting strangers lock a user out.
//!
//! A user has to wait because of failures at one address *from one place*: an origin on the network, or a browser that
//! signed in there before. Only guesses from that place raise its count. Two wider counts, one per address over all
//! origins and one per origin over all addresses, never refuse a guess by themselves: while one of them is high, a
//! place gets a single failure without delay instead of several.
//!
//! Guesses at one address from many origins are slowed before that: once the address has some failures, an origin
//! without a success for it waits before its first guess. Each origin waits by itself, so that the owner of the
//! password gets in from a new place too, only later. Origins and browsers with a success go on as before.
//!
//! Counts are kept in the store, so that they hold on all replicas and over a restart, and each guess is counted before
//! it is checked, so that concurrent guesses all count. A count is named by a keyed digest: colliding names cannot be
//! constructed, and a count does not show what was typed. Counts expire, and there is a limit to their number.

use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, Ordering};

use aws_lc_rs::hmac;
use jiff::{SignedDuration, Timestamp};
use phigate_verify::chain::hex;
use serde::{Deserialize, Serialize};

use crate::item::{Change, Expect, Item, ItemKind};
use crate::people::People;
use crate::store::SYSTEM;
use crate::{Result, StoreError};

const WAIT_MAX_S: i64 = 15 * 60;
/// Age at which failures expire.
const MEMORY: SignedDuration = SignedDuration::from_hours(1);
/// A wide count is high at this multiple of the failures allowed from one place.
const WIDE: u32 = 10;
/// An address is guessed at when it has this many times the failures that one place may have.
const GUESSED: u32 = 4;
/// Failures that a new origin of such an address begins with, besides its free one.
const HELD: u32 = 5;
/// Time for which an origin is known after a success.
const KNOWN: SignedDuration = SignedDuration::from_hours(24 * 30);
/// Attempts to count while other processes count as well.
const TRIES: usize = 16;
/// Interval between removals of expired counts.
const SWEEP_S: i64 = 10 * 60;
/// Counts kept at most; beyond that those go first that expire first.
const COUNTS_MAX: usize = 50_000;
/// Counts removed per commit.
const BATCH: usize = 200;

/// The name of a count.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name(String);

/// A guessed secret, with the place of the guess.
#[derive(Debug, Clone)]
pub(super) struct Guess {
    /// The count that can delay this place.
    place: Name,
    /// Counts over many places, which only reduce the failures without delay.
    wide: Vec<Name>,
    /// Names that are kept after a success from an origin; `None` for places that only their owner can use.
    known: Option<Known>,
}

/// Names that show whether a place is known to an address.
#[derive(Debug, Clone)]
struct Known {
    /// Kept after a success.
    place: Name,
    /// The count of the address over all origins.
    address: Name,
}

/// Standing of a place with the address that is guessed at from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// A success there is remembered, or the address is not guessed at.
    Known,
    /// One more failure, and the address is guessed at.
    LastUnguarded,
    /// No success there is remembered, and the address is guessed at.
    Stranger,
}

/// Result of counting a guess before it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    /// A failure, until the guess is [settled](People::settle_guess).
    Counted {
        /// Whether the address counts as guessed at, this guess included.
        is_guessed_at: bool,
    },
    /// Seconds after which the guess may be made again.
    Wait(u64),
}

impl Guess {
    /// A guess at the password of an address, from an origin.
    pub(super) fn login(key: &hmac::Key, email: &str, origin: &str) -> Self {
        let origin = network(origin);
        let address = name(key, "address", &[email]);
        Self {
            place: name(key, "login", &[email, &origin]),
            wide: vec![address.clone(), name(key, "origin", &[&origin])],
            known: Some(Known {
                place: name(key, "known", &[email, &origin]),
                address,
            }),
        }
    }

    /// A guess at the password of an address, from a browser that signed in there before. Strangers cannot raise this
    /// count.
    pub(super) fn login_on_device(key: &hmac::Key, email: &str, device: &str) -> Self {
        Self::of(name(key, "device", &[email, device]))
    }

    /// A guess at the password of a signed-in user. Only the user's sessions can raise this count.
    pub(super) fn confirmation(key: &hmac::Key, user_id: &str) -> Self {
        Self::of(name(key, "confirmation", &[user_id]))
    }

    /// A guess at a user's one-time code, which is possible only after the password.
    pub(super) fn code(key: &hmac::Key, user_id: &str) -> Self {
        Self::of(name(key, "code", &[user_id]))
    }

    fn of(place: Name) -> Self {
        Self {
            place,
            wide: Vec::new(),
            known: None,
        }
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Count {
    failures: u32,
    last: Timestamp,
    /// Whether this is a place with a success instead of a count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_known: bool,
}

impl Count {
    fn new(failures: u32, last: Timestamp) -> Self {
        Self {
            failures,
            last,
            is_known: false,
        }
    }

    fn memory(&self) -> SignedDuration {
        if self.is_known { KNOWN } else { MEMORY }
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        now.duration_since(self.last) >= self.memory()
    }

    /// Time until it expires.
    fn left(&self, now: Timestamp) -> SignedDuration {
        self.memory() - now.duration_since(self.last)
    }
}

/// Time of this process's last removal of expired counts, in Unix seconds.
#[derive(Default)]
pub(super) struct Sweeper(AtomicI64);

impl Sweeper {
    /// Whether a removal is due; true for one caller only.
    fn is_due(&self, now: Timestamp) -> bool {
        let (last, now_s) = (self.0.load(Ordering::Relaxed), now.as_second());
        (now_s - last).abs() >= SWEEP_S
            && self
                .0
                .compare_exchange(last, now_s, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

impl People {
    /// Counts a guess as failed before it is checked.
    pub(super) async fn begin_guess(&self, guess: &Guess) -> Result<Begun> {
        if self.sweeper.is_due(self.core.now()) {
            self.sweep_guesses().await?;
        }
        for _ in 0..TRIES {
            let now = self.core.now();
            let place = self.count(&guess.place, now).await?;
            let mut changes = vec![one_more(&guess.place, &place, now)];
            let standing = self.standing(guess, now).await?;
            let mut free = match standing {
                Standing::Stranger => 1,
                Standing::Known | Standing::LastUnguarded => self.login_failures,
            };
            if standing == Standing::Stranger && place.1.failures == 0 {
                let held = Count::new(free + HELD, now);
                let change = put(&guess.place, place.0.as_ref(), &held);
                if self.core.change_quietly(vec![change]).await? {
                    let wait_s = u64::try_from(pause_s(held.failures, free)).unwrap_or(0);
                    return Ok(Begun::Wait(wait_s));
                }
                continue;
            }
            for name in &guess.wide {
                let wide = self.count(name, now).await?;
                if wide.1.failures >= self.login_failures.saturating_mul(WIDE) {
                    free = free.min(1);
                }
                changes.push(one_more(name, &wide, now));
            }
            let passed_s = now.duration_since(place.1.last).as_secs();
            let wait_s = u64::try_from(pause_s(place.1.failures, free) - passed_s).unwrap_or(0);
            if wait_s > 0 {
                return Ok(Begun::Wait(wait_s));
            }
            if self.core.change_quietly(changes).await? {
                return Ok(Begun::Counted {
                    is_guessed_at: standing == Standing::LastUnguarded,
                });
            }
        }
        Ok(Begun::Wait(1))
    }

    /// Looks up the standing of a place with an address that may be guessed at.
    async fn standing(&self, guess: &Guess, now: Timestamp) -> Result<Standing> {
        let Some(known) = &guess.known else {
            return Ok(Standing::Known);
        };
        let failures = self.count(&known.address, now).await?.1.failures;
        let guessed = self.login_failures.saturating_mul(GUESSED);
        if failures.saturating_add(1) == guessed {
            return Ok(Standing::LastUnguarded);
        }
        if failures < guessed || self.count(&known.place, now).await?.1.is_known {
            return Ok(Standing::Known);
        }
        Ok(Standing::Stranger)
    }

    /// The guess was right: its place is known and starts afresh, and it was not a failure anywhere.
    pub(super) async fn settle_guess(&self, guess: &Guess) -> Result<()> {
        for _ in 0..TRIES {
            let now = self.core.now();
            let mut changes = Vec::new();
            if let (Some(old), _) = self.count(&guess.place, now).await? {
                changes.push(old.deleted());
            }
            if let Some(known) = &guess.known {
                let known_place = self.count(&known.place, now).await?;
                let success = Count {
                    is_known: true,
                    ..Count::new(0, now)
                };
                changes.push(put(&known.place, known_place.0.as_ref(), &success));
            }
            for name in &guess.wide {
                if let (Some(old), count) = self.count(name, now).await? {
                    let failures = count.failures.saturating_sub(1);
                    changes.push(old.replaced_by(&Count { failures, ..count }));
                }
            }
            if self.core.change_quietly(changes).await? {
                return Ok(());
            }
        }
        Err(StoreError::Conflict(ItemKind::Guesses.label()))
    }

    async fn count(&self, name: &Name, now: Timestamp) -> Result<(Option<Item>, Count)> {
        let none = Count::new(0, now);
        let Some(item) = self
            .core
            .guard()
            .item(SYSTEM, ItemKind::Guesses, &name.0)
            .await?
        else {
            return Ok((None, none));
        };
        let count: Count = item.read()?;
        let count = if count.is_expired(now) { none } else { count };
        Ok((Some(item), count))
    }

    /// Removes expired counts, and those that expire first when there are too many.
    async fn sweep_guesses(&self) -> Result<()> {
        let now = self.core.now();
        let mut counts = Vec::new();
        for item in self
            .core
            .store
            .items(Some(SYSTEM), ItemKind::Guesses)
            .await?
        {
            let count: Count = item.read()?;
            counts.push((count, item));
        }
        counts.sort_by_key(|(count, _)| count.left(now));
        let expired = counts.partition_point(|(count, _)| count.is_expired(now));
        let gone = expired.max(counts.len().saturating_sub(COUNTS_MAX));
        for some in counts[..gone].chunks(BATCH) {
            // If another replica was faster, the next removal deletes the rest.
            self.core
                .change_quietly(some.iter().map(|(_, item)| item.deleted()).collect())
                .await?;
        }
        Ok(())
    }
}

fn one_more(name: &Name, stored: &(Option<Item>, Count), now: Timestamp) -> Change {
    let next = Count::new(stored.1.failures.saturating_add(1), now);
    put(name, stored.0.as_ref(), &next)
}

fn put(name: &Name, old: Option<&Item>, next: &Count) -> Change {
    match old {
        Some(old) => old.replaced_by(next),
        None => Change::Put(
            Item::new(SYSTEM, ItemKind::Guesses, &name.0, None, next),
            Expect::Absent,
        ),
    }
}

/// Delay in seconds after this many failures.
fn pause_s(failures: u32, free: u32) -> i64 {
    match failures.checked_sub(free) {
        None => 0,
        Some(more) => (1 << more.min(16)).min(WAIT_MAX_S),
    }
}

fn name(key: &hmac::Key, what: &str, parts: &[&str]) -> Name {
    let mut context = hmac::Context::with_key(key);
    for part in std::iter::once(&what).chain(parts) {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    Name(hex(context.sign().as_ref()))
}

/// The network of an origin. All of a household's 2⁶⁴ IPv6 addresses are one place.
fn network(origin: &str) -> String {
    match origin.parse().map(|address: IpAddr| address.to_canonical()) {
        Ok(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
        Ok(IpAddr::V4(address)) => address.to_string(),
        Err(_) => origin.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &[7; 32])
    }

    #[test]
    fn delay_doubles_after_free_failures() {
        let pauses = [0, 4, 5, 6, 9, 60].map(|failures| pause_s(failures, 5));
        assert_eq!(pauses, [0, 0, 1, 2, 16, WAIT_MAX_S]);
    }

    #[test]
    fn counts_are_separate_and_anonymous() {
        let places = [
            Guess::login(&key(), "jane@example.org", "192.0.2.1"),
            Guess::login(&key(), "jane@example.org", "192.0.2.2"),
            Guess::login(&key(), "john@example.org", "192.0.2.1"),
            Guess::login(&key(), "jane@example.org1", "92.0.2.1"),
            Guess::login_on_device(&key(), "jane@example.org", "192.0.2.1"),
            Guess::confirmation(&key(), "jane@example.org"),
            Guess::code(&key(), "jane@example.org"),
        ];
        for (at, one) in places.iter().enumerate() {
            assert_eq!(one.place.0.len(), 64, "a whole digest");
            for other in &places[..at] {
                assert_ne!(one.place, other.place);
            }
        }
        let other_key = hmac::Key::new(hmac::HMAC_SHA256, &[8; 32]);
        assert_ne!(
            Guess::code(&key(), "u").place,
            Guess::code(&other_key, "u").place
        );
    }

    #[test]
    fn an_origin_is_its_network() {
        for (one, other, is_same) in [
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true),
            ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
        ] {
            assert_eq!(network(one) == network(other), is_same, "{one} {other}");
        }
    }
}
