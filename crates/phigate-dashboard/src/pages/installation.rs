//! The records of the installation itself: bad keys that belong to no account, backups, changes of the master key.
//!
//! They concern the callers of all accounts, so an owner sees them only while there is one account.

use askama::Template;
use axum::extract::State;
use phigate_store::{Filter, INSTALLATION};

use super::log::{Listed, Listing, ROWS, tabs};
use super::rows::{ActRow, act_row};
use crate::Dash;
use crate::layout::Layout;
use crate::view::Choice;
use crate::visit::{Answer, SignedIn, page};

const ADDRESS: &str = "/audit/installation";

/// Acts of the installation.
#[derive(Template)]
#[template(path = "audit/installation.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) listing: Listing,
    pub(crate) acts: Vec<ActRow>,
    /// Several accounts: nothing is shown.
    pub(crate) is_shared: bool,
}

/// `GET /audit/installation`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let query = &visit.context.query;
    let is_shared = dash.vault.accounts.accounts().await?.len() > 1;
    let listed = match is_shared {
        true => Listed::none(),
        false => {
            let (all, before) = (Filter::default(), Listing::before(query));
            let trail = &dash.vault.trail;
            let records = trail.audit_list(INSTALLATION, &all, before, ROWS).await?;
            Listed::new(&records, act_row, String::new())
        }
    };
    page(&Page {
        layout: visit.layout("/audit"),
        tabs: tabs("/audit/administration"),
        listing: Listing::new(ADDRESS, query).read(query, &listed),
        acts: listed.rows,
        is_shared,
    })
}
