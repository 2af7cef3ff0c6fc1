//! The part of a request's life without waiting: parse, route, scan, apply the mode, translate.
//!
//! Everything here computes. Small bodies are decided where they are; large ones on
//! a thread of their own, so that a long scan does not hold up other callers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use phi_detect::PhiKind;
use phigate_core::chat::{ChatRequest, RequestError};
use phigate_core::egress::{self, Cleared, Held};
use phigate_core::protect::{self, CleanRequest, Outcome, Policy, Scanner};
use phigate_core::wire::{self, FailureKind, ProviderFailure, Refusal, ReplyContext, WireFormat};
use phigate_store::{Account, Admission, Provider};
use phigate_types::{Effect, Mode};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::app::App;
use crate::error::GatewayError;
use crate::provider::BaseUrl;
use crate::server::{InflightPermit, KeyPermit, Turn};

use super::Asked;
use super::evidence::Evidence;
use super::reply_plan::{ReplyDraft, ReplyPlan};
use super::scan_queue::ScanPlace;
use super::send::Envelope;

/// What costs more than this to scan is decided on a thread of its own, when there is a processor for it. Text of a
/// letter is scanned at some 20 to 30 bytes per microsecond, so this is a millisecond or two.
const INLINE_COST_MAX: usize = 64 * 1024;

/// How much more a byte costs that may begin a finding: digits in columns are the slowest text there is.
const CANDIDATE_COST: usize = 16;

/// What a text costs to scan, in bytes of plain text.
pub(super) fn scan_cost(text: &[u8]) -> usize {
    let candidates = text.iter().filter(|byte| is_candidate(**byte)).count();
    text.len() + CANDIDATE_COST * candidates
}

/// Whether a byte often begins a candidate: digits, capitals, and what separates fields.
fn is_candidate(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase() || matches!(byte, b'@' | b',' | b'|' | b'\\')
}

/// Whether a text takes long to scan.
pub(super) fn is_long(text: &[u8]) -> bool {
    scan_cost(text) > INLINE_COST_MAX
}

/// What was decided about a request, with what was known by then.
pub(super) struct Decided {
    pub(super) evidence: Evidence,
    pub(super) verdict: Result<Forward, GatewayError>,
}

/// A request that may leave once its decision is recorded.
pub(super) struct Forward {
    pub(super) route: Route,
    pub(super) envelope: Envelope,
    pub(super) context: ReplyContext,
    /// What is done with the reply.
    pub(super) reply: ReplyPlan,
    pub(super) is_stream: bool,
}

/// Where a request goes.
pub(super) struct Route {
    pub(super) format: &'static dyn WireFormat,
    /// The model to ask for, after aliases.
    pub(super) model: String,
}

/// What a request takes of the gateway's limits while it is decided.
#[derive(Debug, Clone)]
pub(super) struct Places {
    pub(super) _key: Option<KeyPermit>,
    pub(super) _turn: Option<Turn>,
    pub(super) _body: Option<InflightPermit>,
}

/// Decides about a body.
pub(super) async fn decide(
    app: &Arc<App>,
    admission: &Admission,
    asked: Asked,
    places: &Places,
) -> Decided {
    let Asked { body, conversation } = asked;
    let scanner = match app.scanner(&admission.account) {
        Ok(scanner) => scanner,
        Err(error) => {
            return Decided {
                evidence: Evidence::of_body(&body),
                verdict: Err(error),
            };
        }
    };
    let mut desk = Desk {
        app: Arc::clone(app),
        account: Arc::clone(&admission.account),
        scanner,
        conversation,
        place: None,
        left: None,
    };
    if !is_long(&body) {
        return desk.decide(body);
    }
    desk.place = match app.long_scans.enter(&admission.account.id).await {
        Ok(place) => Some(Arc::new(place)),
        Err(error) => {
            return Decided {
                evidence: Evidence::of_body(&body),
                verdict: Err(error.into()),
            };
        }
    };
    let left = CancellationToken::new();
    desk.left = Some(left.clone());
    // Dropped with this future, when the caller leaves.
    let _left = left.drop_guard();
    let decided = on_its_own_thread(places.clone(), move || desk.decide(body)).await;
    decided.unwrap_or_else(|| Decided {
        evidence: Evidence::default(),
        verdict: Err(GatewayError::DetectorUnavailable),
    })
}

/// Works on a thread of its own, which goes on when the caller leaves. What the work takes is kept until it ends:
/// callers who come and go must not be able to pile it up.
pub(super) async fn on_its_own_thread<T: Send + 'static>(
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

/// Where one account's requests are decided.
struct Desk {
    app: Arc<App>,
    account: Arc<Account>,
    scanner: Arc<Scanner>,
    /// The conversation, where the caller named it.
    conversation: Option<String>,
    /// The place of a long scan among others.
    place: Option<Arc<ScanPlace>>,
    /// Whether nobody waits for the decision any more, where it goes on all the same.
    left: Option<CancellationToken>,
}

