//! Settings about replies: whether masked values come back, and what is done with PHI that a model wrote.
//!
//! The example under it is not a picture: the four texts go through what real requests and replies go through.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use phi_detect::Detector;
use phigate_core::doors::CHAT;
use phigate_core::protect::{self, Outcome, Policy, Scanner};
use phigate_core::reply::{Echoes, Mint, ReplyRules, ReplyScan};
use phigate_core::request::{Request, RequestLimits};
use phigate_store::Settings;
use phigate_types::{Mode, Replies};

use super::{save, tabs, typed};
use crate::Dash;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::Choice;
use crate::visit::{Answer, PageError, SignedIn, form_status, page, page_with};
use phigate_gateway::detector_of;

/// Settings of the treatment of replies.
#[derive(Template)]
#[template(path = "settings/replies.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) restore: bool,
    pub(crate) tools: String,
    pub(crate) choices: Vec<ReplyChoice>,
    pub(crate) stages: Vec<Stage>,
}

/// One thing to do with new PHI.
#[derive(Debug)]
pub(crate) struct ReplyChoice {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) chosen: bool,
}

/// One text of a conversation on its way.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

impl Stage {
    pub(crate) const RECEIVED: &str = "As received";
    pub(crate) const SENT: &str = "As sent";
    pub(crate) const ANSWERED: &str = "As answered";
    pub(crate) const GIVEN_BACK: &str = "As given back";
}

/// The caller's side of the example. Invented, and it looks it.
const QUESTION: &str = "The patient's name is Jane Roe, SSN 123-45-6789. Please draft a short letter about her potassium of 3.1 mmol/L.";

/// The model's side. The first token of each kind is in the position of its placeholder; the telephone number is new.
const ANSWER: &str =
    "Dear [NAME],\nyour potassium is a little low. Please call us back on 212-555-0142.";

const ADDRESS: &str = "/settings/replies";

/// `GET /settings/replies`
pub(crate) async fn show(visit: SignedIn) -> Answer {
    let settings = &visit.account.settings;
    let tools = settings.restore_tools.join(", ");
    page(&draft(&visit, settings, tools, None)?)
}

/// `POST /settings/replies`
pub(crate) async fn save_form(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    match read(form) {
        Ok(read) => {
            let change = |settings: &mut Settings| {
                settings.restore = read.restore;
                settings.restore_tools.clone_from(&read.restore_tools);
                settings.replies = read.replies;
            };
            save(&dash, &visit, ADDRESS, change).await
        }
        Err(error) => {
            let current = &visit.account.settings;
            let shown = Settings {
                restore: form.is_ticked("restore"),
                replies: form.get("replies").parse().unwrap_or(current.replies),
                ..current.clone()
            };
            let tools = form.get("restore_tools").to_owned();
            let page = draft(&visit, &shown, tools, Some(error))?;
            page_with(form_status(true), &page)
        }
    }
}

/// The page with these settings, stored or typed.
fn draft(
    visit: &SignedIn,
    settings: &Settings,
    tools: String,
    error: Option<String>,
) -> Result<Page, PageError> {
    let detector = detector_of(&visit.account).map_err(|_| PageError::Broken)?;
    Ok(Page {
        layout: visit.layout("/settings"),
        tabs: tabs(ADDRESS),
        error,
        restore: settings.restore,
        tools,
        choices: reply_choices(settings.replies),
        stages: stages(&detector, settings.replies).unwrap_or_default(),
    })
}

/// Returns the possible actions on new PHI.
pub(crate) fn reply_choices(chosen: Replies) -> Vec<ReplyChoice> {
    let choice = |choice: Replies| ReplyChoice {
        code: choice.code(),
        label: choice.label(),
        summary: choice.summary(),
        chosen: choice == chosen,
    };
    Replies::all().map(choice).collect()
}

fn read(form: &Fields) -> Result<Settings, String> {
    let fields = ["restore", "restore_tools", "replies"];
    typed(form, &Settings::default(), fields)
}

