//! Trial of other words of a policy on past requests: findings and requests that they would treat differently.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use phigate_core::doors::{CHAT, Door};
use phigate_core::protect::{Scanner, scan};
use phigate_core::request::Request;
use phigate_store::{
    Account, Decision, Detection, PolicyLevel, PolicyWords, Replay, SecretBytes, StoreError,
    WordChanges,
};
use phigate_types::{Documents, Finding, Mode, PhiAgreement, Policy, Word};
use uuid::Uuid;

use crate::documents::Readers;
use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::scan_job::on_its_own_thread;
use crate::scanners::scanner_of_all;
use crate::settings::{Kinds, SettingError, Weaker, changed_policy};

/// Changes of words, by level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LevelChanges {
    /// Changes of the account's words.
    pub account: WordChanges,
    /// Changes of the words of groups.
    pub groups: BTreeMap<String, WordChanges>,
    /// Changes of the words of keys.
    pub keys: BTreeMap<String, WordChanges>,
}

impl LevelChanges {
    /// The levels that change, the account first.
    pub fn levels(&self) -> impl Iterator<Item = (PolicyLevel<'_>, &WordChanges)> {
        let own = (PolicyLevel::Account, &self.account);
        let groups = self.groups.iter();
        let groups = groups.map(|(name, words)| (PolicyLevel::Group(name), words));
        let keys = self.keys.iter();
        let keys = keys.map(|(id, words)| (PolicyLevel::Key(id), words));
        let all = [own].into_iter().chain(groups).chain(keys);
        all.filter(|(_, words)| !words.is_empty())
    }

    /// The words of all levels, for the record.
    pub fn text(&self) -> String {
        let said = self.levels().map(|(level, words)| {
            let words = words.iter();
            let words = words.map(|(kind, word)| (kind, word.map_or("inherit", Word::code)));
            let words: Vec<String> = words.map(|(kind, word)| format!("{kind}={word}")).collect();
            format!("{} {}", phigate_types::Level::from(level), words.join(","))
        });
        said.collect::<Vec<_>>().join("; ")
    }

    /// The words after the changes, and the ways in which they protect less. Refuses words that a level may not say.
    pub fn over(
        &self,
        words: &PolicyWords,
        (detection, kinds): (&Detection, &Kinds),
    ) -> Result<(PolicyWords, Vec<Weaker>), SettingError> {
        let (mut after, mut weaker) = (words.clone(), Vec::new());
        for (level, changes) in self.levels() {
            let (changed, less) = changed_policy(&after, (detection, kinds), level, changes)?;
            after = changed;
            weaker.extend(less);
        }
        Ok((after, weaker))
    }
}

/// Kind, old action, new action, key.
type Place = (Cow<'static, str>, &'static str, &'static str, String);

/// Findings that share kind, actions and key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TriedFindings {
    /// Number of findings.
    pub count: usize,
    /// Their requests.
    pub requests: Vec<Uuid>,
}

/// Result of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TriedPolicy {
    /// Findings by kind, old action, new action and key.
    pub findings: BTreeMap<Place, TriedFindings>,
    /// Requests by the strongest action before and after.
    pub requests: BTreeMap<(&'static str, &'static str), usize>,
    /// Whether every past request was tried. Otherwise the time was over before.
    pub is_whole: bool,
}

impl TriedPolicy {
    /// Number of past requests that were tried.
    pub fn tried(&self) -> usize {
        self.requests.values().sum()
    }
}

/// Trial in progress.
pub struct PolicyTrial {
    account: Arc<Account>,
    scanner: Scanner,
    policies: [PolicyWords; 2],
    result: TriedPolicy,
}

impl PolicyTrial {
    /// Begins a trial of words over those of an account.
    pub fn new(
        account: Arc<Account>,
        words: &PolicyWords,
        changes: &LevelChanges,
    ) -> Result<Self, SettingError> {
        let kinds = Kinds::of(&account.recognizers);
        let (after, _) = changes.over(words, (&account.settings.detection, &kinds))?;
        // Kinds that are off now may be on under the other words.
        let scanner = scanner_of_all(&account).map_err(|error| SettingError(error.0))?;
        Ok(Self {
            account,
            scanner,
            policies: [words.clone(), after],
            result: TriedPolicy::default(),
        })
    }

