//! Overview: recent events, and problems that need attention.

mod attention;
mod figures;

use askama::Template;
use axum::extract::State;
use phigate_gateway::Kinds;
use phigate_store::Filter;
use phigate_types::{ErrorCode, Right};

use super::rows::{Row, request_row};
use crate::Dash;
use crate::chart::{Chart, Slot};
use crate::fields::encode;
use crate::latency::added_ms;
use crate::layout::Layout;
use crate::view::Choice;
use crate::visit::{Answer, SignedIn, page};
pub(crate) use attention::{Health, Line};
use attention::{attention, health};
pub(crate) use figures::{Bar, Figure, Step};
use figures::{
    bars, counted_log, figures, headline, period, periods, phi_bars, phi_slot, slot, steps,
};

/// The first page.
#[derive(Template)]
#[template(path = "overview.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) headline: String,
    pub(crate) periods: Vec<Choice>,
    pub(crate) steps: Option<Vec<Step>>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) chart: Chart,
    pub(crate) attention: Vec<Line>,
    pub(crate) types: Vec<Bar>,
    pub(crate) keys: Vec<Bar>,
    pub(crate) models: Vec<Bar>,
    pub(crate) errors: Vec<Bar>,
    /// Whether the chart leaves out requests without PHI.
    pub(crate) shows_phi: bool,
    pub(crate) period: &'static str,
    pub(crate) legal_hold: bool,
    pub(crate) mode_label: &'static str,
    pub(crate) health: Vec<Health>,
    pub(crate) latest: Vec<Row>,
}

/// Newest requests from which the health of the providers is judged.
const RECENT: usize = 50;
/// Requests with PHI that are listed.
const LATEST: usize = 8;

/// `GET /`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let period = period(visit.context.query.get("period"));
    let account_id = visit.account_id();
    let vault = &dash.vault;
    let stats = vault.figures.stats(account_id, period.window).await?;
    let with_phi = Filter {
        phi_detected: Some(true),
        ..Filter::default()
    };
    let latest = vault
        .trail
        .request_list(account_id, &with_phi, None, LATEST)
        .await?
        .items;
    let recent = vault
        .trail
        .request_list(account_id, &Filter::default(), None, RECENT)
        .await?
        .items;
    let keys = vault.access.api_keys(account_id).await?;
    let names = super::keys::names(&keys);
    let health = health(&dash, &visit, &recent).await;
    let attention = attention(&dash, &visit, &stats, &keys, &health).await?;
    let shows_phi = visit.context.query.get("show") == "phi";
    let slot = if shows_phi { phi_slot } else { slot };
    let slots: Vec<Slot> = stats.buckets.iter().map(slot).collect();
    let log = counted_log(&stats);
    let link = |name: &str, value: &str| format!("{log}&{name}={}", encode(value));
    let of_account = Kinds::of(&visit.account.recognizers);
    let kinds = of_account.all().map(|(kind, label)| (kind.code(), label));
    let codes = ErrorCode::all().map(|code| (code.code(), code.code()));
    let name = |id: &str| names.get(id).filter(|name| !name.is_empty()).cloned();
    let name = |id: &str| name(id).unwrap_or_else(|| id.to_owned());
    page(&Page {
        layout: visit.layout("/"),
        headline: headline(&stats, period.words),
        periods: periods(period),
        steps: (visit.may(Right::Configure) && recent.is_empty()).then(|| steps(&visit, &keys)),
        figures: figures(&stats, added_ms(&dash.metrics.text())),
        chart: Chart::new(&slots, period.span, period.by_day),
        attention,
        types: bars(&stats.by_type, kinds, |code| link("type", code)),
        keys: phi_bars(&stats.by_key, name, |id| link("key", id)),
        models: phi_bars(&stats.by_model, str::to_owned, |model| {
            link("model", &format!("\"{model}\""))
        }),
        errors: bars(&stats.by_error, codes, |code| link("error", code)),
        shows_phi,
        period: period.code,
        legal_hold: visit.account.settings.retention.legal_hold,
        mode_label: visit.account.mode.label,
        health,
        latest: latest
            .iter()
            .map(|request| request_row(request, &names))
            .collect(),
    })
}