/// Returns the example, as received, as sent, as answered and as given back. `None` if the detector is set so that it
/// finds nothing in it.
pub(crate) fn stages(detector: &Detector, replies: Replies) -> Option<Vec<Stage>> {
    let scanner = Arc::new(Scanner::new(detector.clone()));
    let body =
        serde_json::json!({"model": "gpt-4o", "messages": [{"role": "user", "content": QUESTION}]});
    let limits = RequestLimits::default();
    let request = Request::read(CHAT.form, body.to_string().into_bytes(), &limits).ok()?;
    let scanned = protect::scan(&scanner, request);
    let echoes = Echoes::new(body.to_string().into_bytes(), scanned.values());
    // Any code will do for an example; real ones come from the installation's own secret.
    let code_of = |kind: &str, value: &str| {
        let mut code = [0_u8; 16];
        for (place, byte) in kind.bytes().chain(value.bytes()).enumerate() {
            code[place % 16] = code[place % 16].wrapping_mul(31).wrapping_add(byte);
        }
        code
    };
    let mut mint = Mint::new(&code_of, scanned.request().document());
    let policy = Policy::uniform(Mode::MASK);
    let mut token_of = |kind, value: &str| mint.token(kind, value);
    let Outcome::Forward(clean) =
        protect::apply_with(&policy, &scanner, scanned, Some(&mut token_of))
    else {
        return None;
    };
    let root = clean.request().document().root();
    let message = root.get("messages")?.values().next()?;
    let sent = message.get("content")?.string()?.into_owned();
    let issued = mint.into_issued();
    let name = issued.iter().map(|(token, _)| token);
    let name = name.into_iter().find(|token| token.starts_with("[NAME_"))?;
    let answered = ANSWER.replace("[NAME]", &name);
    let scan = (replies != Replies::Off).then_some(ReplyScan {
        scanner,
        action: replies,
        echoes,
    });
    let rules = Arc::new(ReplyRules {
        issued,
        scan,
        ..ReplyRules::default()
    });
    let given = given_back(&rules, &answered)?;
    let stage = |title, text| Stage { title, text };
    Some(vec![
        stage(Stage::RECEIVED, QUESTION.to_owned()),
        stage(Stage::SENT, sent),
        stage(Stage::ANSWERED, answered),
        stage(Stage::GIVEN_BACK, given),
    ])
}

fn given_back(rules: &Arc<ReplyRules>, answered: &str) -> Option<String> {
    let message = serde_json::json!({"role": "assistant", "content": answered});
    let body = serde_json::json!({"choices": [{"index": 0, "message": message}]});
    let reply = CHAT.whole_reply(rules, body.to_string().into_bytes());
    let Ok(body) = reply.body else {
        let kinds = reply.tally.kinds();
        let codes: Vec<&str> = kinds.iter().map(|kind| kind.code()).collect();
        return Some(format!("403 phi_in_reply: {}", codes.join(", ")));
    };
    let body: serde_json::Value = serde_json::from_slice(&body).ok()?;
    let content = body.pointer("/choices/0/message/content")?;
    content.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_masks_and_restores_for_real() {
        for (replies, expected) in [
            (
                Replies::Off,
                "Jane Roe,\nyour potassium is a little low. Please call us back on 212-555-0142.",
            ),
            (
                Replies::Mask,
                "Jane Roe,\nyour potassium is a little low. Please call us back on [PHONE].",
            ),
            (Replies::Block, "403 phi_in_reply: phone"),
        ] {
            let stages = stages(&Detector::default(), replies).expect("the example is found");
            assert!(!stages[1].text.contains("Jane") && !stages[1].text.contains("6789"));
            assert!(!stages[2].text.contains("Jane"));
            assert!(stages[3].text.ends_with(expected), "{}", stages[3].text);
        }
    }

    #[test]
    fn reply_form_is_read_and_errors_named() {
        let read_form = |tools: &str, replies: &str| {
            read(&Fields::of(&[
                ("restore", "yes"),
                ("restore_tools", tools),
                ("replies", replies),
            ]))
        };
        let read = read_form("send_*, note", "mask").unwrap();
        assert_eq!((read.restore, read.replies), (true, Replies::Mask));
        assert_eq!(read.restore_tools, ["send_*", "note"]);
        assert!(read_form("", "off").unwrap().restore_tools.is_empty());
        assert!(
            read_form("no\"te", "off")
                .unwrap_err()
                .contains("Name tools")
        );
        assert!(read_form("", "on").unwrap_err().contains("Choose one of"));
    }
}
