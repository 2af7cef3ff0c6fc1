//! Trying a text: what is found, what each mode makes of it, and a real request.

use askama::Template;
use axum::body::to_bytes;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use phi_detect::Findings;
use phigate_core::text::PhiText;
use phigate_gateway::{GatewayError, Stages, listed_models, routes};
use serde_json::{Value, json};

use super::help;
use super::settings::replies::Stage;
use super::settings::{ModeCard, mode_cards};
use crate::dashboard::Dash;
use crate::dashboard::chrome::Chrome;
use crate::dashboard::view::{Fact, Piece, Treatment, in_sentence, kind_class, pieces};
use crate::dashboard::visit::{Answer, PageError, SignedIn, page_with};

/// The playground.
#[derive(Template)]
#[template(path = "playground.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) error: Option<String>,
    pub(crate) text: String,
    pub(crate) model: String,
    pub(crate) models: Vec<String>,
    pub(crate) mode_code: &'static str,
    pub(crate) mode_label: &'static str,
    pub(crate) may_send: bool,
    pub(crate) found_words: String,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) findings: Vec<Found>,
    pub(crate) modes: Vec<ModeCard>,
    pub(crate) answer: Option<Reply>,
}

/// One finding, with its text: the viewer typed it.
pub(crate) struct Found {
    pub(crate) label: &'static str,
    pub(crate) class: &'static str,
    pub(crate) text: String,
    pub(crate) score: String,
    pub(crate) rule: &'static str,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) tone: &'static str,
    pub(crate) status: String,
    pub(crate) facts: Vec<Fact>,
    /// The texts on their way, as far as the request came; the last is what a caller gets.
    pub(crate) stages: Vec<Stage>,
    pub(crate) href: String,
}

const TEXT_CHARS_MAX: usize = 100_000;
const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// `GET /playground`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None, None).await
}

/// `POST /playground`: looks for PHI, stores nothing.
pub(crate) async fn scan(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None, None).await
}

/// `POST /playground/send`: a real request.
pub(crate) async fn send(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let (text, model) = (visit.form().exact("text"), visit.form().get("model"));
    if text.trim().is_empty() {
        let error = "Type a text to send first.".to_owned();
        return draw(&dash, &visit, Some(error), None).await;
    }
    if let Err(error) = routes(&visit.account, model) {
        let error = match error {
            GatewayError::NotConfigured { family } => {
                let label = family.label();
                format!("No key is set for {label}. Set it under Providers first.")
            }
            _ => "No provider serves a model with this name. Choose one of the list.".to_owned(),
        };
        return draw(&dash, &visit, Some(error), None).await;
    }
    let body = json!({ "model": model, "messages": [{ "role": "user", "content": text }] });
    let answered = dash
        .app
        .gateway
        .answer_for_dashboard(visit.account.clone(), body.to_string().into());
    let (response, between) = answered.await;
    let reply = read_reply(response, text, &between).await?;
    draw(&dash, &visit, None, Some(reply)).await
}

async fn read_reply(response: Response, typed: &str, between: &Stages) -> Result<Reply, PageError> {
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, REPLY_BYTES_MAX)
        .await
        .map_err(|_| PageError::Broken)?;
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let header = |name: &str| header(&parts.headers, name);
    let request_id = header("x-gateway-request-id");
    let refused = body["error"]["message"].as_str().map(in_sentence);
    let given_back = text_at(&body, ANSWER).or(refused);
    let given_back = given_back.unwrap_or_else(|| "The answer holds no text.".to_owned());
    let mut facts = vec![
        Fact::text("PHI detected", header("x-gateway-phi-detected")),
        Fact::text("Types", header("x-gateway-phi-types")),
        Fact::text("Served by", body["model"].as_str().unwrap_or_default()),
        Fact::text("Error", body["error"]["code"].as_str().unwrap_or_default()),
    ];
    facts.retain(|fact| !fact.value.is_empty());
    Ok(Reply {
        tone: if parts.status == StatusCode::OK {
            "ok"
        } else {
            "bad"
        },
        status: parts.status.as_str().to_owned(),
        facts,
        stages: stages(typed, between, given_back),
        href: if request_id.is_empty() {
            String::new()
        } else {
            format!("/audit/{request_id}")
        },
    })
}

/// Where a request has what was asked, and a reply what was answered.
const QUESTION: &str = "/messages/0/content";
const ANSWER: &str = "/choices/0/message/content";

fn text_at(body: &Value, place: &str) -> Option<String> {
    body.pointer(place)?.as_str().map(str::to_owned)
}

/// What was typed, what left, what came and what a caller gets. A request that was refused has no middle.
fn stages(typed: &str, between: &Stages, given_back: String) -> Vec<Stage> {
    let read = |body: Option<&PhiText>, place| {
        let body: Value = serde_json::from_str(body?.expose()).ok()?;
        text_at(&body, place)
    };
    let texts = [
        (Stage::RECEIVED, Some(typed.to_owned())),
        (Stage::SENT, read(between.sent(), QUESTION)),
        (Stage::ANSWERED, read(between.answered(), ANSWER)),
        (Stage::GIVEN_BACK, Some(given_back)),
    ];
    let came = texts.into_iter();
    came.filter_map(|(title, text)| text.map(|text| Stage { title, text }))
        .collect()
}

fn header(headers: &HeaderMap, name: &str) -> String {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}

async fn draw(
    dash: &Dash,
    visit: &SignedIn,
    error: Option<String>,
    answer: Option<Reply>,
) -> Answer {
    let typed: String = visit
        .form()
        .exact("text")
        .chars()
        .take(TEXT_CHARS_MAX)
        .collect();
    let preview = dash.app.gateway.preview(&visit.account, &typed);
    let preview = preview
        .await
        .map_err(|error| match error.status().as_u16() {
            429 | 503 => PageError::Busy,
            _ => PageError::Broken,
        })?;
    let (findings, took_ms) = (preview.findings, preview.took.as_secs_f64() * 1000.0);
    let model = match visit.form().get("model") {
        "" => help::example_model(&visit.account),
        model => model.to_owned(),
    };
    let models = listed_models(&visit.account).into_iter();
    let in_force = visit.account.mode;
    page_with(
        if error.is_some() {
            StatusCode::UNPROCESSABLE_ENTITY
        } else {
            StatusCode::OK
        },
        &Page {
            chrome: visit.chrome("/playground"),
            error,
            model,
            models: models.map(|(model, _)| model).collect(),
            mode_code: in_force.code,
            mode_label: in_force.label,
            may_send: visit.is_owner(),
            found_words: found_words(&typed, &findings, took_ms),
            pieces: pieces(&typed, &findings, Treatment::Keep),
            findings: findings
                .iter()
                .map(|finding| found(&typed, finding))
                .collect(),
            modes: if typed.is_empty() {
                Vec::new()
            } else {
                mode_cards(in_force, &typed, &findings)
            },
            answer,
            text: typed,
        },
    )
}

fn found_words(text: &str, findings: &Findings, took_ms: f64) -> String {
    match findings.len() {
        _ if text.is_empty() => String::new(),
        0 => format!("nothing, in {took_ms:.1} ms"),
        1 => format!("1 finding in {took_ms:.1} ms"),
        many => format!("{many} findings in {took_ms:.1} ms"),
    }
}

fn found(text: &str, finding: &phi_detect::Finding) -> Found {
    Found {
        label: finding.kind.label(),
        class: kind_class(finding.kind),
        text: text
            .get(finding.span.clone())
            .unwrap_or_default()
            .to_owned(),
        score: format!("{:.2}", finding.score),
        rule: finding.rule,
    }
}
