//! What a running gateway holds: settings, store, detector, providers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use phi_detect::{Detector, PhiKind};
use phigate_core::chat::ChatLimits;
use phigate_core::json::Bounds;
use phigate_core::protect::{self, Scanner};
use phigate_core::text::PhiText;
use phigate_store::{Account, Options, Settings, Target, Vault};
use phigate_types::Mode;

use crate::config::{self, Config};
use crate::error::GatewayError;
use crate::metrics::Metrics;
use crate::pipeline::ScanQueue;
use crate::provider::Provider;
use crate::scan_memory::Memory;
use crate::server::{BadKeys, Drain, KeyLimits};

/// Texts whose findings are remembered, per account.
const REMEMBERED_TEXTS: usize = 4096;

/// Accounts whose scanners are kept; beyond this, all are made anew.
const SCANNERS_MAX: usize = 1024;

/// How long a stopping process waits for its last records to be written.
pub(crate) const CLOSING: Duration = Duration::from_secs(20);

/// What a process opens the store for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// One command.
    Command,
    /// Answering requests: it also closes what ended processes left open.
    Server,
}

/// Opens the store that the settings name, making it when there is none.
pub(crate) async fn open_vault(config: &Config, role: Role) -> anyhow::Result<Vault> {
    Ok(Vault::open(vault_options(config, role)).await?)
}

/// Where the store is and how it is opened, as the settings say.
pub(crate) fn vault_options(config: &Config, role: Role) -> Options {
    let target = match &config.database_url {
        Some(url) => Target::Url(url.expose().to_owned()),
        None => Target::Folder(config.data.clone()),
    };
    let master_key = match &config.master_key {
        config::MasterKeySource::File(path) => phigate_store::MasterKeySource::File(path.clone()),
        config::MasterKeySource::Env(name) => phigate_store::MasterKeySource::Env(name.clone()),
        config::MasterKeySource::Command(command) => {
            phigate_store::MasterKeySource::Command(command.clone())
        }
    };
    Options {
        serve: role == Role::Server,
        login_failures: u32::try_from(config.limits.login_failures).unwrap_or(u32::MAX),
        ..Options::new(target, master_key)
    }
}

/// Everything that answering a request needs.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) vault: Vault,
    pub(crate) provider: Provider,
    pub(crate) key_limits: KeyLimits,
    pub(crate) bad_keys: BadKeys,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) drain: Drain,
    /// Places for long scans, shared fairly. With more at work than there are processors, short requests would wait.
    pub(crate) long_scans: Arc<ScanQueue>,
    scanners: Mutex<HashMap<String, (Settings, Arc<Scanner>)>>,
}

impl App {
    /// Puts the parts together.
    pub(crate) fn new(
        config: Config,
        vault: Vault,
        metrics: Arc<Metrics>,
        drain: Drain,
    ) -> anyhow::Result<Self> {
        let ca_file = config.provider_ca_file.as_deref();
        let provider = Provider::new(&config.limits, config.allow_private_providers, ca_file)
            .context("cannot prepare connections to providers")?;
        let now = Instant::now();
        let long_scans = ScanQueue::new(
            config.limits.scan_queue as usize,
            Duration::from_millis(config.limits.scan_wait_ms),
        );
        Ok(Self {
            key_limits: KeyLimits::new(&config.limits, now),
            bad_keys: BadKeys::new(&config.limits, now),
            config,
            vault,
            provider,
            metrics,
            drain,
            long_scans,
            scanners: Mutex::default(),
        })
    }

    /// The scanner of an account: its own settings and its own memory, so that one account's texts tell another nothing.
    pub(crate) fn scanner(&self, account: &Account) -> Result<Arc<Scanner>, GatewayError> {
        let mut scanners = self.scanners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((settings, scanner)) = scanners.get(&account.id)
            && has_same_detection(settings, &account.settings)
        {
            return Ok(Arc::clone(scanner));
        }
        let detector =
            detector(&account.settings).map_err(|_| GatewayError::DetectorUnavailable)?;
        let listed_max = self.config.limits.record_findings as usize;
        let scanner = Scanner::with_memory(detector, Memory::new(REMEMBERED_TEXTS));
        let scanner = Arc::new(scanner.with_report_limit(listed_max));
        if scanners.len() >= SCANNERS_MAX {
            scanners.clear();
        }
        scanners.insert(
            account.id.clone(),
            (account.settings.clone(), Arc::clone(&scanner)),
        );
        Ok(scanner)
    }

    /// The limits of a request's shape.
    pub(crate) fn chat_limits(&self) -> ChatLimits {
        let limits = &self.config.limits;
        ChatLimits {
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

    /// How long a decision may take to be written.
    pub(crate) fn decision_deadline(&self) -> Duration {
        Duration::from_millis(self.config.limits.decision_ms)
    }

    /// A provider's words with every finding masked, in every mode: they may quote the prompt.
    pub(crate) fn without_phi(&self, scanner: &Scanner, words: &PhiText) -> PhiText {
        let masked = protect::rewrite_text(Mode::MASK, scanner.detector(), words.expose());
        PhiText::new(masked.unwrap_or_default())
    }
}

/// The detector that an account's settings ask for.
pub(crate) fn detector(settings: &Settings) -> Result<Detector, phi_detect::SettingsError> {
    let thresholds = settings
        .thresholds
        .iter()
        .filter_map(|(code, score)| Some((PhiKind::from_code(code)?, *score as f32)))
        .collect();
    Detector::new(phi_detect::Settings {
        thresholds,
        mrn_formats: settings.mrn_formats.clone(),
    })
}

fn has_same_detection(one: &Settings, other: &Settings) -> bool {
    one.thresholds == other.thresholds && one.mrn_formats == other.mrn_formats
}
