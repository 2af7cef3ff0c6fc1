//! Trying a text: what is found, what each mode makes of it, and a real request.

use askama::Template;
use axum::body::to_bytes;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use phi_detect::{Detector, Findings};
use phigate_core::text::PhiText;
use phigate_gateway::{GatewayError, Stages, detector_of, generalizing, listed_models, routes};
use phigate_types::Right;
use serde_json::{Map, Value, json};

use super::dropped::{Dropped, dropped};
use super::settings::policy::word_label;
use super::settings::replies::Stage;
use super::settings::{ModeCard, mode_cards};
use crate::Dash;
use crate::clients;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::{Choice, Fact, Piece, Treatment, choices, in_sentence, kind_class, pieces};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with};

/// The playground.
#[derive(Template)]
#[template(path = "playground.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
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
    pub(crate) dropped: Option<Dropped>,
    pub(crate) modes: Vec<ModeCard>,
    pub(crate) answer: Option<Reply>,
    /// Formats of the text: a message, or messages as JSON.
    pub(crate) formats: Vec<Choice>,
    pub(crate) curl: String,
}

/// One finding, with its text: the viewer typed it.
pub(crate) struct Found {
    pub(crate) label: &'static str,
    pub(crate) class: &'static str,
    pub(crate) text: String,
    pub(crate) score: String,
    /// Explanation of the finding and of its treatment.
    pub(crate) why: String,
    /// Kind and text, if the viewer may add them to the allow list.
    pub(crate) pick: String,
}

/// Reply to the request.
pub(crate) struct Reply {
    pub(crate) tone: &'static str,
    pub(crate) status: String,
    pub(crate) facts: Vec<Fact>,
    /// The texts on their way, as far as the request came; the last is the caller's.
    pub(crate) stages: Vec<Stage>,
    pub(crate) href: String,
}

/// A text to try. Invented, and it looks it.
const EXAMPLE: &str = "Jane Roe, born 03/04/1961, MRN 00412345, asks about her potassium of 3.1 mmol/L. Call her on 415-555-0134.";

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
    let mut body = match request(&visit) {
        Ok(body) => body,
        Err(error) => return draw(&dash, &visit, Some(error), None).await,
    };
    // The page shows whole answers; streams have another address.
    body.remove("stream");
    body.remove("stream_options");
    let body = Value::Object(body);
    let text = visit.form().exact("text");
    let answered = dash
        .gateway
        .answer_for_dashboard(visit.account.clone(), body.to_string().into());
    let (response, between) = answered.await;
    let is_json = visit.form().get("format") == JSON;
    let reply = read_reply(response, text, &between, is_json).await?;
    draw(&dash, &visit, None, Some(reply)).await
}

/// `POST /playground/stream`: a real request, answered as a caller is answered who asked for a stream.
pub(crate) async fn stream(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let mut body = match request(&visit) {
        Ok(body) => body,
        Err(error) => return draw(&dash, &visit, Some(error), None).await,
    };
    body.insert("stream".to_owned(), Value::Bool(true));
    let body = Value::Object(body).to_string();
    let answered = dash
        .gateway
        .answer_for_dashboard(visit.account.clone(), body.into());
    let (response, _) = answered.await;
    Ok(response)
}

/// The codes of the two ways to read what was typed.
const TEXT: &str = "text";
const JSON: &str = "json";

/// Returns the typed text as a request to a model that can be asked, or says what is missing.
fn request(visit: &SignedIn) -> Result<Map<String, Value>, String> {
    let body = body(visit.form())?;
    let model = body
        .get("model")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match routes(&visit.account, model) {
        Ok(_) => Ok(body),
        Err(GatewayError::NotConfigured { family }) => {
            let label = family.label();
            Err(format!(
                "No key is set for {label}. Set it under Providers first."
            ))
        }
        Err(_) => {
            Err("No provider serves a model with this name. Choose one from the list.".to_owned())
        }
    }
}

/// One message of a user, or, as JSON, a list of messages or a whole request.
fn body(form: &Fields) -> Result<Map<String, Value>, String> {
    let (text, model) = (form.exact("text"), form.get("model"));
    if text.trim().is_empty() {
        return Err("Type a text to send first.".to_owned());
    }
    let mut body = Map::new();
    if form.get("format") == JSON {
        match serde_json::from_str(text) {
            Ok(Value::Array(messages)) => {
                body.insert("messages".to_owned(), Value::Array(messages));
            }
            Ok(Value::Object(whole)) => body = whole,
            _ => {
                return Err("That is neither a list of messages nor a request in JSON.".to_owned());
            }
        }
    } else {
        let message = json!({ "role": "user", "content": text });
        body.insert("messages".to_owned(), json!([message]));
    }
    body.entry("model").or_insert_with(|| model.into());
    Ok(body)
}

/// Returns this request as a shell command.
fn curl(visit: &SignedIn, model: &str) -> String {
    let mut body = body(visit.form()).unwrap_or_default();
    if body.get("model").is_none_or(|model| *model == "") {
        body.insert("model".to_owned(), model.into());
    }
    let body = Value::Object(body).to_string().replace('\'', r"'\''");
    format!(
        "curl {}/chat/completions \\\n  -H \"Authorization: Bearer $PHIGATE_API_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{body}'",
        visit.context.base_url()
    )
}

