//! The scanner of each account, with separate settings and a separate cache, so that accounts cannot learn about each
//! other's texts.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{Timestamp, tz::TimeZone};
use phi_detect::{Detector, PhiKind, PhiKinds};
use phigate_core::protect::{AllowList, Generalizing, Scanner};
use phigate_store::{Account, AllowedValues, Detection};

use crate::error::GatewayError;
use crate::scan_memory::Memory;

/// Cached texts per account.
const REMEMBERED_TEXTS: usize = 4096;

/// Limit of accounts with a scanner; at the limit all are dropped and made again.
const SCANNERS_MAX: usize = 1024;

/// The scanners in use, each with the settings it was made for.
pub(crate) struct Scanners {
    listed_max: usize,
    by_account: Mutex<HashMap<String, (MadeFor, Arc<Scanner>)>>,
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
        if let Some((made_for, scanner)) = scanners.get(&account.id)
            && made_for.suits(account)
        {
            return Ok(Arc::clone(scanner));
        }
        let detector = detector_of(account).map_err(|_| GatewayError::DetectorUnavailable)?;
        let scanner = Scanner::with_memory(detector, Memory::new(REMEMBERED_TEXTS));
        let scanner = scanner.with_report_limit(self.listed_max);
        let scanner = scanner.with_generalizing(generalizing(account));
        let scanner = Arc::new(scanner.with_allowed(allow_list(account)));
        if scanners.len() >= SCANNERS_MAX {
            scanners.clear();
        }
        let made = (MadeFor::new(account), Arc::clone(&scanner));
        scanners.insert(account.id.clone(), made);
        Ok(scanner)
    }
}

/// Settings for which a scanner was made.
struct MadeFor {
    detection: Detection,
    off: Vec<String>,
    allowed: AllowedValues,
}

impl MadeFor {
    fn new(account: &Account) -> Self {
        Self {
            detection: account.settings.detection.clone(),
            off: account.policy.off().map(str::to_owned).collect(),
            allowed: account.allowed.clone(),
        }
    }

    fn suits(&self, account: &Account) -> bool {
        let off = self.off.iter().map(String::as_str);
        self.detection == account.settings.detection
            && off.eq(account.policy.off())
            && self.allowed == account.allowed
    }
}

/// The values that an account does not count as PHI; `None` without any.
fn allow_list(account: &Account) -> Option<AllowList> {
    let values = account.allowed.clone();
    let has_any = !values.is_empty();
    has_any.then(|| AllowList::new(move |kind, form| values.entry(kind, form)))
}

/// The kinds whose values the account generalizes; `None` without any.
pub fn generalizing(account: &Account) -> Option<Generalizing> {
    let codes = account.settings.detection.generalized.iter();
    let kinds = codes.filter_map(|code| PhiKind::from_code(code));
    let kinds = kinds.fold(PhiKinds::default(), PhiKinds::with);
    (!kinds.is_empty()).then(|| Generalizing::new(kinds, this_year))
}

/// The current year, in the time zone of the records.
fn this_year() -> i32 {
    i32::from(Timestamp::now().to_zoned(TimeZone::UTC).year())
}

/// The scanner of an account, for commands: without a cache.
pub fn scanner_of(account: &Account) -> Result<Scanner, phi_detect::SettingsError> {
    Ok(Scanner::new(detector_of(account)?).with_allowed(allow_list(account)))
}

/// The scanner for past requests of an account: it also looks for kinds that are off now.
pub fn scanner_of_all(account: &Account) -> Result<Scanner, phi_detect::SettingsError> {
    let detector = detector(&account.settings.detection)?;
    Ok(Scanner::new(detector).with_allowed(allow_list(account)))
}

/// The detector of an account: its settings, without the kinds that its policy switches off.
pub fn detector_of(account: &Account) -> Result<Detector, phi_detect::SettingsError> {
    let off = account.policy.off().filter_map(PhiKind::from_code);
    with_settings(&account.settings.detection, off.collect())
}

/// The detector with settings of an account. A threshold of an unknown kind is ignored.
pub fn detector(detection: &Detection) -> Result<Detector, phi_detect::SettingsError> {
    with_settings(detection, Vec::new())
}

fn with_settings(
    detection: &Detection,
    off: Vec<PhiKind>,
) -> Result<Detector, phi_detect::SettingsError> {
    let thresholds = detection
        .thresholds
        .iter()
        .filter_map(|(code, score)| Some((PhiKind::from_code(code)?, *score as f32)))
        .collect();
    let kinds = |codes: &BTreeSet<String>| {
        let known = codes.iter().filter_map(|code| PhiKind::from_code(code));
        known.collect()
    };
    let settings = phi_detect::Settings {
        thresholds,
        on: kinds(&detection.kinds),
        generalized: kinds(&detection.generalized),
        off,
        mrn_formats: detection.mrn_formats.clone(),
    };
    let depth = phigate_core::protect::depth_of(detection.depth);
    Ok(Detector::new(settings)?.with_depth(depth))
}
