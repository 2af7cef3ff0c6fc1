//! The scanner of each account, with separate settings and a separate cache, so that accounts cannot learn about each
//! other's texts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use phi_detect::{Detector, PhiKind};
use phigate_core::protect::Scanner;
use phigate_store::{Account, Detection};

use crate::error::GatewayError;
use crate::scan_memory::Memory;

/// Cached texts per account.
const REMEMBERED_TEXTS: usize = 4096;

/// Limit of accounts with a scanner; at the limit all are dropped and made again.
const SCANNERS_MAX: usize = 1024;

/// The scanners in use, each with the settings it was made for.
pub(crate) struct Scanners {
    listed_max: usize,
    by_account: Mutex<HashMap<String, (Detection, Arc<Scanner>)>>,
}

impl Scanners {
    /// Scanners with this limit of listed findings per report.
    pub(crate) fn new(listed_max: usize) -> Self {
        Self {
            listed_max,
            by_account: Mutex::default(),
        }
    }

    /// The scanner of an account, made again after a change of its settings.
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

/// The detector with an account's settings. A threshold of an unknown kind is ignored.
pub fn detector(detection: &Detection) -> Result<Detector, phi_detect::SettingsError> {
    let thresholds = detection
        .thresholds
        .iter()
        .filter_map(|(code, score)| Some((PhiKind::from_code(code)?, *score as f32)))
        .collect();
    let settings = phi_detect::Settings {
        thresholds,
        mrn_formats: detection.mrn_formats.clone(),
    };
    let depth = phigate_core::protect::depth_of(detection.depth);
    Ok(Detector::new(settings)?.with_depth(depth))
}
