//! The scanner of each account, with separate settings and a separate cache, so that accounts cannot learn about each
//! other's texts.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{Timestamp, tz::TimeZone};
use phi_detect::{Detector, PhiKind, PhiKinds};
use phigate_core::protect::{AllowList, Generalizing, Scanner, SiteFinder};
use phigate_core::recognizer::{Definition, Recognizer, Recognizers};
use phigate_core::roster::Roster;
use phigate_store::{Account, AllowedValues, Detection, Rosters, StoredRecognizer};

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
        // A recognizer that cannot be read would find nothing, so no request passes.
        let found = site_finder(account, |code| !account.policy.is_off(code));
        let found = found.ok_or(GatewayError::PolicyUnavailable)?;
        let detector = with_settings(&account.settings.detection, off(account), found);
        let detector = detector.map_err(|_| GatewayError::DetectorUnavailable)?;
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
    recognizers: Arc<[StoredRecognizer]>,
    rosters: Rosters,
}

impl MadeFor {
    fn new(account: &Account) -> Self {
        Self {
            detection: account.settings.detection.clone(),
            off: account.policy.off().map(str::to_owned).collect(),
            allowed: account.allowed.clone(),
            recognizers: Arc::clone(&account.recognizers),
            rosters: account.rosters.clone(),
        }
    }

    fn suits(&self, account: &Account) -> bool {
        let off = self.off.iter().map(String::as_str);
        self.detection == account.settings.detection
            && off.eq(account.policy.off())
            && self.allowed == account.allowed
            && self.recognizers == account.recognizers
            && self.rosters == account.rosters
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
    let kinds: PhiKinds = codes.filter_map(|code| PhiKind::from_code(code)).collect();
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
    Ok(Scanner::new(detector_of_all(account)?).with_allowed(allow_list(account)))
}

/// The detector for past requests of an account: it also looks for kinds that are off now.
pub fn detector_of_all(account: &Account) -> Result<Detector, phi_detect::SettingsError> {
    let found = site_finder(account, |_| true).ok_or_else(unreadable)?;
    with_settings(&account.settings.detection, Vec::new(), found)
}

/// The detector of an account: its settings, without the kinds that its policy switches off.
pub fn detector_of(account: &Account) -> Result<Detector, phi_detect::SettingsError> {
    let found = site_finder(account, |code| !account.policy.is_off(code));
    let found = found.ok_or_else(unreadable)?;
    with_settings(&account.settings.detection, off(account), found)
}

/// The kinds of the table that an account has switched off.
fn off(account: &Account) -> Vec<PhiKind> {
    let codes = account.policy.off();
    codes.filter_map(PhiKind::from_code).collect()
}

/// The finder of an account's rosters and wanted recognizers; `None` if one cannot be read.
fn site_finder(account: &Account, is_wanted: impl Fn(&str) -> bool) -> Option<Option<SiteFinder>> {
    let stored = account.recognizers.iter();
    let wanted = stored.filter(|stored| is_wanted(&stored.code));
    let read = |stored| Recognizer::compile(read_definition(stored)?).ok();
    let all: Option<Vec<Recognizer>> = wanted.map(read).collect();
    let rosters = account.rosters.clone();
    let has_any = !rosters.is_empty();
    let roster = has_any.then(|| Roster::new(move |words| rosters.holds(words)));
    Some(SiteFinder::new(Recognizers::new(all?), roster))
}

fn unreadable() -> phi_detect::SettingsError {
    phi_detect::SettingsError("a stored recognizer cannot be read".to_owned())
}

/// The detector with settings of an account. A threshold of an unknown kind is ignored.
pub fn detector(detection: &Detection) -> Result<Detector, phi_detect::SettingsError> {
    with_settings(detection, Vec::new(), None)
}

fn with_settings(
    detection: &Detection,
    off: Vec<PhiKind>,
    found: Option<SiteFinder>,
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
    let detector = Detector::new(settings)?.with_depth(depth);
    Ok(match found {
        None => detector,
        Some(found) => detector.with_extras(Arc::new(found)),
    })
}

/// Reads a stored definition; `None` if it is not one.
pub(crate) fn read_definition(stored: &StoredRecognizer) -> Option<Definition> {
    let fields = serde_json::from_str(stored.definition.expose()).ok()?;
    let definition = Definition::read(&fields).ok()?;
    (definition.kind.code() == stored.code).then_some(definition)
}
