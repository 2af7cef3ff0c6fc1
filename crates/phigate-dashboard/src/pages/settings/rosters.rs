//! Rosters: lists of patients, of which only keyed codes are kept. Import is a command, because files are large.

use askama::Template;
use axum::extract::{Path, State};
use phigate_gateway::Weaker;
use phigate_store::RosterInfo;

use super::tabs;
use super::weakening::{Asked, ask};
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, When, grouped};
use crate::visit::{Answer, PageError, SignedIn, page, redirect};

const ADDRESS: &str = "/settings/rosters";

/// The rosters.
#[derive(Template)]
#[template(path = "settings/rosters.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) patients: String,
    pub(crate) rosters: Vec<Line>,
}

/// One roster.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) patients: String,
    pub(crate) imported: When,
    pub(crate) imported_by: String,
}

/// `GET /settings/rosters`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let rosters = dash.vault.rosters.list(visit.account_id()).await?;
    let line = |roster: RosterInfo| Line {
        name: roster.name.to_string(),
        patients: grouped(roster.patients),
        imported: When::at(roster.imported),
        imported_by: roster.imported_by,
    };
    page(&Page {
        layout: visit.layout("/settings"),
        tabs: tabs(ADDRESS),
        error: None,
        patients: grouped(rosters.iter().map(|roster| roster.patients).sum()),
        rosters: rosters.into_iter().map(line).collect(),
    })
}

/// `POST /settings/rosters/{roster}/remove`
pub(crate) async fn remove(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(roster): Path<String>,
) -> Answer {
    let rosters = &dash.vault.rosters;
    let known = rosters.list(visit.account_id()).await?;
    let known = known.into_iter().find(|one| one.name == roster);
    let name = known.ok_or(PageError::NotFound)?.name;
    let address = format!("{ADDRESS}/{name}/remove");
    let by = match ask(&dash, &visit, &address, &[Weaker::Roster]).await? {
        Asked::Given(by) => by,
        Asked::First(question) => return Ok(*question),
    };
    rosters.remove(visit.account_id(), &name, by).await?;
    Ok(redirect(&format!("{ADDRESS}?done=roster-removed")))
}
