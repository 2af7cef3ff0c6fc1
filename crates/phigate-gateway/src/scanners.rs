//! The scanner of each account: its own settings and its own memory, so that one account's texts tell another nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use phi_detect::{Detector, PhiKind};
use phigate_core::protect::Scanner;
use phigate_store::{Account, Detection};

use crate::error::GatewayError;
use crate::scan_memory::Memory;

/// Texts whose findings are remembered, per account.
const REMEMBERED_TEXTS: usize = 4096;

/// Accounts whose scanners are kept; beyond this, all are made anew.
const SCANNERS_MAX: usize = 1024;

/// The scanners in use, each with the settings it was made for.
pub(crate) struct Scanners {
    listed_max: usize,
    by_account: Mutex<HashMap<String, (Detection, Arc<Scanner>)>>,
}

impl Scanners {
    /// Scanners whose reports list at most this many findings one by one.
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
        let detection = &account.settings.detection;
        if let Some((made_for, scanner)) = scanners.get(&account.id)
            && made_for == detection
        {
            return Ok(Arc::clone(scanner));
        }
        let detector = detector(detection).map_err(|_| GatewayError::DetectorUnavailable)?;
        let scanner = Scanner::with_memory(detector, Memory::new(REMEMBERED_TEXTS));
        let scanner = Arc::new(scanner.with_report_limit(self.listed_max));
        if scanners.len() >= SCANNERS_MAX {
            scanners.clear();
        }
        let made = (detection.clone(), Arc::clone(&scanner));
        scanners.insert(account.id.clone(), made);
        Ok(scanner)
    }
}

/// The detector that an account's settings ask for. A threshold of a kind that this version does not find says nothing.
pub fn detector(detection: &Detection) -> Result<Detector, phi_detect::SettingsError> {
    let thresholds = detection
        .thresholds
        .iter()
        .filter_map(|(code, score)| Some((PhiKind::from_code(code)?, *score as f32)))
        .collect();
    Detector::new(phi_detect::Settings {
        thresholds,
        mrn_formats: detection.mrn_formats.clone(),
    })
}
