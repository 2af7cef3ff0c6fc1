//! The scanner of each account: its own settings and its own memory, so that one account's texts tell another nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use phi_detect::{Detector, PhiKind};
use phigate_core::protect::Scanner;
use phigate_store::{Account, Settings};

use crate::error::GatewayError;
use crate::scan_memory::Memory;

/// Texts whose findings are remembered, per account.
const REMEMBERED_TEXTS: usize = 4096;

/// Accounts whose scanners are kept; beyond this, all are made anew.
const SCANNERS_MAX: usize = 1024;

/// The scanners in use, each with the settings it was made for.
pub(crate) struct Scanners {
    listed_max: usize,
    by_account: Mutex<HashMap<String, (Settings, Arc<Scanner>)>>,
}

impl Scanners {
    /// Scanners whose reports list so many findings one by one.
    pub(crate) fn new(listed_max: usize) -> Self {
        Self {
            listed_max,
            by_account: Mutex::default(),
        }
    }

    /// The scanner of an account, made anew when its settings have changed.
    pub(crate) fn of(&self, account: &Account) -> Result<Arc<Scanner>, GatewayError> {
        let mut scanners = self
            .by_account
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((settings, scanner)) = scanners.get(&account.id)
            && has_same_detection(settings, &account.settings)
        {
            return Ok(Arc::clone(scanner));
        }
        let detector =
            detector(&account.settings).map_err(|_| GatewayError::DetectorUnavailable)?;
        let scanner = Scanner::with_memory(detector, Memory::new(REMEMBERED_TEXTS));
        let scanner = Arc::new(scanner.with_report_limit(self.listed_max));
        if scanners.len() >= SCANNERS_MAX {
            scanners.clear();
        }
        let made = (account.settings.clone(), Arc::clone(&scanner));
        scanners.insert(account.id.clone(), made);
        Ok(scanner)
    }
}

/// The detector that an account's settings ask for.
pub fn detector(settings: &Settings) -> Result<Detector, phi_detect::SettingsError> {
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
