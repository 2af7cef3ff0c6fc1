//! Settings about detection: thresholds, formats of medical record numbers, documents, parts that cannot be scanned.

use askama::Template;
use axum::extract::State;
use phi_detect::PhiKind;
use phigate_gateway::{KindState, kind_states, kinds_of};
use phigate_store::Settings;
use phigate_types::Documents;

use super::{save, tabs, typed};
use crate::Dash;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::Choice;
use crate::visit::{Answer, SignedIn, form_status, page_with};

const ADDRESS: &str = "/settings/detection";

/// Settings of the search for PHI.
#[derive(Template)]
#[template(path = "settings/detection.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) allow_unscannable: bool,
    pub(crate) documents: Vec<DocumentChoice>,
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) mrn_formats: String,
}

/// Handling of documents in requests.
#[derive(Debug)]
pub(crate) struct DocumentChoice {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) chosen: bool,
}

/// Returns the possible choices for documents.
pub(crate) fn document_choices(chosen: Documents) -> Vec<DocumentChoice> {
    let choice = |choice: Documents| DocumentChoice {
        code: choice.code(),
        label: choice.label(),
        summary: choice.summary(),
        chosen: choice == chosen,
    };
    Documents::all().map(choice).collect()
}

/// The score from which a finding of one kind counts.
#[derive(Debug)]
pub(crate) struct Threshold {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    /// Meaning of an empty field: the default threshold, or "off" for a kind that is off.
    pub(crate) default: String,
    pub(crate) value: String,
    pub(crate) error: bool,
}

/// `GET /settings/detection`
pub(crate) async fn show(visit: SignedIn) -> Answer {
    let settings = &visit.account.settings;
    let score = |code: &str| {
        let score = settings.detection.thresholds.get(code);
        score.map(ToString::to_string).unwrap_or_default()
    };
    let stored = Typed {
        allow_unscannable: settings.allow_unscannable,
        documents: settings.documents,
        thresholds: thresholds(&visit, score),
        mrn_formats: settings.detection.mrn_formats.join("\n"),
    };
    draw(&visit, None, stored)
}

/// `POST /settings/detection`
pub(crate) async fn save_form(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    match read(form, &visit.account.settings) {
        Ok(read) => {
            let change = |settings: &mut Settings| {
                settings.allow_unscannable = read.allow_unscannable;
                settings.documents = read.documents;
                settings.detection.clone_from(&read.detection);
            };
            save(&dash, &visit, ADDRESS, change).await
        }
        Err(error) => {
            let shown = Typed {
                allow_unscannable: form.is_ticked("allow_unscannable"),
                documents: form.get("documents").parse().unwrap_or_default(),
                thresholds: thresholds(&visit, |code| form.get(&field(code)).to_owned()),
                mrn_formats: form.get("mrn_formats").to_owned(),
            };
            draw(&visit, Some(error), shown)
        }
    }
}

/// Contents of the fields: stored, or typed.
struct Typed {
    allow_unscannable: bool,
    documents: Documents,
    thresholds: Vec<Threshold>,
    mrn_formats: String,
}

fn draw(visit: &SignedIn, error: Option<String>, typed: Typed) -> Answer {
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/settings"),
            tabs: tabs(ADDRESS),
            error,
            allow_unscannable: typed.allow_unscannable,
            documents: document_choices(typed.documents),
            thresholds: typed.thresholds,
            mrn_formats: typed.mrn_formats,
        },
    )
}

fn field(code: &str) -> String {
    format!("threshold_{code}")
}

/// Reads the form; says what to correct when it cannot be taken.
fn read(form: &Fields, current: &Settings) -> Result<Settings, String> {
    let thresholds: Vec<String> = PhiKind::all().map(|kind| field(kind.code())).collect();
    let thresholds = thresholds.iter().map(String::as_str);
    let fields = ["allow_unscannable", "documents", "mrn_formats"];
    typed(form, current, thresholds.chain(fields))
}

fn thresholds(visit: &SignedIn, value: impl Fn(&str) -> String) -> Vec<Threshold> {
    let threshold = |state: KindState| {
        let kind = state.kind;
        let value = value(kind.code());
        Threshold {
            code: kind.code(),
            label: kind.label(),
            default: match state.is_on {
                true => kind
                    .default_threshold(phi_detect::Depth::Careful)
                    .to_string(),
                false => "off".to_owned(),
            },
            error: !value.is_empty() && score(&value).is_none(),
            value,
        }
    };
    let states = kind_states(&kinds_of(&visit.account));
    states.into_iter().map(threshold).collect()
}

fn score(text: &str) -> Option<f64> {
    let score = text.parse().ok();
    score.filter(|score| (0.0..=1.0).contains(score))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn settings_are_read_from_the_form() {
        let form = Fields::of(&[
            ("threshold_name", "0.4"),
            ("documents", "text"),
            ("mrn_formats", " MR-9999999 \r\n\r\nAB-999999"),
        ]);
        let settings = read(&form, &Settings::default()).unwrap();
        assert_eq!(
            settings.detection.thresholds,
            BTreeMap::from([("name".to_owned(), 0.4)])
        );
        assert_eq!(settings.detection.mrn_formats, ["MR-9999999", "AB-999999"]);
        assert!(!settings.allow_unscannable);
        assert_eq!(settings.documents, Documents::Text);
    }

    #[test]
    fn invalid_threshold_is_named() {
        for value in ["1.5", "NaN", "-0.1", "much"] {
            let refusal = read(
                &Fields::of(&[("threshold_ssn", value)]),
                &Settings::default(),
            );
            assert!(refusal.unwrap_err().contains("SSN"), "{value}");
        }
    }
}
