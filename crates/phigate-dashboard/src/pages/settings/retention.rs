//! Settings about retention: how long content and records are kept, the legal hold, and how many people a look at content
//! takes.

use askama::Template;
use axum::extract::State;
use phigate_gateway::DAYS_MAX;
use phigate_store::{Retention, Settings};
use phigate_types::Approvals;

use super::{save, tabs, typed};
use crate::Dash;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::Choice;
use crate::visit::{Answer, SignedIn, form_status, page_with};

const ADDRESS: &str = "/settings/retention";

/// Settings of retention.
#[derive(Template)]
#[template(path = "settings/retention.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) content_days: String,
    pub(crate) record_days: String,
    pub(crate) legal_hold: bool,
    pub(crate) days_max: u32,
    /// Number of people that a look at content takes.
    pub(crate) approvals: Vec<Approvals>,
    pub(crate) chosen: Approvals,
}

/// `GET /settings/retention`
pub(crate) async fn show(visit: SignedIn) -> Answer {
    let retention = visit.account.settings.retention;
    let stored = Typed {
        content_days: retention.content_days.to_string(),
        record_days: retention.metadata_days.to_string(),
        legal_hold: retention.legal_hold,
        approvals: visit.account.settings.reveal_approvals,
    };
    draw(&visit, None, stored)
}

/// `POST /settings/retention`
pub(crate) async fn save_form(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    match read(form) {
        Ok(retention) => {
            let chosen = approvals(&visit);
            let change = |settings: &mut Settings| {
                settings.retention = retention;
                settings.reveal_approvals = chosen;
            };
            save(&dash, &visit, ADDRESS, change).await
        }
        Err(error) => {
            let typed = Typed {
                content_days: form.get("content_days").to_owned(),
                record_days: form.get("record_days").to_owned(),
                legal_hold: form.is_ticked("legal_hold"),
                approvals: approvals(&visit),
            };
            draw(&visit, Some(error), typed)
        }
    }
}

/// Contents of the fields: stored, or typed.
struct Typed {
    content_days: String,
    record_days: String,
    legal_hold: bool,
    approvals: Approvals,
}

/// The number that was chosen. A form without it leaves the number as it is.
fn approvals(visit: &SignedIn) -> Approvals {
    let chosen = visit.form().get("reveal_approvals").parse();
    chosen.unwrap_or(visit.account.settings.reveal_approvals)
}

fn draw(visit: &SignedIn, error: Option<String>, typed: Typed) -> Answer {
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/settings"),
            tabs: tabs(ADDRESS),
            error,
            content_days: typed.content_days,
            record_days: typed.record_days,
            legal_hold: typed.legal_hold,
            days_max: DAYS_MAX,
            approvals: Approvals::all().collect(),
            chosen: typed.approvals,
        },
    )
}

fn read(form: &Fields) -> Result<Retention, String> {
    let fields = ["content_days", "record_days", "legal_hold"];
    typed(form, &Settings::default(), fields).map(|settings| settings.retention)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retention_days_are_read_and_errors_named() {
        let read = |content: &str, records: &str| {
            let pairs = [("content_days", content), ("record_days", records)];
            read(&Fields::of(&pairs))
        };
        let retention = read("30", "2192").unwrap();
        assert_eq!(
            (retention.content_days, retention.metadata_days),
            (30, 2192)
        );
        assert!(!retention.legal_hold);
        for (content, records, words) in [
            ("-1", "2192", "originals"),
            ("99999999999", "2192", "originals"),
            ("30", "0", "records"),
        ] {
            assert!(read(content, records).unwrap_err().contains(words));
        }
    }
}
