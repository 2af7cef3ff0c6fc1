//! The part of a request's life without waiting: parse, route, scan, apply the mode, translate, look once more.
//!
//! Everything here computes. Short scans are done where they are; long ones on a thread of their
//! own, when there is a processor for it, so that they do not hold up other callers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use phi_detect::PhiKind;
use phigate_core::doors::Door;
use phigate_core::egress::{self, Cleared, Held};
use phigate_core::protect::{self, CleanRequest, Outcome, Policy, Scanner};
use phigate_core::request::{Request, RequestError};
use phigate_core::wire::{self, FailureKind, ProviderFailure, Refusal, ReplyContext, WireFormat};
use phigate_store::{Account, Provider};
use phigate_types::{Action, Effect, Mode};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::gateway::Gateway;
use crate::open::{Permits, Said};
use crate::pipeline::{Exchange, Forward};
use crate::provider::{BaseUrl, Destination};
use crate::record::RequestRecord;
use crate::reply_plan::ReplyDraft;
use crate::scan_queue::ScanPlace;

/// What costs more than this to scan is decided on a thread of its own, when there is a processor for it. Text of a
/// letter is scanned at some 20 to 30 bytes per microsecond, so this is a millisecond or two.
const INLINE_COST_MAX: usize = 64 * 1024;

/// How much more a byte costs that may begin a finding: digits in columns are the slowest text there is.
const CANDIDATE_COST: usize = 16;

/// What a text costs to scan, in bytes of plain text.
pub(crate) fn scan_cost(text: &[u8]) -> usize {
    let candidates = text.iter().filter(|byte| is_candidate(**byte)).count();
    text.len() + CANDIDATE_COST * candidates
}

/// Whether a byte often begins a candidate: digits, capitals, and what separates fields.
fn is_candidate(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase() || matches!(byte, b'@' | b',' | b'|' | b'\\')
}

/// Whether a text takes long to scan.
pub(crate) fn is_long(text: &[u8]) -> bool {
    scan_cost(text) > INLINE_COST_MAX
}

/// What was decided, with what was known by then.
pub(crate) type Verdict = (RequestFacts, Result<Forward, GatewayError>);

/// Decides about a body.
pub(crate) async fn decide(
    record: &RequestRecord,
    body: Bytes,
    said: Said,
    permits: &Permits,
) -> Verdict {
    let facts = RequestFacts::of_body(&body);
    let mut decider = match Decider::new(record, said) {
        Ok(decider) => decider,
        Err(error) => return (facts, Err(error)),
    };
    if !is_long(&body) {
        return decider.decide(body);
    }
    let account = &record.admission.account.id;
    decider.place = match record.gateway.long_scans.enter(account).await {
        Ok(place) => Some(Arc::new(place)),
        Err(error) => return (facts, Err(error.into())),
    };
    let left = CancellationToken::new();
    decider.left = Some(left.clone());
    // Dropped with this future, when the caller leaves.
    let _left = left.drop_guard();
    let kept = (permits.clone(), record.permit.clone());
    on_its_own_thread(kept, move || decider.decide(body))
        .await
        .unwrap_or((facts, Err(GatewayError::DetectorUnavailable)))
}

/// Works on a thread of its own, which goes on when the caller leaves. What the work takes is kept until it ends:
/// callers who come and go must not be able to pile it up.
pub(crate) async fn on_its_own_thread<T: Send + 'static>(
    kept: impl Send + 'static,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let job = move || {
        let done = work();
        drop(kept);
        done
    };
    tokio::task::spawn_blocking(job).await.ok()
}

/// Decides about one request of an account.
struct Decider {
    gateway: Arc<Gateway>,
    account: Arc<Account>,
    scanner: Arc<Scanner>,
    door: &'static Door,
    said: Said,
    /// The place of a long scan among others.
    place: Option<Arc<ScanPlace>>,
    /// Whether nobody waits for the decision any more, where it goes on all the same.
    left: Option<CancellationToken>,
}

impl Decider {
    fn new(record: &RequestRecord, said: Said) -> Result<Self, GatewayError> {
        let account = &record.admission.account;
        Ok(Self {
            gateway: Arc::clone(&record.gateway),
            account: Arc::clone(account),
            scanner: record.gateway.scanners.of(account)?,
            door: record.door,
            said,
            place: None,
            left: None,
        })
    }

    fn decide(&self, body: Bytes) -> Verdict {
        let mut facts = RequestFacts::of_body(&body);
        // The panic hook tells where; a request that could not be scanned is not forwarded.
        let verdict = std::panic::catch_unwind(AssertUnwindSafe(|| self.steps(body, &mut facts)))
            .unwrap_or(Err(GatewayError::DetectorUnavailable));
        (facts, verdict)
    }

    fn steps(&self, body: Bytes, facts: &mut RequestFacts) -> Result<Forward, GatewayError> {
        let scanner = &self.scanner_with_deadline();
        let limits = self.gateway.request_limits();
        let request = Request::read(self.door.form, body.into(), &limits)?;
        let request = request.with_aside(self.said.aside.clone());
        facts.set_read(&request);
        let (format, provider) = self.route(&request)?;
        facts.set_route(request.model(), format.id());
        let model = alias(&self.account, format, request.model());
        let started = Instant::now();
        let scanned = protect::scan(scanner, request);
        self.gateway.metrics.scanned(started.elapsed());
        facts.set_scanned(&scanned);
        let named = self.said.conversation.as_deref();
        let draft = ReplyDraft::new(&self.gateway.vault, &self.account, named, &scanned);
        let (outcome, issued) = draft.apply(&self.policy(), scanner, scanned);
        let clean = match outcome {
            Outcome::Forward(clean) => clean,
            Outcome::Block(report) => return Err(GatewayError::Blocked(report.kinds().collect())),
            Outcome::Refuse(error, _) => return Err(error.into()),
            Outcome::Unfinished(_) => return Err(GatewayError::DetectorUnavailable),
        };
        let reply = draft.finish(issued, &clean, &self.scanner);
        facts.set_masked_with(&reply);
        let cleared = self.translate(scanner, format, &model, &clean, facts)?;
        facts.set_cleared(&clean, &cleared);
        Ok(Forward {
            action: action(&clean),
            destination: self.destination(format, provider, &cleared)?,
            exchange: Exchange {
                door: self.door,
                format,
                context: self.reply_context(model, &cleared),
                is_stream: clean.request().is_stream(),
                reply,
                account_id: self.account.id.clone(),
            },
            cleared,
        })
    }

