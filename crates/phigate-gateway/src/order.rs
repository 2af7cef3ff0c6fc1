//! Order of the providers for a request: eligible providers, fallbacks, and providers that rest after failures.

use std::collections::VecDeque;
use std::time::Instant;

use jiff::Timestamp;
use phi_detect::PhiKind;
use phigate_core::doors::Door;
use phigate_core::protect::{Policy, Scanned};
use phigate_store::Account;
use phigate_types::PhiAgreement;

use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::route::{self, Route};

/// A provider that may be asked.
pub(crate) struct Choice<'a> {
    pub(crate) route: Route<'a>,
    /// Whether the owner named it as a fallback.
    pub(crate) is_fallback: bool,
}

/// Content of a request, as far as it decides which providers may have the request.
pub(crate) struct Content {
    kinds: Vec<PhiKind>,
    /// Whether only providers that may have PHI may have the request.
    needs_agreement: bool,
}

impl Content {
    /// A request that was not fully scanned counts as if it held PHI. A request that the policy blocks is not forwarded
    /// to any provider.
    pub(crate) fn of(scanned: &Scanned, policy: &Policy) -> Self {
        let report = scanned.report();
        let may_hold_phi = report.has_phi() || !report.is_complete();
        Self {
            kinds: report.kinds().collect(),
            needs_agreement: may_hold_phi && !scanned.is_blocked(policy),
        }
    }
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
    content: &Content,
) -> Result<Vec<Choice<'a>>, GatewayError> {
    let not_covered = || GatewayError::NotCovered(content.kinds.clone());
    let own = covered(routes, content).ok_or_else(not_covered)?;
    let mut choices = vec![Choice {
        route: own,
        is_fallback: false,
    }];
    for target in account.fallbacks.get(asked).into_iter().flatten() {
        let routes = route::routes_at(door, account, target).unwrap_or_default();
        let Some(route) = covered(routes, content) else {
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

/// The first provider that may have a request.
fn covered<'a>(routes: Vec<Route<'a>>, content: &Content) -> Option<Route<'a>> {
    let now = Timestamp::now();
    let may_have = |route: &Route<'_>| {
        !content.needs_agreement || route.provider.config.phi_now(now) != PhiAgreement::Never
    };
    routes.into_iter().find(may_have)
}
