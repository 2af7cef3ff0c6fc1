//! Writing the trail: decisions, outcomes, admin acts.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use futures_util::FutureExt;
use jiff::Timestamp;
use phigate_verify::chain::{digest, hex};
use tokio::runtime::Handle;
use tokio::time::Instant;
use uuid::Uuid;

use crate::core::Core;
use crate::keys::seal::{Place, Sealer};
use crate::keys::wrapped::Purpose;
use crate::model::{AdminAct, Identifier, NewAttempt, NewDecision, Outcome, SealedDigests};
use crate::rows::{Contents, LookupCode};
use crate::trail::written::{Durability, Written};
use crate::trail::{SealedReplies, Trail};
use crate::writer::entry;
use crate::writer::job::{Entry, Job, Wait, Waiter};
use crate::{Result, SecretBytes, StoreError};

pub(super) const CONTENT: &str = "audit_content";

/// Content of up to this many bytes is sealed on the thread of the request: half a millisecond or less.
const SEALED_HERE_MAX: usize = 256 * 1024;

impl Trail {
    /// Writes a decision; durable when this returns `Ok`. Nothing may be forwarded before.
    ///
    /// On an error, or when the call is dropped, the request counts as not forwarded: the record is
    /// either not written at all or gets the outcome `audit_unavailable` by itself. After `Ok` the
    /// caller owes exactly one [`record_outcome`](Self::record_outcome) or
    /// [`queue_outcome`](Self::queue_outcome).
    pub async fn record_decision(&self, new: NewDecision, deadline: Duration) -> Result<Written> {
        // Boxed: inline it would enlarge every request's future.
        let recorded = Box::pin(async {
            let entry = self.prepare(new).await?;
            let (waiter, wait) = Waiter::new(false);
            let mut pending = Pending {
                core: &self.core,
                entry: entry.clone(),
                wait,
                told: false,
            };
            self.core
                .writer
                .queue
                .push(Job::of(entry, waiter))
                .map_err(|refused| {
                    pending.told = true;
                    refused.1
                })?;
            let answer = (&mut pending.wait.answer)
                .await
                .unwrap_or(Err(StoreError::Closed));
            pending.told = true;
            answer
        });
        // Dropping the inner future at the deadline abandons the record, see `Pending`.
        let recorded = tokio::time::timeout(deadline, recorded).await;
        recorded.unwrap_or(Err(StoreError::Timeout))?;
        Ok(Written::new(Durability::Durable))
    }

    /// Queues a decision about a clean request in flag mode; waits only for room in the queue.
    ///
    /// It is written soon and never lost on a graceful stop; its outcome is owed as well.
    pub async fn record_decision_lazily(
        &self,
        new: NewDecision,
        deadline: Duration,
    ) -> Result<Written> {
        let end = Instant::now() + deadline;
        let entry = self.prepare_until(end, new).await?;
        self.queue_until(end, Job::of(entry, Waiter::none()))
            .await?;
        Ok(Written::new(Durability::Queued))
    }

    /// Queues a job; waits only for room. The waiting future is made only if the queue is full, which is rare.
    async fn queue_until(&self, end: Instant, job: Job) -> Result<()> {
        let queue = &self.core.writer.queue;
        let Err(refused) = queue.push(job) else {
            return Ok(());
        };
        let (job, _) = *refused;
        let queued = tokio::time::timeout_at(end, Box::pin(queue.push_waiting(job)));
        queued.await.unwrap_or(Err(StoreError::Timeout))
    }

    /// Seals and digests, if there is anything to seal or to hash.
    async fn prepare_until(&self, end: Instant, mut new: NewDecision) -> Result<Arc<Entry>> {
        let is_plain = new.original.is_none() && new.sent.is_none();
        if is_plain && new.identifiers.is_empty() && new.tokens.is_empty() {
            new.decision.sealed = None;
            let (account, id) = (&new.account_id, new.decision.request_id);
            let (contents, codes) = (Contents::default(), Vec::new());
            return Ok(entry::decision(account, id, &new.decision, contents, codes));
        }
        let prepared = tokio::time::timeout_at(end, Box::pin(self.prepare(new)));
        prepared.await.unwrap_or(Err(StoreError::Timeout))
    }

