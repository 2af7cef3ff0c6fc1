//! Settings: the PHI Handling Mode first, then how PHI is looked for and how long records are kept.

pub(crate) mod replies;

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use phi_detect::{Findings, PhiKind};
use phigate_store::{Detection, Retention, Settings};
use phigate_types::{Effect, KeyLimit, Mode};

use crate::dashboard::Dash;
use crate::dashboard::chrome::Chrome;
use crate::dashboard::fields::Fields;
use crate::dashboard::view::{Piece, Treatment, When, pieces};
use crate::dashboard::visit::{Answer, PageError, SignedIn, go_to, page_with};
use phigate_gateway::detector;

/// All settings.
#[derive(Template)]
#[template(path = "settings.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) mode_changed: Option<ModeChange>,
    pub(crate) modes: Vec<ModeCard>,
    pub(crate) replies: replies::Section,
    pub(crate) draft: Draft,
    pub(crate) days_max: u32,
    pub(crate) limit_max: u64,
    pub(crate) default_per_minute: u64,
    pub(crate) default_concurrency: u64,
}

/// The settings as the form shows them: stored, or as typed when they could not be taken.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) allow_unscannable: bool,
    pub(crate) legal_hold: bool,
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) mrn_formats: String,
    pub(crate) content_days: String,
    pub(crate) record_days: String,
    pub(crate) requests_per_minute: String,
    pub(crate) concurrency: String,
}

/// When the mode last changed, and who did it.
#[derive(Debug)]
pub(crate) struct ModeChange {
    pub(crate) time: When,
    pub(crate) by: String,
}

/// One mode to choose, with the example under it.
#[derive(Debug)]
pub(crate) struct ModeCard {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) words: &'static str,
    pub(crate) caption: &'static str,
    pub(crate) example: Vec<Piece>,
    pub(crate) chosen: bool,
    pub(crate) in_force: bool,
}

/// The score from which a finding of one kind counts.
#[derive(Debug)]
pub(crate) struct Threshold {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    /// What an empty field means: "default", or "off" for kinds that are looked for only with a threshold.
    pub(crate) default: &'static str,
    pub(crate) value: String,
    pub(crate) error: bool,
}

/// The sentence under every mode. Invented, and it looks it.
const EXAMPLE: &str =
    "Jane Roe, DOB 03/04/1961, SSN 123-45-6789, asks about her potassium of 3.1 mmol/L.";

const DAYS_MAX: u32 = 36_500;
const LIMIT_MAX: u64 = 1_000_000;
const MRN_FORMATS_MAX: usize = 20;

/// `GET /settings`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None, stored(&visit.account.settings)).await
}

/// `POST /settings/mode`
pub(crate) async fn save_mode(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let Ok(mode) = visit.form().get("mode").parse::<Mode>() else {
        let error = Some("Choose one of the modes.".to_owned());
        return draw(&dash, &visit, error, stored(&visit.account.settings)).await;
    };
    dash.app
        .vault
        .accounts
        .set_mode(visit.account_id(), mode, visit.actor())
        .await?;
    Ok(go_to("/settings?done=mode"))
}

/// `POST /settings/rules`
pub(crate) async fn save_rules(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    match read(visit.form(), &visit.account.settings) {
        Ok(settings) => {
            dash.app
                .vault
                .accounts
                .set_settings(visit.account_id(), &settings, visit.actor())
                .await?;
            Ok(go_to("/settings?done=settings"))
        }
        Err(error) => draw(&dash, &visit, Some(error), typed(visit.form())).await,
    }
}

/// The modes with a text under each.
pub(crate) fn mode_cards(in_force: Mode, text: &str, findings: &Findings) -> Vec<ModeCard> {
    Mode::all()
        .map(|mode| {
            let (caption, example) = under(mode, text, findings);
            ModeCard {
                code: mode.code,
                label: mode.label,
                words: mode.summary,
                caption,
                example,
                chosen: mode == in_force,
                in_force: mode == in_force,
            }
        })
        .collect()
}

fn under(mode: Mode, text: &str, findings: &Findings) -> (&'static str, Vec<Piece>) {
    match mode.effect {
        Effect::Keep => ("The provider gets", pieces(text, findings, Treatment::Keep)),
        Effect::Replace(word) => (
            "The provider gets",
            pieces(text, findings, Treatment::Replace(word)),
        ),
        Effect::Block if findings.is_empty() => (
            "Nothing found, so the provider gets",
            vec![Piece::plain(text)],
        ),
        Effect::Block => {
            let mut codes: Vec<&str> = PhiKind::all()
                .filter(|kind| findings.iter().any(|finding| finding.kind == *kind))
                .map(PhiKind::code)
                .collect();
            codes.dedup();
            let refusal = format!("403 phi_blocked: {}", codes.join(", "));
            (
                "The provider gets nothing; the caller gets",
                vec![Piece::plain(refusal)],
            )
        }
    }
}

