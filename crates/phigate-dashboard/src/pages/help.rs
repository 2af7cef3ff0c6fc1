//! Setup of a program, with this server's real address.

use askama::Template;
use phi_detect::PhiKind;
use phigate_gateway::{kind_states, kinds_of};
use phigate_types::Right;

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
    /// The kinds that this account looks for, and those that it does not.
    pub(crate) kinds: String,
    pub(crate) kinds_off: String,
    pub(crate) may_set_up: bool,
}

/// `GET /help`
pub(crate) async fn show(visit: SignedIn) -> Answer {
    let states = kind_states(&kinds_of(&visit.account));
    let of = |is_on: bool| {
        let kinds = states.iter().filter(|one| one.is_on == is_on);
        kinds.map(|one| one.kind).collect::<Vec<PhiKind>>()
    };
    page(&Page {
        layout: visit.layout("/help"),
        base_url: visit.context.base_url(),
        clients: connections(&visit, clients::KEY),
        kinds: labels(&of(true)),
        kinds_off: labels(&of(false)),
        may_set_up: visit.may(Right::Configure),
    })
}

fn labels(kinds: &[PhiKind]) -> String {
    let labels: Vec<&str> = kinds.iter().map(|kind| kind.label()).collect();
    labels.join(", ")
}
