//! The table of settings: a name, a label, and how the value is read and written as text.

use phi_detect::PhiKind;
use phigate_core::reply::ToolNames;
use phigate_store::Settings;
use phigate_types::{Approvals, Depth, Documents, KeyLimit, Mode, Replies};

use super::AccountSettings;
use crate::scanners::detector;

/// Most days that anything is kept.
pub const DAYS_MAX: u32 = 36_500;
/// Highest limit of a key, for requests per minute and for concurrent requests.
pub const KEY_LIMIT_MAX: u64 = 1_000_000;
/// Most formats of medical record numbers.
const MRN_FORMATS_MAX: usize = 20;
/// Most tools named in the list.
const TOOLS_MAX: usize = 100;

/// Most characters of a letterhead.
const LETTERHEAD_CHARS_MAX: usize = 400;
/// Most lines of a letterhead.
const LETTERHEAD_LINES_MAX: usize = 6;

/// Prefix of the thresholds' names.
const THRESHOLD: &str = "threshold_";

/// Reason why a setting rejects a value: lower case, without a full stop, and without the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(pub(crate) String);

/// One setting of an account.
#[derive(Clone, Copy)]
pub struct AccountField(Row);

#[derive(Clone, Copy)]
enum Row {
    Plain(&'static Plain),
    Threshold(PhiKind),
    Limit(KeyLimit),
}

/// A setting with a separate row.
struct Plain {
    name: &'static str,
    label: &'static str,
    get: fn(&AccountSettings) -> String,
    set: fn(&mut AccountSettings, &str) -> Result<(), String>,
    is_switch: bool,
}

impl Plain {
    /// A setting that is on or off.
    const fn switch(
        name: &'static str,
        label: &'static str,
        get: fn(&AccountSettings) -> String,
        set: fn(&mut AccountSettings, &str) -> Result<(), String>,
    ) -> Self {
        Self {
            is_switch: true,
            ..Self::text(name, label, get, set)
        }
    }

    const fn text(
        name: &'static str,
        label: &'static str,
        get: fn(&AccountSettings) -> String,
        set: fn(&mut AccountSettings, &str) -> Result<(), String>,
    ) -> Self {
        Self {
            name,
            label,
            get,
            set,
            is_switch: false,
        }
    }
}

static FIELDS: &[Plain] = &[
    // In the order of the dashboard. The thresholds and the limits of keys follow; tables elsewhere list them.
    Plain::text(
        "mode",
        "PHI handling mode",
        |all| all.mode.code().to_owned(),
        |all, text| coded(text, Mode::all().map(Mode::code)).map(|value| all.mode = value),
    ),
    Plain::switch(
        "request_header",
        "Requests may tighten their treatment by a header",
        |all| switch_word(all.settings.request_header),
        |all, text| switch(text).map(|value| all.settings.request_header = value),
    ),
    Plain::switch(
        "restore",
        "Restore masked values in replies",
        |all| switch_word(all.settings.restore),
        |all, text| switch(text).map(|value| all.settings.restore = value),
    ),
    Plain::text(
        "restore_tools",
        "Tools whose arguments get values back",
        |all| all.settings.restore_tools.join(","),
        |all, text| tools(text).map(|value| all.settings.restore_tools = value),
    ),
    Plain::text(
        "replies",
        "PHI in replies",
        |all| all.settings.replies.code().to_owned(),
        |all, text| {
            coded(text, Replies::all().map(Replies::code)).map(|value| all.settings.replies = value)
        },
    ),
    Plain::switch(
        "allow_unscannable",
        "Forward what cannot be scanned",
        |all| switch_word(all.settings.allow_unscannable),
        |all, text| switch(text).map(|value| all.settings.allow_unscannable = value),
    ),
    Plain::text(
        "documents",
        "Documents in requests",
        |all| all.settings.documents.code().to_owned(),
        |all, text| {
            let choice = coded(text, Documents::all().map(Documents::code));
            choice.map(|value| all.settings.documents = value)
        },
    ),
    Plain::text(
        "detection",
        "Depth of scans",
        |all| all.settings.detection.depth.code().to_owned(),
        |all, text| {
            let depth = coded(text, Depth::all().map(Depth::code));
            depth.map(|value| all.settings.detection.depth = value)
        },
    ),
    Plain::text(
        "mrn_formats",
        "Formats of medical record numbers",
        |all| all.settings.detection.mrn_formats.join(","),
        |all, text| mrn_formats(&mut all.settings, text),
    ),
    Plain::text(
        "content_days",
        "Days for originals",
        |all| all.settings.retention.content_days.to_string(),
        |all, text| {
            let days = whole(text, 0, DAYS_MAX.into(), "days for originals")?;
            all.settings.retention.content_days = days as u32;
            Ok(())
        },
    ),
    Plain::text(
        "record_days",
        "Days for records",
        |all| all.settings.retention.metadata_days.to_string(),
        |all, text| {
            let days = whole(text, 1, DAYS_MAX.into(), "days for records")?;
            all.settings.retention.metadata_days = days as u32;
            Ok(())
        },
    ),
    Plain::switch(
        "legal_hold",
        "Legal hold",
        |all| switch_word(all.settings.retention.legal_hold),
        |all, text| switch(text).map(|value| all.settings.retention.legal_hold = value),
    ),
    Plain::text(
        "reveal_approvals",
        "People that a look at content takes",
        |all| all.settings.reveal_approvals.code().to_owned(),
        |all, text| {
            let number = coded(text, Approvals::all().map(Approvals::code));
            number.map(|number| all.settings.reveal_approvals = number)
        },
    ),
    Plain::switch(
        "require_second_factor",
        "Second factor required",
        |all| switch_word(all.settings.require_second_factor),
        |all, text| switch(text).map(|value| all.settings.require_second_factor = value),
    ),
    Plain::text(
        "letterhead",
        "Letterhead of reports",
        |all| all.settings.letterhead.clone(),
        |all, text| letterhead(text).map(|value| all.settings.letterhead = value),
    ),
];

/// Every setting of an account.
pub fn account_fields() -> impl Iterator<Item = AccountField> {
    let plain = FIELDS.iter().map(Row::Plain);
    let thresholds = PhiKind::all().map(Row::Threshold);
    let limits = KeyLimit::all().map(Row::Limit);
    plain.chain(thresholds).chain(limits).map(AccountField)
}

/// The setting of this name.
pub fn account_field(name: &str) -> Option<AccountField> {
    account_fields().find(|field| field.name() == name)
}

impl AccountField {
    /// Name on the command line and in forms.
    pub fn name(&self) -> String {
        match self.0 {
            Row::Plain(plain) => plain.name.to_owned(),
            Row::Threshold(kind) => format!("{THRESHOLD}{}", kind.code()),
            Row::Limit(limit) => limit.code().to_owned(),
        }
    }

