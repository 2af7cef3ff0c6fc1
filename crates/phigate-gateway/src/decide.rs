//! Synchronous steps of a request: parse, route, scan, apply the policy, translate, scan again.
//!
//! [`ScanJob`] decides on which thread and when they run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use jiff::Timestamp;
use phi_detect::PhiKind;
use phigate_core::doors::{CHAT, Door};
use phigate_core::egress::{self, Cleared, Held};
use phigate_core::protect::{self, CleanRequest, Outcome, Policy, Scanned, Scanner};
use phigate_core::request::RequestError;
use phigate_core::wire::{FailureKind, ProviderFailure, Refusal, ReplyContext};
use phigate_store::Account;
use phigate_types::{Effect, ErrorCode, Mode, PhiAgreement};
use uuid::Uuid;

use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::forward::{Exchange, Forward};
use crate::gateway::Gateway;
use crate::intake::Intake;
use crate::open::{CallerMetadata, Permits};
use crate::order::{self, Others};
use crate::provider::{Authorizer, Destination};
use crate::record::RequestRecord;
use crate::reply_plan::ReplyDraft;
use crate::route::{self, Route};
use crate::scan_job::{ScanJob, is_long};
use crate::stages::Stages;

/// Decision about a request, with the facts gathered by then.
pub(crate) type Verdict = (Box<RequestFacts>, Result<Box<Forward>, GatewayError>);

/// Decides about a body.
pub(crate) async fn decide(
    record: &RequestRecord,
    body: Bytes,
    said: CallerMetadata,
    permits: &Permits,
) -> Verdict {
    let body_bytes = body.len();
    let intake = match Intake::take(record, body, permits).await {
        Ok(intake) => intake,
        Err(error) => return (RequestFacts::of_body(body_bytes), Err(error)),
    };
    let is_long = intake.is_long();
    let decided = computed(record, said, permits, is_long, move |decider, scanner| {
        decider.decide(scanner, intake, body_bytes)
    });
    let undecided = |error| (RequestFacts::of_body(body_bytes), Err(error));
    decided.await.unwrap_or_else(undecided)
}

/// Decides about a request for the next provider that can be asked, after a failure. `None` if all were asked.
pub(crate) async fn decide_again(
    record: &RequestRecord,
    others: Others,
    permits: &Permits,
) -> Option<(Box<RequestFacts>, Box<Forward>)> {
    let is_long = is_long(others.scanned.request().document().expose().as_bytes());
    let said = CallerMetadata {
        conversation: others.conversation.clone(),
        ..CallerMetadata::default()
    };
    let decided = computed(record, said, permits, is_long, move |decider, scanner| {
        decider.decide_again(scanner, others)
    });
    decided.await.ok().flatten()
}

/// Runs a computation on the thread and at the time that [`ScanJob`] chooses.
async fn computed<T: Send + 'static>(
    record: &RequestRecord,
    said: CallerMetadata,
    permits: &Permits,
    is_long: bool,
    work: impl FnOnce(&Decider, &Scanner) -> T + Send + 'static,
) -> Result<T, GatewayError> {
    let decider = Decider::new(record, said)?;
    let kept = (permits.clone(), record.permit.clone());
    let job = ScanJob {
        gateway: &record.gateway,
        account: &record.admission.account.id,
        key: &record.admission.key_id,
        scanner: Arc::clone(&decider.scanner),
        is_long,
    };
    job.run(kept, move |scanner| work(&decider, scanner)).await
}

/// Decides about one request of an account.
struct Decider {
    gateway: Arc<Gateway>,
    account: Arc<Account>,
    /// The policy of the caller and the request.
    policy: Policy,
    /// The account's scanner, without any deadline: replies have their own.
    scanner: Arc<Scanner>,
    door: &'static Door,
    said: CallerMetadata,
    /// Store of the request and reply that the dashboard shows.
    stages: Option<Arc<Stages>>,
}

impl Decider {
    fn new(record: &RequestRecord, said: CallerMetadata) -> Result<Self, GatewayError> {
        let account = &record.admission.account;
        Ok(Self {
            gateway: Arc::clone(&record.gateway),
            account: Arc::clone(account),
            policy: record.admission.policy.clone(),
            scanner: record.gateway.scanners.of(account)?,
            door: record.door.unwrap_or(&CHAT),
            said,
            stages: record.stages.clone(),
        })
    }