    /// Writes a decision with its outcome, if nothing happens in between: durable when this returns `Ok`, or queued if
    /// that suffices.
    ///
    /// On an error, or when the call is dropped, neither is written, unless it was too late for that. The records then
    /// describe an answer that did not arrive.
    pub async fn record_ended(
        &self,
        new: NewDecision,
        outcome: &Outcome,
        durability: Durability,
        deadline: Duration,
    ) -> Result<()> {
        let end = Instant::now() + deadline;
        let outcome = entry::outcome(&new.account_id, outcome);
        let decision = self.prepare_until(end, new).await?;
        if durability == Durability::Queued {
            let job = Job::ended(decision, outcome, Waiter::none());
            return self.queue_until(end, job).await;
        }
        let recorded = async {
            let (waiter, wait) = Waiter::new(false);
            let mut wait = Abandoned(wait);
            let queue = &self.core.writer.queue;
            let pushed = queue.push(Job::ended(decision, outcome, waiter));
            pushed.map_err(|refused| refused.1)?;
            let answer = (&mut wait.0.answer).await;
            answer.unwrap_or(Err(StoreError::Closed))
        };
        let recorded = tokio::time::timeout_at(end, recorded).await;
        recorded.unwrap_or(Err(StoreError::Timeout))
    }

    /// Writes a further attempt; durable when this returns `Ok`. Nothing may be forwarded to its provider before.
    ///
    /// On an error the attempt counts as not made: the record is missing, or present without an egress.
    pub async fn record_attempt(&self, new: NewAttempt, deadline: Duration) -> Result<Written> {
        let recorded = async {
            let entry = self.prepare_attempt(new).await?;
            let (waiter, wait) = Waiter::new(false);
            let mut wait = Abandoned(wait);
            let pushed = self.core.writer.queue.push(Job::of(entry, waiter));
            pushed.map_err(|refused| refused.1)?;
            let answer = (&mut wait.0.answer).await;
            answer.unwrap_or(Err(StoreError::Closed))
        };
        let recorded = tokio::time::timeout(deadline, recorded).await;
        recorded.unwrap_or(Err(StoreError::Timeout))?;
        Ok(Written::new(Durability::Durable))
    }

    /// Writes an outcome; durable when this returns `Ok`. On an error it stays queued and is
    /// written as soon as the store is back; do not send it again.
    pub async fn record_outcome(
        &self,
        account_id: &str,
        outcome: &Outcome,
        deadline: Duration,
    ) -> Result<()> {
        let (waiter, wait) = Waiter::new(true);
        self.core
            .writer
            .queue
            .push_always(Job::of(entry::outcome(account_id, outcome), waiter));
        match tokio::time::timeout(deadline, wait.answer).await {
            Ok(answer) => answer.unwrap_or(Err(StoreError::Closed)),
            Err(_) => Err(StoreError::Timeout),
        }
    }

    /// Queues an outcome without waiting, for places that cannot wait (a `Drop`).
    pub fn queue_outcome(&self, account_id: &str, outcome: &Outcome) {
        self.core
            .writer
            .queue
            .push_always(Job::of(entry::outcome(account_id, outcome), Waiter::none()));
    }

    /// Writes an admin act that changes nothing in the store: a login, an export, a refused key.
    /// Without an account it belongs to the installation.
    pub async fn record_admin(&self, account_id: Option<&str>, act: &AdminAct) -> Result<()> {
        self.core.record_act(account_id, act).await
    }

    /// Seals and digests in the caller, so that the single writer only chains and inserts. Large content is sealed on a
    /// separate thread, so that other callers need not wait for it.
    async fn prepare(&self, new: NewDecision) -> Result<Arc<Entry>> {
        let bytes =
            |content: &Option<SecretBytes>| content.as_ref().map_or(0, |one| one.expose().len());
        if bytes(&new.original) + bytes(&new.sent) <= SEALED_HERE_MAX {
            return self.prepare_here(new).await;
        }
        let (trail, runtime) = (self.clone(), Handle::current());
        let sealing = move || runtime.block_on(trail.prepare_here(new));
        let sealed = tokio::task::spawn_blocking(sealing).await;
        sealed.unwrap_or(Err(StoreError::Closed))
    }