    /// Name that people read.
    pub fn label(&self) -> String {
        match self.0 {
            Row::Plain(plain) => plain.label.to_owned(),
            Row::Threshold(kind) => format!("Threshold for {}", kind.label()),
            Row::Limit(limit) => limit.label().to_owned(),
        }
    }

    /// Whether its values are `on` and `off`.
    pub fn is_switch(&self) -> bool {
        matches!(self.0, Row::Plain(plain) if plain.is_switch)
    }

    /// The value as text; empty for the default of a threshold or a limit.
    pub fn get(&self, all: &AccountSettings) -> String {
        let settings = &all.settings;
        let text = |value: Option<String>| value.unwrap_or_default();
        match self.0 {
            Row::Plain(plain) => (plain.get)(all),
            Row::Threshold(kind) => {
                let score = settings.detection.thresholds.get(kind.code());
                text(score.map(ToString::to_string))
            }
            Row::Limit(limit) => text(settings.limits.get(&limit).map(ToString::to_string)),
        }
    }

    /// Sets the value from its text; empty sets the default of a threshold, a limit or a list.
    pub fn set(&self, all: &mut AccountSettings, text: &str) -> Result<(), SettingError> {
        let text = text.trim();
        let set = match self.0 {
            Row::Plain(plain) => (plain.set)(all, text),
            Row::Threshold(kind) => set_threshold(&mut all.settings, kind, text),
            Row::Limit(limit) => set_limit(&mut all.settings, limit, text),
        };
        set.map_err(SettingError)
    }
}

fn set_threshold(settings: &mut Settings, kind: PhiKind, text: &str) -> Result<(), String> {
    let thresholds = &mut settings.detection.thresholds;
    if text.is_empty() {
        thresholds.remove(kind.code());
        return Ok(());
    }
    let score = text.parse().ok();
    let score = score.filter(|score| (0.0..=1.0).contains(score));
    let label = kind.label();
    let score =
        score.ok_or_else(|| format!("the threshold for {label} must be between 0 and 1"))?;
    thresholds.insert(kind.code().to_owned(), score);
    Ok(())
}

fn set_limit(settings: &mut Settings, limit: KeyLimit, text: &str) -> Result<(), String> {
    if text.is_empty() {
        settings.limits.remove(&limit);
        return Ok(());
    }
    let number = whole(text, 1, KEY_LIMIT_MAX, limit.label())?;
    settings.limits.insert(limit, number);
    Ok(())
}

fn mrn_formats(settings: &mut Settings, text: &str) -> Result<(), String> {
    let formats = text.split(['\n', ',']).map(str::trim);
    let formats = formats.filter(|format| !format.is_empty());
    let formats: Vec<String> = formats.map(str::to_owned).collect();
    if formats.len() > MRN_FORMATS_MAX {
        return Err(format!(
            "at most {MRN_FORMATS_MAX} formats of medical record numbers"
        ));
    }
    settings.detection.mrn_formats = formats;
    // The detector decides which formats it can use.
    let refusal = detector(&settings.detection).err();
    refusal.map_or(Ok(()), |refusal| Err(refusal.0))
}

fn tools(text: &str) -> Result<Vec<String>, String> {
    let names = text.split([',', '\n', ' ', '\r']);
    let names = names.filter(|name| !name.is_empty());
    let tools: Vec<String> = names.map(str::to_owned).collect();
    if tools.len() > TOOLS_MAX {
        return Err(format!("at most {TOOLS_MAX} tools"));
    }
    if !tools.iter().all(|name| ToolNames::is_pattern(name)) {
        return Err("name tools with letters, digits and _ - . : /, use * for any characters, and separate names by commas".to_owned());
    }
    Ok(tools)
}

/// Lines of a letterhead, in one line, separated by `;`.
fn letterhead(text: &str) -> Result<String, String> {
    let lines = text.split(['\n', ';']).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let written = lines.join("; ");
    let is_short = written.chars().count() <= LETTERHEAD_CHARS_MAX;
    if !is_short || lines.len() > LETTERHEAD_LINES_MAX || written.contains(char::is_control) {
        return Err(format!(
            "at most {LETTERHEAD_LINES_MAX} lines, separated by a semicolon, and {LETTERHEAD_CHARS_MAX} characters in all"
        ));
    }
    Ok(written)
}

fn whole(text: &str, least: u64, most: u64, what: &str) -> Result<u64, String> {
    let number = text.parse::<u64>().ok();
    let number = number.filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("{what} must be a whole number from {least} to {most}"))
}