/// Reads the form; says what to correct when it cannot be taken.
fn read(form: &Fields, current: &Settings) -> Result<Settings, String> {
    let detection = Detection {
        thresholds: read_thresholds(form)?,
        mrn_formats: read_mrn_formats(form)?,
    };
    let settings = Settings {
        allow_unscannable: form.is_ticked("allow_unscannable"),
        detection,
        limits: read_limits(form, current)?,
        retention: Retention {
            content_days: days(form, "content_days", 0, "Days for originals")?,
            metadata_days: days(form, "record_days", 1, "Days for records")?,
            legal_hold: form.is_ticked("legal_hold"),
        },
        ..current.clone()
    };
    let (before, after) = (current.retention, settings.retention);
    let deletes_sooner =
        after.content_days < before.content_days || after.metadata_days < before.metadata_days;
    if deletes_sooner && !form.is_ticked("shorten") {
        return Err("Shorter retention deletes what is older, for good. Tick the box under Retention if you mean it.".to_owned());
    }
    // The detector has the last word on what it can use.
    detector(&settings.detection)
        .map_err(|refusal| refusal.0)
        .map(|_| settings)
}

fn read_thresholds(form: &Fields) -> Result<BTreeMap<String, f64>, String> {
    let given = |kind: &PhiKind| !form.get(&threshold_field(kind.code())).is_empty();
    let read = |kind: PhiKind| match score(form.get(&threshold_field(kind.code()))) {
        Some(score) => Ok((kind.code().to_owned(), score)),
        None => Err(format!(
            "The threshold for {} must be between 0 and 1.",
            kind.label()
        )),
    };
    PhiKind::all().filter(given).map(read).collect()
}

fn threshold_field(code: &str) -> String {
    format!("threshold_{code}")
}

fn read_mrn_formats(form: &Fields) -> Result<Vec<String>, String> {
    let lines = form.get("mrn_formats").lines().map(str::trim);
    let formats: Vec<String> = lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    match formats.len() {
        0..=MRN_FORMATS_MAX => Ok(formats),
        _ => Err(format!(
            "At most {MRN_FORMATS_MAX} medical record number formats, one per line."
        )),
    }
}

fn read_limits(form: &Fields, current: &Settings) -> Result<BTreeMap<KeyLimit, u64>, String> {
    let mut limits = current.limits.clone();
    for name in KeyLimit::all() {
        let value = form.get(name.code());
        if value.is_empty() {
            limits.remove(&name);
            continue;
        }
        let limit = value.parse::<u64>().ok();
        let limit = limit.filter(|limit| (1..=LIMIT_MAX).contains(limit));
        let limit = limit.ok_or_else(|| {
            let label = name.label();
            format!("{label} must be a whole number from 1 to {LIMIT_MAX}.")
        })?;
        limits.insert(name, limit);
    }
    Ok(limits)
}

fn days(form: &Fields, field: &str, least: u32, words: &str) -> Result<u32, String> {
    let days = form
        .get(field)
        .parse::<u32>()
        .ok()
        .filter(|days| (least..=DAYS_MAX).contains(days));
    days.ok_or_else(|| format!("{words} must be a whole number from {least} to {DAYS_MAX}."))
}

