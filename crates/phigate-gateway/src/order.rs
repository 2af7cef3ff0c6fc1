//! Order of the providers for a request: eligible providers, fallbacks, and providers that rest after failures.

use std::collections::VecDeque;
use std::time::Instant;

use jiff::Timestamp;
use phigate_core::doors::Door;
use phigate_core::protect::{Report, Scanned};
use phigate_store::Account;
use phigate_types::{Effect, PhiAgreement};

use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::route::{self, Route};

/// A provider that may be asked.
pub(crate) struct Choice<'a> {
    pub(crate) route: Route<'a>,
    /// Whether the owner named it as a fallback.
    pub(crate) is_fallback: bool,
}

/// Fallbacks of a request.
pub(crate) struct Others {
    /// The request as it was scanned: each provider is decided about anew.
    pub(crate) scanned: Scanned,
    /// The conversation, if the caller named it.
    pub(crate) conversation: Option<String>,
    /// Remaining targets, as `NAME/model`.
    targets: VecDeque<String>,
}

impl Others {
    pub(crate) fn new(
        scanned: Scanned,
        conversation: Option<String>,
        choices: &[Choice<'_>],
    ) -> Self {
        let targets = choices.iter().map(|choice| {
            let route = &choice.route;
            format!("{}/{}", route.name, route.model)
        });
        Self {
            scanned,
            conversation,
            targets: targets.collect(),
        }
    }

    /// Whether all fallbacks were asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Takes the next target.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.targets.pop_front()
    }
}

/// The providers for a request, in order: the first that serves the model and may have the request, then the owner's
/// fallbacks for the model. Providers that keep failing go last. There is at least one.
pub(crate) fn choices<'a>(
    gateway: &Gateway,
    account: &'a Account,
    (door, asked): (&Door, &str),
    routes: Vec<Route<'a>>,
    report: &Report,
) -> Result<Vec<Choice<'a>>, GatewayError> {
    let not_covered = || GatewayError::NotCovered(report.kinds().collect());
    let own = covered(account, routes, report).ok_or_else(not_covered)?;
    let mut choices = vec![Choice {
        route: own,
        is_fallback: false,
    }];
    for target in account.fallbacks.get(asked).into_iter().flatten() {
        let routes = route::routes_at(door, account, target).unwrap_or_default();
        let Some(route) = covered(account, routes, report) else {
            continue;
        };
        let is_same = |known: &Choice<'_>| {
            known.route.name == route.name && known.route.upstream == route.upstream
        };
        if !choices.iter().any(is_same) {
            choices.push(Choice {
                route,
                is_fallback: true,
            });
        }
    }
    if choices.len() > 1 {
        let now = Instant::now();
        let is_resting =
            |choice: &Choice<'_>| gateway.rest.is_resting(&account.id, choice.route.name, now);
        choices.sort_by_cached_key(is_resting);
    }
    Ok(choices)
}

/// The first provider that may have a request. A request that was not fully scanned counts as if it held PHI.
fn covered<'a>(account: &Account, routes: Vec<Route<'a>>, report: &Report) -> Option<Route<'a>> {
    let is_blocked = matches!(account.mode.effect, Effect::Block);
    let may_hold_phi = report.has_phi() || !report.is_complete();
    let now = Timestamp::now();
    let may_have = |route: &Route<'_>| {
        let agreed = route.provider.config.phi_now(now);
        // A request that the mode blocks is not forwarded to any provider.
        is_blocked || !may_hold_phi || agreed != PhiAgreement::Never
    };
    routes.into_iter().find(may_have)
}
