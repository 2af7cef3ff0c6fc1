//! Looking up an identifier: in which requests it was found, and whether it was forwarded.

use askama::Template;
use axum::extract::State;
use phi_detect::PhiKind;
use phigate_core::protect::identifier::{self, Question};
use phigate_gateway::Kinds;
use phigate_store::{Disclosure, SecretString};

use super::log::tabs;
use super::rows::{Row, disclosure_row};
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, choices, in_sentence};
use crate::visit::{Answer, SignedIn, form_status, page_with};

const ADDRESS: &str = "/audit/find";

/// The look-up.
#[derive(Template)]
#[template(path = "audit/find.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) types: Vec<Choice>,
    pub(crate) found: Option<Found>,
}

/// Records in which an identifier was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) words: String,
    pub(crate) rows: Vec<Row>,
}

const FOUND: usize = 50;

/// `GET /audit/find`
pub(crate) async fn show(visit: SignedIn) -> Answer {
    draw(&visit, None, None)
}

/// `POST /audit/find`: the searched value is in no address, so the answer has no address either.
pub(crate) async fn find(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let (code, value) = (visit.form().get("type"), visit.form().get("value"));
    let kinds = Kinds::of(&visit.account.recognizers);
    let (Some(kind), false) = (kinds.find(code), value.is_empty()) else {
        let error = "Choose a type and enter the whole value.".to_owned();
        return draw(&visit, Some(error), None);
    };
    let questions = match identifier::questions(kind, value) {
        Ok(questions) => questions,
        Err(misfit) => {
            let error = in_sentence(&misfit.to_string());
            return draw(&visit, Some(error), None);
        }
    };
    let sought = |question: &Question| {
        let forms = question.forms().iter().map(|form| form.as_str().into());
        (question.kind().code(), forms.collect())
    };
    let asked: Vec<(&str, Vec<SecretString>)> = questions.iter().map(sought).collect();
    let (account_id, actor) = (visit.account_id(), visit.actor());
    let trail = &dash.vault.trail;
    let hits = trail.find_identifiers(account_id, &asked, actor).await?;
    let was_sent = |hit: &&Disclosure| hit.is_left || hit.attempts.iter().any(|one| one.is_left);
    let sent = hits.iter().filter(was_sent).count();
    let told = found_words(hits.len(), sent);
    let found = Found {
        words: format!("{told}{} {}", elsewhere(&hits, kind), tried(&questions)),
        rows: hits.iter().take(FOUND).map(disclosure_row).collect(),
    };
    draw(&visit, None, Some(found))
}

/// Says as what else a number was found than what was asked for.
fn elsewhere(hits: &[Disclosure], asked: PhiKind) -> String {
    let is_found = |kind: &PhiKind| {
        let mut kinds = hits.iter().flat_map(|hit| &hit.found_as);
        *kind != asked && kinds.any(|code| code == kind.code())
    };
    let others: Vec<&str> = PhiKind::all()
        .filter(is_found)
        .map(PhiKind::label)
        .collect();
    match others.is_empty() {
        true => String::new(),
        false => format!(" Found as {}.", others.join(", ")),
    }
}

fn tried(questions: &[Question]) -> String {
    let ways = questions.first().map_or("", Question::ways);
    let others: Vec<&str> = questions
        .iter()
        .skip(1)
        .map(|one| one.kind().label())
        .collect();
    match others.is_empty() {
        true => format!("Tried: {ways}."),
        false => format!("Tried: {ways}; and as {}.", others.join(", ")),
    }
}

fn found_words(all: usize, sent: usize) -> String {
    match (all, sent) {
        (0, _) => "Not found in the requests that the log still holds. Records past their retention, text that the detector did not recognise and attachments are not covered.".to_owned(),
        (1, 0) => "Found in 1 request. It was not forwarded.".to_owned(),
        (1, _) => "Found in 1 request, and forwarded to a provider.".to_owned(),
        (all, 0) => format!("Found in {all} requests. In none of them was it forwarded."),
        (all, sent) => {
            format!("Found in {all} requests, and forwarded to a provider in {sent} of them.")
        }
    }
}

fn draw(visit: &SignedIn, error: Option<String>, found: Option<Found>) -> Answer {
    let of_account = Kinds::of(&visit.account.recognizers);
    let kinds = of_account.all().map(|(kind, label)| (kind.code(), label));
    let status = form_status(error.is_some());
    page_with(
        status,
        &Page {
            layout: visit.layout("/audit"),
            tabs: tabs(ADDRESS),
            error,
            types: choices(kinds, visit.form().get("type")),
            found,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_result_wording_follows_request_count() {
        for (all, sent, words) in [
            (
                0,
                0,
                "Not found in the requests that the log still holds. Records past their retention, text that the detector did not recognise and attachments are not covered.",
            ),
            (1, 0, "Found in 1 request. It was not forwarded."),
            (1, 1, "Found in 1 request, and forwarded to a provider."),
            (
                3,
                1,
                "Found in 3 requests, and forwarded to a provider in 1 of them.",
            ),
        ] {
            assert_eq!(found_words(all, sent), words);
        }
    }
}