impl Desk {
    fn decide(&self, body: Bytes) -> Decided {
        let mut evidence = Evidence::of_body(&body);
        // The panic hook tells where; a request that could not be scanned is not forwarded.
        let verdict =
            std::panic::catch_unwind(AssertUnwindSafe(|| self.steps(body, &mut evidence)))
                .unwrap_or(Err(GatewayError::DetectorUnavailable));
        Decided { evidence, verdict }
    }

    fn steps(&self, body: Bytes, evidence: &mut Evidence) -> Result<Forward, GatewayError> {
        let scanner = &self.scanner_with_deadline();
        let request = ChatRequest::read(body.into(), &self.app.chat_limits())?;
        evidence.read(&request);
        let (route, provider) = self.route(&request)?;
        evidence.routed(request.model(), route.format.id());
        let started = Instant::now();
        let scanned = protect::scan(scanner, request);
        self.app.metrics.scanned(started.elapsed());
        evidence.scanned(&scanned);
        let named = self.conversation.as_deref();
        let draft = ReplyDraft::new(&self.app.vault, &self.account, named, &scanned);
        let (outcome, issued) = draft.apply(&self.policy(), scanner, scanned);
        let clean = match outcome {
            Outcome::Forward(clean) => clean,
            Outcome::Block(report) => return Err(GatewayError::Blocked(report.kinds().collect())),
            Outcome::Refuse(error, _) => return Err(error.into()),
            Outcome::Unfinished(_) => return Err(GatewayError::DetectorUnavailable),
        };
        let request = self.translate(scanner, &route, &clean, evidence)?;
        evidence.cleared(&clean, &request);
        let reply = draft.finish(issued, &clean, &self.scanner);
        evidence.masked_with(&reply);
        let context = ReplyContext {
            completion_id: format!("chatcmpl-{}", Uuid::now_v7().simple()),
            created: jiff::Timestamp::now().as_second().unsigned_abs(),
            model: route.model.clone(),
            expectation: request.expectation().clone(),
            event_bytes_max: self.app.config.limits.event_bytes as usize,
        };
        let is_stream = clean.request().is_stream();
        let envelope = self.address(&route, provider, request)?;
        Ok(Forward {
            route,
            envelope,
            context,
            reply,
            is_stream,
        })
    }