async fn read_reply(
    response: Response,
    typed: &str,
    between: &Stages,
    is_json: bool,
) -> Result<Reply, PageError> {
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
        stages: stages(typed, between, given_back, is_json),
        href: if request_id.is_empty() {
            String::new()
        } else {
            format!("/audit/{request_id}")
        },
    })
}

/// Paths of the question in a request, and of the answer in a reply.
const QUESTION: &str = "/messages/0/content";
const ANSWER: &str = "/choices/0/message/content";

fn text_at(body: &Value, place: &str) -> Option<String> {
    body.pointer(place)?.as_str().map(str::to_owned)
}

/// Returns the stages of a message: typed, sent, answered, given back. A refused request has no middle.
fn stages(typed: &str, between: &Stages, given_back: String, is_json: bool) -> Vec<Stage> {
    let read = |body: Option<&PhiText>, place| {
        let body: Value = serde_json::from_str(body?.expose()).ok()?;
        text_at(&body, place)
    };
    let sent = match is_json {
        true => between.sent().map(|body| body.expose().to_owned()),
        false => read(between.sent(), QUESTION),
    };
    let texts = [
        (Stage::RECEIVED, Some(typed.to_owned())),
        (Stage::SENT, sent),
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
    let typed = typed(visit);
    let preview = dash.gateway.preview(&visit.account, &typed);
    let preview = preview
        .await
        .map_err(|error| match error.status().as_u16() {
            429 | 503 => PageError::Busy,
            _ => PageError::Broken,
        })?;
    let (findings, took_ms) = (preview.findings, preview.took.as_secs_f64() * 1000.0);
    let detector = detector_of(&visit.account).map_err(|_| PageError::Broken)?;
    let found = |finding| found(visit, &detector, &typed, finding);
    let found: Vec<Found> = findings.iter().map(found).collect();
    let model = match visit.form().get("model") {
        "" => clients::example_model(&visit.account),
        model => model.to_owned(),
    };
    let models = listed_models(&visit.account).into_iter();
    let in_force = visit.account.mode;
    let dropped = dropped(dash, visit).await?;
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/playground"),
            error,
            models: models.map(|(model, _)| model).collect(),
            mode_code: in_force.code,
            mode_label: in_force.label,
            may_send: visit.may(Right::Configure),
            found_words: found_words(&typed, &findings, took_ms),
            pieces: pieces(&typed, &findings, Treatment::Keep),
            findings: found,
            dropped,
            modes: previews(visit, &typed, &findings),
            answer,
            formats: choices(
                [
                    (TEXT, "One message"),
                    (JSON, "Messages, or a whole request, as JSON"),
                ],
                visit.form().get("format"),
            ),
            curl: curl(visit, &model),
            model,
            text: typed,
        },
    )
}

/// The typed text under each mode; empty without a text.
fn previews(visit: &SignedIn, typed: &str, findings: &Findings) -> Vec<ModeCard> {
    let coarse = generalizing(&visit.account);
    match typed {
        "" => Vec::new(),
        typed => mode_cards(visit.account.mode, typed, findings, coarse.as_ref()),
    }
}

/// Returns the typed text, or the example if that was asked for.
fn typed(visit: &SignedIn) -> String {
    let given = match visit.context.query.get("example") {
        "yes" => EXAMPLE,
        _ => visit.form().exact("text"),
    };
    given.chars().take(TEXT_CHARS_MAX).collect()
}

fn found_words(text: &str, findings: &Findings, took_ms: f64) -> String {
    match findings.len() {
        _ if text.is_empty() => String::new(),
        0 => format!("nothing, in {took_ms:.1} ms"),
        1 => format!("1 finding in {took_ms:.1} ms"),
        many => format!("{many} findings in {took_ms:.1} ms"),
    }
}

fn found(
    visit: &SignedIn,
    detector: &Detector,
    text: &str,
    finding: &phi_detect::Finding,
) -> Found {
    let kind = finding.kind;
    let text = text.get(finding.span.clone()).unwrap_or_default();
    let may_allow = kind.may_be_allowed() && visit.may(Right::Configure);
    Found {
        label: kind.label(),
        class: kind_class(kind),
        text: text.to_owned(),
        score: format!("{:.2}", finding.score),
        why: why(visit, detector, finding),
        pick: match may_allow {
            true => format!("{} {text}", kind.code()),
            false => String::new(),
        },
    }
}

/// Explains a finding and its treatment in sentences.
fn why(visit: &SignedIn, detector: &Detector, finding: &phi_detect::Finding) -> String {
    let (kind, policy) = (finding.kind, &visit.account.policy);
    let ruling = policy.of(kind.code());
    let is_said = policy.levels().account.contains_key(kind.code());
    let by = if is_said { "policy" } else { "mode" };
    format!(
        "The rule {} found it with a score of {:.2}; findings of this kind count from {:.2}. Treatment: {}, by the {by} of the account. A group, a key or a provider may be stricter.",
        finding.rule,
        finding.score,
        detector.threshold(kind),
        word_label(ruling.word),
    )
}
