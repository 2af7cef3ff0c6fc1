//! Recognizers: kinds of PHI that the account defines, tried on their examples before they are saved.

use askama::Template;
use axum::extract::{Path, State};
use phigate_core::recognizer::{CHECKS, NOT_FOUND};
use phigate_gateway::{Kinds, Weaker, read_recognizer};
use phigate_store::{Filter, RecognizerInfo, StoreError, Window};
use serde_json::{Map, Value, json};

use super::tabs;
use super::weakening::{Asked, ask};
use crate::Dash;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::{Choice, When, choices, counted, in_sentence};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};

const ADDRESS: &str = "/settings/recognizers";

/// The recognizers.
#[derive(Template)]
#[template(path = "settings/recognizers.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    /// Result of a trial that found nothing wrong.
    pub(crate) is_right: bool,
    pub(crate) recognizers: Vec<Line>,
    pub(crate) draft: Draft,
    pub(crate) checks: Vec<Choice>,
}

/// One recognizer.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) finds: String,
    pub(crate) found: Vec<String>,
    pub(crate) not_found: Vec<String>,
    /// Requests of the last 30 days in which it found something.
    pub(crate) hits: String,
    pub(crate) last_used: Option<When>,
    pub(crate) set: When,
    pub(crate) set_by: String,
}

/// A definition in the form.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) pattern: String,
    pub(crate) words: String,
    pub(crate) labels: String,
    pub(crate) require_label: bool,
    pub(crate) check: String,
    pub(crate) found: String,
    pub(crate) not_found: String,
}

/// Fields with one entry per line.
const LISTS: [&str; 4] = ["words", "labels", "found", NOT_FOUND];

impl Draft {
    /// The definition as typed.
    fn typed(form: &Fields) -> Self {
        let text = |name: &str| form.exact(name).trim_end().to_owned();
        Self {
            code: form.get("code").to_owned(),
            label: form.get("label").to_owned(),
            pattern: text("pattern"),
            words: text("words"),
            labels: text("labels"),
            require_label: form.is_ticked("require_label"),
            check: form.get("check").to_owned(),
            found: text("found"),
            not_found: text(NOT_FOUND),
        }
    }

    /// A stored definition, to be changed.
    fn stored(fields: &Value) -> Self {
        let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
        let lines = |name: &str| texts(fields, name).join("\n");
        Self {
            code: text("code"),
            label: text("label"),
            pattern: text("pattern"),
            words: lines("words"),
            labels: lines("labels"),
            require_label: fields["require_label"] == true,
            check: text("check"),
            found: lines("found"),
            not_found: lines(NOT_FOUND),
        }
    }

    /// The fields of the definition, without those that were left empty.
    fn fields(&self) -> Map<String, Value> {
        let [words, labels, found, not_found] =
            [&self.words, &self.labels, &self.found, &self.not_found].map(|text| lines(text));
        let lists = LISTS.into_iter().zip([words, labels, found, not_found]);
        let lists = lists.filter(|(_, list)| !list.is_empty());
        let texts = [
            ("code", &self.code),
            ("label", &self.label),
            ("pattern", &self.pattern),
            ("check", &self.check),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        let texts = texts.map(|(name, text)| (name.to_owned(), json!(text)));
        let mut fields: Map<String, Value> = texts.collect();
        fields.extend(lists.map(|(name, list)| (name.to_owned(), json!(list))));
        if self.require_label {
            fields.insert("require_label".to_owned(), json!(true));
        }
        fields
    }
}

fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(|line| line.trim_end_matches('\r'));
    lines.filter(|line| !line.trim().is_empty()).collect()
}

fn texts(fields: &Value, name: &str) -> Vec<String> {
    let list = fields[name].as_array().map(Vec::as_slice);
    let texts = list.unwrap_or_default().iter();
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// `GET /settings/recognizers`; `?change=CODE` fills in the form.
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let wanted = visit.context.query.get("change");
    let list = dash.vault.recognizers.list(visit.account_id()).await?;
    let wanted = list.iter().find(|one| one.recognizer.code == wanted);
    let draft = wanted.map(|one| Draft::stored(&fields_of(one)));
    draw(&dash, &visit, Ok(false), draft.unwrap_or_default()).await
}