    /// Scans a past request and counts its findings. Waits for the text of its documents.
    pub fn add(&mut self, decision: &Decision, original: &SecretBytes, readers: &Readers) {
        let Some(request) = past_request(decision, original) else {
            return;
        };
        let request = match self.account.settings.documents {
            Documents::Text => readers.read_of(request),
            Documents::Refuse => request,
        };
        let [old, new] = &self
            .policies
            .each_ref()
            .map(|words| policy_of(words, &self.account, decision));
        let scanned = scan(&self.scanner, request);
        let (before, after) = (scanned.report().ruled(old), scanned.report().ruled(new));
        let mut strongest = [Word::Off; 2];
        for (finding, later) in before.iter().zip(after) {
            let words = [word(old, finding), word(new, &later)];
            for (strongest, word) in strongest.iter_mut().zip(words) {
                if word.strength() > strongest.strength() {
                    *strongest = word;
                }
            }
            if words == [Word::Off; 2] {
                continue;
            }
            let [now, then] = words.map(Word::code);
            let place = (finding.kind.clone(), now, then, decision.key_id.clone());
            let row = self.result.findings.entry(place).or_default();
            row.count += 1;
            if row.requests.last() != Some(&decision.request_id) {
                row.requests.push(decision.request_id);
            }
        }
        let [now, then] = strongest.map(Word::code);
        *self.result.requests.entry((now, then)).or_default() += 1;
    }

    /// Ends the trial.
    pub fn finish(self, is_whole: bool) -> TriedPolicy {
        TriedPolicy {
            is_whole,
            ..self.result
        }
    }
}

/// Treatment of a finding. The policy of a past request may have switched its kind off.
fn word(policy: &Policy, found: &Finding) -> Word {
    match policy.is_off(&found.kind) {
        true => Word::Off,
        false => Word::Treat(found.action.unwrap_or_default()),
    }
}

/// The policy for a past request: that of its key and provider, as they are now.
fn policy_of(words: &PolicyWords, account: &Account, decision: &Decision) -> Policy {
    let key = words.at(PolicyLevel::Key(&decision.key_id));
    let policy = key.or_else(|| words.at(PolicyLevel::Account));
    let policy = policy.unwrap_or_else(|| Policy::uniform(account.mode));
    let name = decision.provider.as_deref().unwrap_or_default();
    let provider = account.providers.get(name);
    let agreed = provider.map(|provider| provider.config.phi_now(Timestamp::now()));
    let is_masked = agreed == Some(PhiAgreement::Masked);
    policy.at_provider(name, is_masked.then_some(Mode::MASK))
}

/// Reads a past request as it came.
fn past_request(decision: &Decision, original: &SecretBytes) -> Option<Request> {
    let door = decision.door.as_deref().and_then(Door::with_id);
    let form = door.unwrap_or(&CHAT).form;
    Request::read_again(form, original.expose().to_vec()).ok()
}

/// Reason why a trial has no result.
#[derive(Debug)]
pub enum TrialError {
    /// The words are refused.
    Words(SettingError),
    /// The trail cannot be read.
    Store(StoreError),
    /// No processor was free in time, or the scan failed.
    Scan(GatewayError),
}

impl Gateway {
    /// Tries words on past requests since a time, newest first, for at most `time`. Scans wait for their turns, like
    /// long scans of callers.
    pub async fn try_policy(
        self: &Arc<Self>,
        account: &Arc<Account>,
        changes: &LevelChanges,
        (since, time): (Timestamp, Duration),
        actor: &str,
    ) -> Result<TriedPolicy, TrialError> {
        let started = Instant::now();
        let accounts = &self.vault.accounts;
        let words = accounts.policy(&account.id).await;
        let words = words.map_err(TrialError::Store)?;
        let trial = PolicyTrial::new(Arc::clone(account), &words, changes);
        let mut trial = trial.map_err(TrialError::Words)?;
        let text = changes.text();
        let said = (text.as_str(), actor);
        let replay = Replay::begin(&self.vault.trail, &account.id, since, said).await;
        let mut replay = replay.map_err(TrialError::Store)?;
        while let Some((decision, original)) = replay.next().await.map_err(TrialError::Store)? {
            if started.elapsed() > time {
                return Ok(trial.finish(false));
            }
            let place = self.long_scans.enter(&account.id).await;
            let place = place.map_err(|error| TrialError::Scan(error.into()))?;
            let gateway = Arc::clone(self);
            let added = on_its_own_thread(place, move || {
                trial.add(&decision, &original, &gateway.readers);
                trial
            });
            trial = added
                .await
                .ok_or(TrialError::Scan(GatewayError::DetectorUnavailable))?;
        }
        Ok(trial.finish(true))
    }
}