/// The row of a table with this code.
fn coded<T: std::str::FromStr>(
    text: &str,
    codes: impl Iterator<Item = &'static str>,
) -> Result<T, String> {
    let found = text.to_ascii_lowercase().parse();
    found.map_err(|_| format!("choose one of {}", codes.collect::<Vec<_>>().join(", ")))
}

const ON: &str = "on";
const OFF: &str = "off";

fn switch_word(is_on: bool) -> String {
    if is_on { ON } else { OFF }.to_owned()
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        ON => Ok(true),
        OFF => Ok(false),
        _ => Err(format!("write {ON} or {OFF}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> AccountSettings {
        AccountSettings {
            mode: Mode::FLAG,
            settings: Settings::default(),
        }
    }

    #[test]
    fn every_field_sets_only_itself() {
        for field in account_fields() {
            let name = field.name();
            let value = match name.as_str() {
                "mode" | "replies" => "mask",
                "detection" => "fast",
                "documents" => "text",
                "reveal_approvals" => "2",
                "restore_tools" => "send_*,note",
                "mrn_formats" => "MR-9999999,AB-999999",
                name if name.starts_with(THRESHOLD) => "0.75",
                _ if field.is_switch() => ON,
                _ => "30",
            };
            let mut all = fresh();
            field.set(&mut all, value).unwrap();
            assert_eq!(field.get(&all), value, "{name}");
            let others = account_fields().filter(|other| other.name() != name);
            for other in others {
                assert_eq!(
                    other.get(&all),
                    other.get(&fresh()),
                    "{name} {}",
                    other.name()
                );
            }
            assert_eq!(account_field(&name).unwrap().label(), field.label());
        }
        assert!(account_field("nonsense").is_none());
    }

    #[test]
    fn value_that_cannot_be_taken_is_named() {
        for (name, value, words) in [
            ("threshold_ssn", "1.5", "SSN"),
            ("threshold_ssn", "NaN", "SSN"),
            ("threshold_ssn", "-0.1", "SSN"),
            ("content_days", "-1", "originals"),
            ("content_days", "99999999999", "originals"),
            ("record_days", "0", "records"),
            ("key_requests_per_minute", "0", "minute"),
            ("key_concurrency", "many", "Concurrent"),
            ("restore_tools", "no\"te", "name tools"),
            ("replies", "on", "choose one of off"),
            ("documents", "on", "choose one of refuse"),
            ("legal_hold", "maybe", "on or off"),
            ("reveal_approvals", "3", "choose one of 1, 2"),
            ("letterhead", "a;b;c;d;e;f;g", "6 lines"),
        ] {
            let error = account_field(name).unwrap().set(&mut fresh(), value);
            let words_said = error.unwrap_err().to_string();
            assert!(words_said.contains(words), "{name}: {words_said}");
        }
    }
}