    async fn prepare_here(&self, mut new: NewDecision) -> Result<Arc<Entry>> {
        let account = new.account_id.as_str();
        // A request has one decision, so its id serves the record as well.
        let id = new.decision.request_id;
        let fields = [
            ("original", new.original.as_ref()),
            ("sent", new.sent.as_ref()),
        ];
        let contents = self.seal(account, new.decision.time, id, fields).await?;
        let mut codes = self.codes_of(account, &new.identifiers).await?;
        codes.extend(new.tokens.iter().map(|name| token_code(name)));
        let digests = SealedDigests {
            identifiers: codes_digest(codes.clone()),
            ..digests(&contents)
        };
        new.decision.sealed = (digests != SealedDigests::default()).then_some(digests);
        Ok(entry::decision(account, id, &new.decision, contents, codes))
    }

    async fn prepare_attempt(&self, mut new: NewAttempt) -> Result<Arc<Entry>> {
        let (account, time, id) = (&new.account_id, new.attempt.time, Uuid::now_v7());
        let fields = [("sent", new.sent.as_ref())];
        let contents = self.seal(account, time, id, fields).await?;
        let digests = digests(&contents);
        new.attempt.sealed = (digests != SealedDigests::default()).then_some(digests);
        Ok(entry::attempt(account, id, &new.attempt, contents))
    }

    /// Seals the content of a record.
    async fn seal<const N: usize>(
        &self,
        account: &str,
        time: Timestamp,
        record: Uuid,
        fields: [(&'static str, Option<&SecretBytes>); N],
    ) -> Result<Contents> {
        let mut contents = Contents::default();
        if fields.iter().all(|(_, content)| content.is_none()) {
            return Ok(contents);
        }
        let (key_id, key) = self
            .core
            .keyring
            .current(account, Purpose::Content, time)
            .await?;
        let mut buffer = Uuid::encode_buffer();
        let name: &str = record.hyphenated().encode_lower(&mut buffer);
        let mut sealer = Sealer::new(&key, key_id);
        for (field, content) in fields {
            let place = Place {
                account,
                table: CONTENT,
                record: name,
                field,
            };
            let sealed = content.map(|content| sealer.seal(place, content.expose()).into());
            match field {
                "original" => contents.original = sealed,
                _ => contents.sent = sealed,
            }
        }
        Ok(contents)
    }

    async fn codes_of(&self, account: &str, identifiers: &[Identifier]) -> Result<Vec<LookupCode>> {
        if identifiers.is_empty() {
            return Ok(Vec::new());
        }
        let key = self.lookup_key(account).await?;
        let code = |one: &Identifier| value_code(&key, one.kind, one.value.expose());
        Ok(identifiers.iter().map(code).collect())
    }

    /// The key identifiers of an account are hashed with.
    pub(super) async fn lookup_key(&self, account: &str) -> Result<hmac::Key> {
        let (_, key) = self
            .core
            .keyring
            .current(account, Purpose::Lookup, self.core.now())
            .await?;
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &*key))
    }
}

impl SealedReplies {
    /// Writes an outcome with the provider's text, sealed beside it. If sealing fails, the outcome is written all the
    /// same and the error is returned.
    pub async fn record_outcome_with_reply(
        &self,
        account_id: &str,
        mut outcome: Outcome,
        reply: &SecretBytes,
        deadline: Duration,
    ) -> Result<()> {
        let id = Uuid::now_v7();
        let sealing = self
            .trail
            .seal(account_id, outcome.time, id, [("original", Some(reply))]);
        let sealed = match tokio::time::timeout(deadline, sealing).await {
            Ok(sealed) => sealed,
            Err(_) => Err(StoreError::Timeout),
        };
        let contents = match sealed {
            Ok(contents) => contents,
            Err(error) => {
                self.trail
                    .record_outcome(account_id, &outcome, deadline)
                    .await?;
                return Err(error);
            }
        };
        outcome.sealed = Some(digests(&contents));
        let (waiter, wait) = Waiter::new(true);
        let entry = entry::outcome_with(account_id, id, &outcome, contents);
        self.trail
            .core
            .writer
            .queue
            .push_always(Job::of(entry, waiter));
        match tokio::time::timeout(deadline, wait.answer).await {
            Ok(answer) => answer.unwrap_or(Err(StoreError::Closed)),
            Err(_) => Err(StoreError::Timeout),
        }
    }

