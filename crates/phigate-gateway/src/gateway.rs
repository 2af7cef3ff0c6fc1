//! Shared state of the gateway: store, detectors, connections to providers, limits.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use phigate_core::json::Bounds;
use phigate_core::request::RequestLimits;
use phigate_edge::{Drain, PerThread};
use phigate_store::Vault;
use phigate_types::Limits;
use tokio::sync::Semaphore;

use crate::documents::{self, Readers};
use crate::issuer_keys::IssuerKeys;
use crate::key_limits::{BadKeys, KeyLimits};
use crate::long_scans::LongScans;
use crate::metrics::Metrics;
use crate::provider::{BaseUrls, Provider, Rest, RootsError, SetupRules};
use crate::refusals::Refusals;
use crate::scanners::Scanners;
use crate::short_scans::ShortScans;
use crate::telemetry::Telemetry;

/// The one way from callers, and from the dashboard, to detectors and providers.
pub struct Gateway {
    pub(crate) vault: Arc<Vault>,
    pub(crate) provider: Provider,
    /// Providers that keep failing.
    pub(crate) rest: Rest,
    pub(crate) key_limits: KeyLimits,
    /// Keys of the issuers of callers' tokens.
    pub(crate) issuer_keys: IssuerKeys,
    pub(crate) bad_keys: BadKeys,
    /// Attempts to sign in with an identity provider.
    pub(crate) sign_ons: BadKeys,
    /// Counts of refused requests, until they are recorded.
    pub(crate) refusals: Refusals,
    /// Accounts whose requests could not be recorded, until an alert says so.
    unrecorded: Mutex<BTreeSet<String>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) drain: Drain,
    /// Places for long scans, shared fairly. With more at work than there are processors, short requests would wait.
    pub(crate) long_scans: Arc<LongScans>,
    /// Turns of short scans on each thread, shared fairly too.
    pub(crate) short_scans: PerThread<Arc<ShortScans>>,
    /// Readers of documents.
    pub(crate) readers: Readers,
    /// Room for the text of documents.
    pub(crate) text_room: Arc<Semaphore>,
    pub(crate) scanners: Scanners,
    pub(crate) limits: Limits,
    pub(crate) allow_private_providers: bool,
    pub(crate) base_urls: BaseUrls,
    /// Telemetry for the operator's collector, if there is one.
    pub(crate) telemetry: OnceLock<Arc<Telemetry>>,
    allow_ambient_credentials: bool,
}

impl Gateway {
    /// Puts the parts together. No connection is opened before a request needs one.
    pub fn new(
        limits: &Limits,
        providers: ProviderSettings<'_>,
        vault: Arc<Vault>,
        metrics: Arc<Metrics>,
        drain: Drain,
    ) -> Result<Arc<Self>, RootsError> {
        let now = Instant::now();
        let provider = Provider::new(limits, providers.rules(), providers.ca_file)?;
        Ok(Arc::new(Self {
            issuer_keys: IssuerKeys::new(provider.fetcher()),
            provider,
            rest: Rest::default(),
            key_limits: KeyLimits::new(limits, now),
            bad_keys: BadKeys::new(limits, now),
            sign_ons: BadKeys::new(limits, now),
            refusals: Refusals::default(),
            unrecorded: Mutex::default(),
            vault,
            metrics,
            drain,
            long_scans: LongScans::new(
                limits.scan_queue as usize,
                Duration::from_millis(limits.scan_wait_ms),
            ),
            short_scans: PerThread::new(ShortScans::new),
            readers: Readers::of_this_program(limits.documents as usize),
            text_room: Arc::new(Semaphore::new(documents::ROOM)),
            scanners: Scanners::new(limits.record_findings as usize),
            limits: *limits,
            allow_private_providers: providers.allow_private,
            base_urls: BaseUrls::new(providers.allow_private),
            telemetry: OnceLock::new(),
            allow_ambient_credentials: providers.allow_ambient,
        }))
    }

    /// Says between how many processes the limits of a key are shared now.
    pub fn share_key_limits(&self, replicas: usize) {
        self.key_limits.share_between(replicas);
    }

    /// Notes that a request of an account could not be recorded.
    pub(crate) fn note_unrecorded(&self, account_id: &str) {
        let unrecorded = self.unrecorded.lock();
        let mut unrecorded = unrecorded.unwrap_or_else(PoisonError::into_inner);
        if !unrecorded.contains(account_id) {
            unrecorded.insert(account_id.to_owned());
        }
    }

    /// Takes the ids of the accounts whose requests could not be recorded since the last call.
    pub fn take_unrecorded(&self) -> BTreeSet<String> {
        let unrecorded = self.unrecorded.lock();
        std::mem::take(&mut *unrecorded.unwrap_or_else(PoisonError::into_inner))
    }

    /// Records the number of refused requests by key and minute: finished minutes, or all when the gateway stops.
    pub async fn record_refusals(&self, is_stopping: bool) {
        self.refusals.record(&self.vault.trail, is_stopping).await;
    }

    /// The operator's rules for providers that an owner sets up.
    pub fn setup_rules(&self) -> SetupRules {
        SetupRules {
            allow_private: self.allow_private_providers,
            allow_ambient: self.allow_ambient_credentials,
        }
    }

    /// The limits of a request's shape.
    pub(crate) fn request_limits(&self) -> RequestLimits {
        let limits = &self.limits;
        RequestLimits {
            json: Bounds {
                depth_max: limits.json_depth as usize,
                values_max: limits.json_values as usize,
            },
            fields_max: limits.fields as usize,
            messages_max: limits.messages as usize,
            parts_max: limits.parts as usize,
            tools_max: limits.tools as usize,
        }
    }

    /// Timeout of writing a record.
    pub(crate) fn record_deadline(&self) -> Duration {
        Duration::from_millis(self.limits.decision_ms)
    }
}

/// The operator's settings for providers.
#[derive(Debug, Clone, Copy)]
pub struct ProviderSettings<'a> {
    /// Whether they may be on private addresses and plain http.
    pub allow_private: bool,
    /// Whether the machine's own identity may be shown to them.
    pub allow_ambient: bool,
    /// Further certificate authorities.
    pub ca_file: Option<&'a Path>,
}

impl ProviderSettings<'_> {
    fn rules(self) -> SetupRules {
        SetupRules {
            allow_private: self.allow_private,
            allow_ambient: self.allow_ambient,
        }
    }
}