fn stored(settings: &Settings) -> Draft {
    let limit = |name: KeyLimit| {
        settings
            .limits
            .get(&name)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    Draft {
        allow_unscannable: settings.allow_unscannable,
        legal_hold: settings.retention.legal_hold,
        thresholds: thresholds(|code| {
            let thresholds = &settings.detection.thresholds;
            thresholds
                .get(code)
                .map(ToString::to_string)
                .unwrap_or_default()
        }),
        mrn_formats: settings.detection.mrn_formats.join("\n"),
        content_days: settings.retention.content_days.to_string(),
        record_days: settings.retention.metadata_days.to_string(),
        requests_per_minute: limit(KeyLimit::RequestsPerMinute),
        concurrency: limit(KeyLimit::Concurrency),
    }
}

fn typed(form: &Fields) -> Draft {
    let text = |field: &str| form.get(field).to_owned();
    Draft {
        allow_unscannable: form.is_ticked("allow_unscannable"),
        legal_hold: form.is_ticked("legal_hold"),
        thresholds: thresholds(|code| text(&threshold_field(code))),
        mrn_formats: text("mrn_formats"),
        content_days: text("content_days"),
        record_days: text("record_days"),
        requests_per_minute: text(KeyLimit::RequestsPerMinute.code()),
        concurrency: text(KeyLimit::Concurrency.code()),
    }
}

fn thresholds(value: impl Fn(&str) -> String) -> Vec<Threshold> {
    PhiKind::all()
        .map(|kind| {
            let value = value(kind.code());
            let error = !value.is_empty() && score(&value).is_none();
            Threshold {
                code: kind.code(),
                label: kind.label(),
                default: if kind.rule().is_on_by_default {
                    "default"
                } else {
                    "off"
                },
                value,
                error,
            }
        })
        .collect()
}

fn score(text: &str) -> Option<f64> {
    text.parse()
        .ok()
        .filter(|score| (0.0..=1.0).contains(score))
}

/// The page with what was wrong about a form of its own.
pub(super) async fn show_error(dash: &Dash, visit: &SignedIn, error: String) -> Answer {
    draw(dash, visit, Some(error), stored(&visit.account.settings)).await
}

async fn draw(dash: &Dash, visit: &SignedIn, error: Option<String>, draft: Draft) -> Answer {
    let state = dash.app.vault.accounts.mode(visit.account_id()).await?;
    let detector = detector(&visit.account.settings.detection).map_err(|_| PageError::Broken)?;
    let findings = detector.scan(EXAMPLE);
    let status = if error.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    let changed = state.changed.zip(state.changed_by);
    page_with(
        status,
        &Page {
            chrome: visit.chrome("/settings"),
            error,
            mode_changed: changed.map(|(time, by)| ModeChange {
                time: When::at(time),
                by,
            }),
            modes: mode_cards(state.mode, EXAMPLE, &findings),
            replies: replies::stored(&visit.account.settings, &detector),
            draft,
            days_max: DAYS_MAX,
            limit_max: LIMIT_MAX,
            default_per_minute: dash.app.config.limits.key_requests_per_minute,
            default_concurrency: dash.app.config.limits.key_concurrency,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(pairs: &[(&str, &str)]) -> Fields {
        let filled = [("content_days", "30"), ("record_days", "2192")];
        let pairs = pairs.iter().chain(&filled);
        Fields::new(
            pairs
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn settings_are_read_from_the_form() {
        let form = form(&[
            ("threshold_name", "0.4"),
            ("mrn_formats", " MR-9999999 \r\n\r\nAB-999999"),
            ("legal_hold", "yes"),
            ("shorten", "yes"),
            ("key_concurrency", "8"),
        ]);
        let settings = read(&form, &Settings::default()).unwrap();
        assert_eq!(
            settings.detection.thresholds,
            BTreeMap::from([("name".to_owned(), 0.4)])
        );
        assert_eq!(settings.detection.mrn_formats, ["MR-9999999", "AB-999999"]);
        assert_eq!(
            settings.limits,
            BTreeMap::from([(KeyLimit::Concurrency, 8)])
        );
        assert!(settings.retention.legal_hold && !settings.allow_unscannable);
        assert_eq!(settings.retention.content_days, 30);
    }

    #[test]
    fn deleting_sooner_must_be_meant() {
        let keeps_longer = Settings::default();
        let refusal = read(&form(&[]), &keeps_longer).unwrap_err();
        assert!(refusal.contains("Retention"));
        let settings = read(&form(&[("shorten", "yes")]), &keeps_longer).unwrap();
        assert_eq!(settings.retention.content_days, 30);
        // What is short already, or gets longer, needs no word.
        assert!(read(&form(&[]), &settings).is_ok());
        assert!(read(&form(&[("content_days", "60")]), &settings).is_ok());
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        for (field, value, words) in [
            ("threshold_ssn", "1.5", "SSN"),
            ("threshold_ssn", "NaN", "SSN"),
            ("content_days", "-1", "originals"),
            ("content_days", "99999999999", "originals"),
            ("record_days", "0", "records"),
            ("key_requests_per_minute", "0", "minute"),
            ("key_concurrency", "many", "Concurrent"),
        ] {
            let refusal = read(&form(&[(field, value)]), &Settings::default()).unwrap_err();
            assert!(refusal.contains(words), "{field} {value}: {refusal}");
        }
    }

    #[test]
    fn a_limit_left_empty_is_the_servers_own_again() {
        let current = Settings {
            limits: BTreeMap::from([(KeyLimit::RequestsPerMinute, 5)]),
            ..Settings::default()
        };
        assert!(
            read(&form(&[("shorten", "yes")]), &current)
                .unwrap()
                .limits
                .is_empty()
        );
    }
}