    /// Makes sure that the account's content key is in memory, for a reply that may have to be sealed without waiting.
    pub async fn prepare_to_seal(&self, account_id: &str) -> Result<()> {
        let core = &self.trail.core;
        let now = core.now();
        let key = core
            .keyring
            .current(account_id, Purpose::Content, now)
            .await;
        key.map(|_| ())
    }

    /// Queues an outcome with the provider's text, without waiting. If the account's content key is no longer in
    /// memory, see [`prepare_to_seal`](Self::prepare_to_seal), the outcome is queued without the reply.
    pub fn queue_outcome_with_reply(
        &self,
        account_id: &str,
        mut outcome: Outcome,
        reply: &SecretBytes,
    ) {
        let id = Uuid::now_v7();
        let sealing = self
            .trail
            .seal(account_id, outcome.time, id, [("original", Some(reply))]);
        let Some(Ok(contents)) = sealing.now_or_never() else {
            return self.trail.queue_outcome(account_id, &outcome);
        };
        outcome.sealed = Some(digests(&contents));
        let entry = entry::outcome_with(account_id, id, &outcome, contents);
        let queue = &self.trail.core.writer.queue;
        queue.push_always(Job::of(entry, Waiter::none()));
    }
}

/// Digests of sealed content, as its record names them.
pub(crate) fn digests(contents: &Contents) -> SealedDigests {
    let digest = |sealed: &Option<Arc<[u8]>>| {
        let sealed = sealed.as_deref()?;
        Some(hex(&digest(b"phigate sealed v1", &[sealed])))
    };
    SealedDigests {
        original: digest(&contents.original),
        sent: digest(&contents.sent),
        identifiers: None,
    }
}

/// Digest of the codes by which a request can be looked up, regardless of their order; `None` without codes.
pub(super) fn codes_digest(mut codes: Vec<LookupCode>) -> Option<String> {
    codes.sort_unstable();
    codes.dedup();
    let all = codes.as_flattened();
    (!all.is_empty()).then(|| hex(&digest(b"phigate tokens v1", &[all])))
}

/// Keyed hash of an identifier; without the key an SSN could be found by trying all of them.
pub(crate) fn value_code(key: &hmac::Key, kind: &str, value: &str) -> LookupCode {
    let mut context = hmac::Context::with_key(key);
    context.update(kind.as_bytes());
    context.update(&[0]);
    context.update(value.as_bytes());
    context.sign().as_ref()[..16]
        .try_into()
        .expect("sixteen bytes were taken")
}

/// Code of a token: the end of its name, which is unique. It is a keyed code already, and every request that masks has
/// dozens, so it is not hashed again.
pub(super) fn token_code(name: &str) -> LookupCode {
    let mut code = LookupCode::default();
    let end = name.as_bytes();
    let end = &end[end.len().saturating_sub(code.len())..];
    code[..end.len()].copy_from_slice(end);
    code
}

/// A record that is abandoned on drop: it is not written, unless that has happened already.
struct Abandoned(Wait);

impl Drop for Abandoned {
    fn drop(&mut self) {
        let _ = self.0.abandon();
    }
}

/// A decision that a caller waits for. If dropped before the result was taken, it makes sure that a written record does
/// not look like a request under way.
struct Pending<'a> {
    core: &'a Core,
    entry: Arc<Entry>,
    wait: Wait,
    told: bool,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.told || self.wait.abandon() {
            return;
        }
        // The writer settled it in the last instant; a written decision will not be acted upon.
        if self.wait.settled().is_ok() {
            self.core.writer.not_forwarded(&self.entry);
        }
    }
}
