//! Settings about limits: how often a key may ask.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use phigate_gateway::KEY_LIMIT_MAX;
use phigate_store::Settings;
use phigate_types::KeyLimit;

use super::{save, tabs, typed};
use crate::Dash;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::Choice;
use crate::visit::{Answer, SignedIn, form_status, page_with};

const ADDRESS: &str = "/settings/limits";

/// The limits of every key.
#[derive(Template)]
#[template(path = "settings/limits.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) requests_per_minute: String,
    pub(crate) concurrency: String,
    pub(crate) limit_max: u64,
    pub(crate) default_per_minute: u64,
    pub(crate) default_concurrency: u64,
}

/// `GET /settings/limits`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let limits = &visit.account.settings.limits;
    let limit = |name| {
        limits
            .get(&name)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    draw(&dash, &visit, None, limit)
}

/// `POST /settings/limits`
pub(crate) async fn save_form(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    match read(visit.form()) {
        Ok(limits) => {
            let change = |settings: &mut Settings| settings.limits.clone_from(&limits);
            save(&dash, &visit, ADDRESS, change).await
        }
        Err(error) => {
            let typed = |name: KeyLimit| visit.form().get(name.code()).to_owned();
            draw(&dash, &visit, Some(error), typed)
        }
    }
}

fn draw(
    dash: &Dash,
    visit: &SignedIn,
    error: Option<String>,
    value: impl Fn(KeyLimit) -> String,
) -> Answer {
    let servers = &dash.limits;
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/settings"),
            tabs: tabs(ADDRESS),
            error,
            requests_per_minute: value(KeyLimit::RequestsPerMinute),
            concurrency: value(KeyLimit::Concurrency),
            limit_max: KEY_LIMIT_MAX,
            default_per_minute: servers.key_requests_per_minute,
            default_concurrency: servers.key_concurrency,
        },
    )
}

/// A limit left empty is the server's own.
fn read(form: &Fields) -> Result<BTreeMap<KeyLimit, u64>, String> {
    let names = KeyLimit::all().map(KeyLimit::code);
    typed(form, &Settings::default(), names).map(|settings| settings.limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_errors_named() {
        let read = |name: &str, value: &str| read(&Fields::of(&[(name, value)]));
        let own = read("key_concurrency", "8").unwrap();
        assert_eq!(own, BTreeMap::from([(KeyLimit::Concurrency, 8)]));
        assert!(read("key_concurrency", "").unwrap().is_empty());
        for (name, value, words) in [
            ("key_requests_per_minute", "0", "minute"),
            ("key_concurrency", "many", "Concurrent"),
        ] {
            assert!(read(name, value).unwrap_err().contains(words));
        }
    }
}
