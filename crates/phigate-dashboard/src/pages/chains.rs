//! Providers asked for a model, one after the other: the order that results from an owner's fallbacks.

use jiff::Timestamp;
use phigate_gateway::{Route, routes};
use phigate_store::Account;

/// Providers asked for one model.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) asked: String,
    pub(crate) links: Vec<Link>,
}

/// Provider in a chain.
#[derive(Debug)]
pub(crate) struct Link {
    /// The provider, or the target as written if no provider serves it.
    pub(crate) name: String,
    /// The model there.
    pub(crate) model: String,
    /// Tone and words, if it will not always be asked.
    pub(crate) remark: Option<(&'static str, &'static str)>,
}

/// The order for every model that has fallbacks.
pub(crate) fn chains(account: &Account, now: Timestamp) -> Vec<Chain> {
    let chain = |(asked, targets): (&String, &Vec<String>)| {
        let links = std::iter::once(asked).chain(targets);
        Chain {
            asked: asked.clone(),
            links: links.map(|target| link(account, target, now)).collect(),
        }
    };
    account.fallbacks.iter().map(chain).collect()
}

fn link(account: &Account, target: &str, now: Timestamp) -> Link {
    let found = routes(account, target).ok();
    match found.as_deref().and_then(<[Route<'_>]>::first) {
        Some(route) => {
            let may_have = route.provider.config.phi_now(now);
            let is_allowed = may_have != phigate_types::PhiAgreement::Never;
            Link {
                name: route.name.to_owned(),
                model: route.model.clone(),
                remark: (!is_allowed).then_some(("warn", "left out when there is PHI")),
            }
        }
        None => Link {
            name: target.to_owned(),
            model: String::new(),
            remark: Some(("bad", "nobody serves it")),
        },
    }
}