    /// The account's scanner for one request: it stops at the deadline or when the caller disconnects.
    fn scanner_with_deadline(&self) -> Scanner {
        let time = Duration::from_millis(self.gateway.limits.scan_ms);
        let (started, place, left) = (Instant::now(), self.place.clone(), self.left.clone());
        self.scanner.with_deadline(move || {
            // Time in which other accounts had the processor is not the scan's.
            let paused = place.as_ref().map_or(Duration::ZERO, |place| {
                place.checkpoint();
                place.paused()
            });
            let is_awaited = !left.as_ref().is_some_and(CancellationToken::is_cancelled);
            is_awaited && started.elapsed().saturating_sub(paused) < time
        })
    }

    fn policy(&self) -> Policy {
        Policy {
            mode: self.account.mode,
            allow_unscannable: self.account.settings.allow_unscannable,
        }
    }

    /// The family that serves the model, and the account's provider for it.
    fn route(
        &self,
        request: &Request,
    ) -> Result<(&'static dyn WireFormat, &Provider), GatewayError> {
        let format = wire::format_for_model(request.model())
            .filter(|format| format.takes(self.door.id()))
            .ok_or(GatewayError::UnknownModel)?;
        let family = format.id();
        let provider = self.account.providers.get(family);
        Ok((
            format,
            provider.ok_or(GatewayError::NotConfigured { family })?,
        ))
    }

    /// Writes the provider's request and looks at it once more: translation joins texts that stood apart.
    fn translate(
        &self,
        scanner: &Scanner,
        format: &'static dyn WireFormat,
        model: &str,
        clean: &CleanRequest,
        facts: &mut RequestFacts,
    ) -> Result<Cleared, GatewayError> {
        let hash_user = |user: &str| {
            self.gateway
                .vault
                .access
                .hash_end_user(&self.account.id, user)
        };
        let request = format.write_request(clean, model, &hash_user);
        match egress::clear(scanner, request.map_err(refusal)?) {
            Ok(cleared) => Ok(cleared),
            Err(Held::Unfinished) => Err(GatewayError::DetectorUnavailable),
            Err(Held::PhiInAddress) => {
                let message = "the model's name holds PHI and would become part of an address";
                Err(RequestError::field("invalid_value", "model", message).into())
            }
            Err(Held::Phi(kinds)) => {
                facts.set_showed(&kinds, clean.original());
                Err(showed_late(clean.mode(), kinds))
            }
        }
    }

    fn destination(
        &self,
        format: &dyn WireFormat,
        provider: &Provider,
        cleared: &Cleared,
    ) -> Result<Destination, GatewayError> {
        let text = provider
            .base_url
            .as_deref()
            .unwrap_or_else(|| format.default_base_url());
        let base = BaseUrl::parse(text, self.gateway.allow_private_providers)
            .map_err(|_| GatewayError::Provider(ProviderFailure::new(FailureKind::Unreachable)))?;
        let headers = (cleared.headers(), cleared.given());
        Ok(Destination::new(base, headers, &provider.key))
    }

    fn reply_context(&self, model: String, cleared: &Cleared) -> ReplyContext {
        ReplyContext {
            completion_id: format!("chatcmpl-{}", Uuid::now_v7().simple()),
            created: jiff::Timestamp::now().as_second().unsigned_abs(),
            model,
            expectation: cleared.expectation().clone(),
            event_bytes_max: self.gateway.limits.event_bytes as usize,
        }
    }
}

/// What is done with a request that may leave, in the audit trail's words.
fn action(clean: &CleanRequest) -> Action {
    if clean.report().has_phi() {
        clean.mode().action
    } else {
        Action::FORWARDED
    }
}

/// The owner's alias for a model, else the format's own, else the model as asked for.
fn alias(account: &Account, format: &dyn WireFormat, asked: &str) -> String {
    let of_owner = account.aliases.get(asked).map(String::as_str);
    let of_format = || {
        format
            .default_aliases()
            .iter()
            .find(|(from, _)| *from == asked)
            .map(|(_, to)| *to)
    };
    of_owner.or_else(of_format).unwrap_or(asked).to_owned()
}

/// PHI that shows only in the provider's format: blocked where the mode blocks, and otherwise beyond replacing.
fn showed_late(mode: Mode, kinds: Vec<PhiKind>) -> GatewayError {
    if matches!(mode.effect, Effect::Block) {
        return GatewayError::Blocked(kinds);
    }
    let message = "the request holds PHI that shows only in the provider's format and cannot be replaced there";
    RequestError::field("phi_not_rewritable", "messages", message).into()
}

fn refusal(refusal: Refusal) -> GatewayError {
    RequestError::field(refusal.code.as_str(), refusal.param, refusal.message).into()
}

#[cfg(test)]
mod tests;