    fn decide(&self, scanner: &Scanner, intake: Intake, body_bytes: usize) -> Verdict {
        let mut facts = RequestFacts::of_body(body_bytes);
        // The panic hook logs the place; a request that could not be scanned is not forwarded.
        let steps = AssertUnwindSafe(|| self.steps(scanner, intake, &mut facts));
        let verdict = std::panic::catch_unwind(steps);
        let verdict = verdict.unwrap_or(Err(GatewayError::DetectorUnavailable));
        (facts, verdict)
    }

    fn steps(
        &self,
        scanner: &Scanner,
        intake: Intake,
        facts: &mut RequestFacts,
    ) -> Result<Box<Forward>, GatewayError> {
        let request = intake.into_request(&self.gateway, self.door)?;
        let request = request.with_aside(self.said.aside.clone());
        facts.set_read(&request);
        let asked = request.model().to_owned();
        let routes = route::routes_at(self.door, &self.account, &asked)
            .inspect_err(|_| facts.set_unserved(&asked, scanner))?;
        facts.set_route(&asked, &routes[0]);
        let started = Instant::now();
        let scanned = protect::scan(scanner, request);
        self.gateway.metrics.scanned(started.elapsed());
        facts.set_scanned(&scanned, started.elapsed());
        let choices = order::choices(
            &self.gateway,
            &self.account,
            (self.door, &asked),
            routes,
            &order::Content::of(&scanned, &self.policy),
        )?;
        let mut scanned = Some(scanned);
        for (at, choice) in choices.iter().enumerate() {
            let rest = &choices[at + 1..];
            let kept = scanned
                .take_if(|_| rest.is_empty())
                .or_else(|| scanned.clone());
            let Some(kept) = kept else { break };
            facts.set_route(&asked, &choice.route);
            match self.prepare(scanner, &choice.route, kept, facts) {
                Ok(mut forward) => {
                    let conversation = self.said.conversation.clone();
                    forward.others =
                        scanned.map(|scanned| Others::new(scanned, conversation, rest));
                    return Ok(forward);
                }
                // A request that the caller's chosen provider may not receive is refused; a fallback is skipped.
                Err(_) if choice.is_fallback && !rest.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        Err(GatewayError::DetectorUnavailable)
    }

    /// The request for the next provider that it can be written for.
    fn decide_again(
        &self,
        scanner: &Scanner,
        mut others: Others,
    ) -> Option<(Box<RequestFacts>, Box<Forward>)> {
        while let Some(target) = others.next() {
            let routes = route::routes_at(self.door, &self.account, &target).unwrap_or_default();
            let Some(route) = routes.first() else {
                continue;
            };
            let mut facts = Box::<RequestFacts>::default();
            facts.set_route(&target, route);
            let scanned = others.scanned.clone();
            let prepared = std::panic::catch_unwind(AssertUnwindSafe(|| {
                self.prepare(scanner, route, scanned, &mut facts)
            }));
            if let Ok(Ok(mut forward)) = prepared {
                forward.others = (!others.is_empty()).then_some(others);
                return Some((facts, forward));
            }
        }
        None
    }

    /// Prepares a request for a provider: treats it by policy and agreement, translates it and scans it again.
    fn prepare(
        &self,
        scanner: &Scanner,
        route: &Route<'_>,
        scanned: Scanned,
        facts: &mut RequestFacts,
    ) -> Result<Box<Forward>, GatewayError> {
        let named = self.said.conversation.as_deref();
        let draft = ReplyDraft::new(&self.gateway.vault, &self.account, named, &scanned);
        let policy = self.policy_at(route);
        facts.set_policy(&policy);
        let (outcome, issued) = draft.apply(&policy, scanner, scanned);
        let clean = match outcome {
            Outcome::Forward(clean) => clean,
            Outcome::Block(report) => return Err(GatewayError::Blocked(report.kinds().collect())),
            Outcome::Refuse(error, _) => return Err(error.into()),
            Outcome::Unfinished(_) => return Err(GatewayError::DetectorUnavailable),
        };
        let reply = draft.finish(issued, &clean, &self.scanner);
        facts.set_masked_with(&reply);
        let cleared = self.translate(scanner, route, &clean, facts)?;
        facts.set_cleared(&clean, &cleared);
        if let Some(stages) = &self.stages {
            stages.keep_sent(clean.request().document().expose());
        }
        // Boxed: it is passed from step to step.
        Ok(Box::new(Forward {
            action: clean.action(),
            provider: route.name.to_owned(),
            terms: route.provider.config.terms(Timestamp::now()),
            model: route.model.clone(),
            destination: self.destination(route, &cleared)?,
            exchange: Exchange {
                door: self.door,
                format: route.format,
                context: self.reply_context(route.upstream.clone(), &cleared),
                is_stream: clean.request().is_stream(),
                reply,
                account_id: self.account.id.clone(),
                stages: self.stages.clone(),
            },
            cleared,
            others: None,
        }))
    }

    /// Policy for a provider: that of the caller, and at least the agreement with the operator.
    fn policy_at(&self, route: &Route<'_>) -> Policy {
        let agreed = route.provider.config.phi_now(Timestamp::now());
        let demanded = (agreed == PhiAgreement::Masked).then_some(Mode::MASK);
        self.policy.clone().at_provider(route.name, demanded)
    }

    /// Writes the provider's request and scans it again: translation joins texts that were separate.
    fn translate(
        &self,
        scanner: &Scanner,
        route: &Route<'_>,
        clean: &CleanRequest,
        facts: &mut RequestFacts,
    ) -> Result<Cleared, GatewayError> {
        let hash_user = |user: &str| {
            self.gateway
                .vault
                .access
                .hash_end_user(&self.account.id, user)
        };
        let request = route.format.write_request(clean, &route.site(), &hash_user);
        match egress::clear(scanner, request.map_err(refusal)?) {
            Ok(cleared) => Ok(cleared),
            Err(Held::Unfinished) => Err(GatewayError::DetectorUnavailable),
            Err(Held::PhiInAddress) => {
                let message = "the model's name holds PHI and would become part of an address";
                Err(RequestError::field(ErrorCode::InvalidValue, "model", message).into())
            }
            Err(Held::Phi(kinds)) => {
                facts.set_showed(&kinds, clean.original());
                Err(showed_late(clean.policy(), kinds))
            }
        }
    }

    fn destination(
        &self,
        route: &Route<'_>,
        cleared: &Cleared,
    ) -> Result<Destination, GatewayError> {
        let unreachable = || GatewayError::Provider(ProviderFailure::new(FailureKind::Unreachable));
        let address = route.provider.config.address().ok_or_else(unreachable)?;
        let base = self.gateway.base_urls.read(&address);
        let base = base.map_err(|_| unreachable())?;
        let authorizer = Authorizer::new(route.provider);
        let destination = Destination::new(base, cleared.headers(), authorizer);
        Ok(destination.with_given(cleared.given()))
    }

    fn reply_context(&self, model: String, cleared: &Cleared) -> ReplyContext {
        let mut digits = Uuid::encode_buffer();
        let id = Uuid::now_v7().simple().encode_lower(&mut digits);
        ReplyContext {
            completion_id: ["chatcmpl-", id].concat(),
            created: Timestamp::now().as_second().unsigned_abs(),
            model,
            expectation: cleared.expectation().clone(),
            event_bytes_max: self.gateway.limits.event_bytes as usize,
        }
    }
}

/// Error for PHI that shows only in the provider's format: blocked if the policy blocks a kind, otherwise not
/// replaceable.
fn showed_late(policy: &Policy, kinds: Vec<PhiKind>) -> GatewayError {
    let blocks = |kind: &PhiKind| matches!(policy.of(kind.code()).mode().effect, Effect::Block);
    if kinds.iter().any(blocks) {
        return GatewayError::Blocked(kinds);
    }
    let message = "the request holds PHI that shows only in the provider's format and cannot be replaced there";
    RequestError::field(ErrorCode::PhiNotRewritable, "messages", message).into()
}

fn refusal(refusal: Refusal) -> GatewayError {
    RequestError::field(refusal.code, refusal.param, refusal.message).into()
}

#[cfg(test)]
mod tests;