/// `POST /settings/recognizers`: tries a definition, and saves it.
pub(crate) async fn save(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let draft = Draft::typed(visit.form());
    let fields = draft.fields();
    // Examples and speed are tried, which takes a moment.
    let read = tokio::task::spawn_blocking(move || read_recognizer(&fields));
    let (recognizer, stored) = match read.await.map_err(|_| PageError::Broken)? {
        Ok(read) => read,
        Err(error) => {
            let error = in_sentence(&error.to_string());
            return draw(&dash, &visit, Err(error), draft).await;
        }
    };
    if visit.form().get("step") == "test" {
        return draw(&dash, &visit, Ok(true), draft).await;
    }
    let kinds = Kinds::of(&visit.account.recognizers);
    let known = kinds.find(recognizer.definition().kind.code());
    let weaker: Vec<Weaker> = known.map(Weaker::Recognizer).into_iter().collect();
    let by = match ask(&dash, &visit, ADDRESS, &weaker).await? {
        Asked::Given(by) => by,
        Asked::First(question) => return Ok(*question),
    };
    let recognizers = &dash.vault.recognizers;
    match recognizers.set(visit.account_id(), &stored, by).await {
        Ok(()) => Ok(redirect(&format!("{ADDRESS}?done=recognizer-saved"))),
        Err(StoreError::Invalid { what, why }) => {
            let error = in_sentence(&format!("{what}: {why}"));
            draw(&dash, &visit, Err(error), draft).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /settings/recognizers/{code}/remove`
pub(crate) async fn remove(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(code): Path<String>,
) -> Answer {
    let kinds = Kinds::of(&visit.account.recognizers);
    let mut own = kinds.own().map(|(kind, _)| kind);
    let kind = own.find(|kind| kind.code() == code);
    let kind = kind.ok_or(PageError::NotFound)?;
    let address = format!("{ADDRESS}/{}/remove", kind.code());
    let by = match ask(&dash, &visit, &address, &[Weaker::Recognizer(kind)]).await? {
        Asked::Given(by) => by,
        Asked::First(question) => return Ok(*question),
    };
    let recognizers = &dash.vault.recognizers;
    recognizers.remove(visit.account_id(), &code, by).await?;
    Ok(redirect(&format!("{ADDRESS}?done=recognizer-removed")))
}

fn fields_of(info: &RecognizerInfo) -> Value {
    let definition = info.recognizer.definition.expose();
    serde_json::from_str(definition).unwrap_or_default()
}

async fn draw(dash: &Dash, visit: &SignedIn, result: Result<bool, String>, draft: Draft) -> Answer {
    let (account, figures) = (visit.account_id(), &dash.vault.figures);
    let by_type = figures.stats(account, Window::Month).await?.by_type;
    let mut recognizers = Vec::new();
    for info in dash.vault.recognizers.list(account).await? {
        let hits = by_type.get(info.recognizer.code.as_str());
        let last_used = match hits {
            None => None,
            Some(_) => last_use(dash, account, &info.recognizer.code).await?,
        };
        let hits = counted(hits.copied().unwrap_or_default(), "request");
        recognizers.push(line(&info, hits, last_used));
    }
    let checks = CHECKS.iter().map(|check| (check.code, check.code));
    let (error, is_right) = match result {
        Ok(is_right) => (None, is_right),
        Err(error) => (Some(error), false),
    };
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/settings"),
            tabs: tabs(ADDRESS),
            error,
            is_right,
            recognizers,
            checks: choices(checks, &draft.check),
            draft,
        },
    )
}

/// Time of the newest request in which a kind was found.
async fn last_use(dash: &Dash, account: &str, code: &str) -> Result<Option<When>, PageError> {
    let filter = Filter {
        phi_type: Some(code.to_owned()),
        ..Filter::default()
    };
    let newest = dash.vault.trail.request_list(account, &filter, None, 1);
    let newest = newest.await?.items.into_iter().next();
    Ok(newest.map(|newest| When::at(newest.decision.time)))
}

fn line(info: &RecognizerInfo, hits: String, last_used: Option<When>) -> Line {
    let fields = fields_of(info);
    let pattern = fields["pattern"].as_str().map(str::to_owned);
    Line {
        code: info.recognizer.code.to_string(),
        label: fields["label"].as_str().unwrap_or_default().to_owned(),
        finds: pattern.unwrap_or_else(|| texts(&fields, "words").join(", ")),
        found: texts(&fields, "found"),
        not_found: texts(&fields, NOT_FOUND),
        hits,
        last_used,
        set: When::on(info.set),
        set_by: info.set_by.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_becomes_a_definition_and_back() {
        let form = Fields::of(&[
            ("code", "x_study"),
            ("label", "Study id"),
            ("pattern", r"ZKP-\d{4}"),
            ("words", ""),
            ("check", "none"),
            ("found", "sample ZKP-4471\r\nZKP-0001\r\n\r\n"),
            (NOT_FOUND, "ZKP"),
        ]);
        let fields = Draft::typed(&form).fields();
        let (_, stored) = read_recognizer(&fields).unwrap();
        let stored: Value = serde_json::from_str(stored.definition.expose()).unwrap();
        let draft = Draft::stored(&stored);
        assert_eq!(draft.found, "sample ZKP-4471\nZKP-0001");
        assert_eq!(
            (draft.pattern.as_str(), draft.words.as_str()),
            (r"ZKP-\d{4}", "")
        );
        assert_eq!(draft.fields()[NOT_FOUND], json!(["ZKP"]));
    }
}