    /// The account's scanner for one request: it stops at the deadline or when the caller disconnects.
    fn scanner_with_deadline(&self) -> Scanner {
        let time = Duration::from_millis(self.app.config.limits.scan_ms);
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

    fn route(&self, request: &ChatRequest) -> Result<(Route, &Provider), GatewayError> {
        let asked = request.model();
        let format = wire::format_for_model(asked).ok_or(GatewayError::UnknownModel)?;
        let model = alias(&self.account, format, asked);
        let family = format.id();
        let provider = self
            .account
            .providers
            .get(family)
            .ok_or(GatewayError::NotConfigured { family })?;
        Ok((Route { format, model }, provider))
    }

    /// Writes the provider's request. Outside flag mode a translated body is scanned once more: translation joins texts that stood apart.
    fn translate(
        &self,
        scanner: &Scanner,
        route: &Route,
        clean: &CleanRequest,
        evidence: &mut Evidence,
    ) -> Result<Cleared, GatewayError> {
        let hash_user = |user: &str| self.app.vault.access.hash_end_user(&self.account.id, user);
        let format = route.format;
        let request = format.write_request(clean, &route.model, &hash_user);
        match egress::clear(scanner, request.map_err(refusal)?) {
            Ok(cleared) => Ok(cleared),
            Err(Held::Unfinished) => Err(GatewayError::DetectorUnavailable),
            Err(Held::PhiInAddress) => {
                let message = "the model's name holds PHI and would become part of an address";
                Err(RequestError::field("invalid_value", "model", message).into())
            }
            Err(Held::Phi(kinds)) => {
                evidence.showed(&kinds, clean.original());
                Err(showed_late(clean.mode(), kinds))
            }
        }
    }

    fn address(
        &self,
        route: &Route,
        provider: &Provider,
        request: Cleared,
    ) -> Result<Envelope, GatewayError> {
        let text = provider
            .base_url
            .as_deref()
            .unwrap_or_else(|| route.format.default_base_url());
        let base = BaseUrl::parse(text, self.app.config.allow_private_providers)
            .map_err(|_| GatewayError::Provider(ProviderFailure::new(FailureKind::Unreachable)))?;
        Ok(Envelope::new(base, request, &provider.key))
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
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use phigate_store::SecretString;

    use super::*;
    use crate::app;
    use crate::config::{Config, Flags};
    use crate::metrics::Metrics;
    use crate::server::Drain;

    #[tokio::test]
    async fn work_whose_caller_has_left_keeps_its_place_until_it_ends() {
        let place = Arc::new(());
        let (end, is_ended) = mpsc::channel::<()>();
        let work = on_its_own_thread(Arc::clone(&place), move || is_ended.recv());
        let left = tokio::time::timeout(Duration::from_millis(50), work).await;
        assert!(left.is_err(), "the work ended too soon");
        assert_eq!(Arc::strong_count(&place), 2, "the place was given back");
        end.send(()).unwrap();
        while Arc::strong_count(&place) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn long_scans_wait_for_one_another_and_short_ones_for_nobody() {
        let (app, _folder) = app().await;
        let admission = Admission {
            key_id: "k".to_owned(),
            account: account(&app).await,
        };
        let places = Places {
            _key: None,
            _turn: None,
            _body: None,
        };
        let patience = Duration::from_millis(200);
        let decide = async |text: &str| {
            let body = Bytes::from(text.to_owned());
            let decided = decide(&app, &admission, body.into(), &places);
            tokio::time::timeout(patience, decided).await.is_ok()
        };
        let all = std::thread::available_parallelism().unwrap().get();
        let mut taken = Vec::new();
        for _ in 0..all {
            taken.push(app.long_scans.enter(&admission.account.id).await.unwrap());
        }
        for (text, is_long) in [
            (" ".repeat(100), false),
            (" ".repeat(INLINE_COST_MAX), false),
            (" ".repeat(INLINE_COST_MAX + 1), true),
            ("1 ".repeat(1024), false),
            ("1 ".repeat(16 * 1024), true),
        ] {
            let bytes = text.len();
            assert_eq!(decide(&text).await, !is_long, "{bytes} bytes");
        }
        drop(taken);
        assert!(decide(&" ".repeat(INLINE_COST_MAX + 1)).await);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_account_with_much_to_scan_does_not_hold_up_another() {
        let (app, _folder) = app().await;
        let home = account(&app).await.id.clone();
        let elsewhere = app
            .vault
            .accounts
            .create_account("elsewhere", "test")
            .await
            .unwrap();
        let admission = async |account: &str| {
            let key = SecretString::new("an invented key".to_owned());
            let set = app
                .vault
                .access
                .set_provider(account, "openai", Some(&key), None, "test");
            set.await.unwrap();
            Admission {
                key_id: "key".to_owned(),
                account: app.vault.accounts.account(account).await.unwrap(),
            }
        };
        let (busy, other) = (admission(&home).await, admission(&elsewhere.id).await);
        let places = Places {
            _key: None,
            _turn: None,
            _body: None,
        };
        let finished = Arc::new(AtomicUsize::new(0));
        let mut much = Vec::new();
        for number in 0..16 {
            let (app, busy, places) = (Arc::clone(&app), busy.clone(), places.clone());
            let finished = Arc::clone(&finished);
            much.push(tokio::spawn(async move {
                decide(&app, &busy, digits(number, 200).into(), &places).await;
                finished.fetch_add(1, Ordering::SeqCst);
            }));
        }
        while !app.long_scans.is_full() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let decided = decide(&app, &other, digits(99, 10).into(), &places).await;
        assert!(decided.verdict.is_ok(), "it was not scanned");
        let before_it = finished.load(Ordering::SeqCst);
        let processors = std::thread::available_parallelism().unwrap().get();
        assert!(before_it <= processors, "{before_it} of 16 came first");
        for one in much {
            one.abort();
        }
    }

    /// A request with so many messages of the slowest text there is.
    fn digits(number: usize, messages: usize) -> Bytes {
        let message = |index: usize| {
            let text = format!("{number} {index} {}", "1 ".repeat(2048));
            serde_json::json!({ "role": "user", "content": text })
        };
        let messages: Vec<_> = (0..messages).map(message).collect();
        let body = serde_json::json!({ "model": "gpt-4o", "messages": messages });
        body.to_string().into()
    }

    #[tokio::test]
    async fn a_scan_for_nobody_is_given_up() {
        let (app, _folder) = app().await;
        let left = CancellationToken::new();
        let desk = Desk {
            account: account(&app).await,
            scanner: Arc::new(Scanner::new(phi_detect::Detector::default())),
            app,
            conversation: None,
            place: None,
            left: Some(left.clone()),
        };
        let body = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi."}]}"#;
        let is_complete = || {
            let request = ChatRequest::read(body.to_vec(), &desk.app.chat_limits()).unwrap();
            let scanned = protect::scan(&desk.scanner_with_deadline(), request);
            scanned.report().is_complete()
        };
        assert!(is_complete());
        left.cancel();
        assert!(!is_complete());
    }

    async fn app() -> (Arc<App>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let flags = Flags {
            data: Some(folder.path().join("data")),
            ..Flags::default()
        };
        let config = Config::load(flags).unwrap();
        let vault = app::open_vault(&config, app::Role::Command).await.unwrap();
        let app = App::new(config, vault, Metrics::new(), Drain::default()).unwrap();
        (Arc::new(app), folder)
    }

    async fn account(app: &App) -> Arc<Account> {
        let account = app.vault.accounts.find_account(None).await.unwrap();
        app.vault.accounts.account(&account.id).await.unwrap()
    }
}
