//! How to connect a program, with this server's real address.

use askama::Template;
use phi_detect::PhiKind;

use super::connect::{Connection, connections};
use crate::clients;
use crate::layout::Layout;
use crate::visit::{Answer, SignedIn, page};

/// Help.
#[derive(Template)]
#[template(path = "help.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) base_url: String,
    pub(crate) clients: Vec<Connection>,
    pub(crate) kinds: String,
    pub(crate) may_set_up: bool,
}

/// `GET /help`
pub(crate) async fn show(visit: SignedIn) -> Answer {
    let kinds: Vec<&str> = PhiKind::all().map(PhiKind::label).collect();
    page(&Page {
        layout: visit.layout("/help"),
        base_url: visit.context.base_url(),
        clients: connections(&visit, clients::KEY),
        kinds: kinds.join(", "),
        may_set_up: visit.is_owner(),
    })
}
