//! Calls to providers, checked, bounded and cancellable.
//!
//! Of a caller's request only the body is sent: URL and headers are built here from the pipeline's values. Errors name
//! only the kind of failure, because texts of HTTP libraries contain URLs and providers quote prompts.

mod address;
mod answer;
mod authorize;
mod base_url;
mod base_urls;
pub(crate) mod connect;
mod identities;
mod key;
mod line;
mod lines;
mod pool;
mod rehearsal;
mod rest;
mod retry;
mod sent;
mod setup;
mod tokens;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use phigate_auth::Fetch;
use tokio::time::Instant;

pub(crate) use answer::{Answer, Incoming};
pub(crate) use authorize::Authorizer;
pub use base_url::{BaseUrl, BaseUrlError};
pub(crate) use base_urls::BaseUrls;
pub use connect::RootsError;
pub use key::{KeyError, check_key};
pub(crate) use rehearsal::Rehearsal;
pub(crate) use rest::Rest;
pub use setup::{GivenSecret, SetupError, SetupRules, check_setup};

use phigate_auth::{AuthError, Machine};
use phigate_core::egress::Cleared;
use phigate_core::wire::{Header, Probe};
use phigate_store::Written;
use phigate_types::Limits;

use connect::{Connector, Reach};
use identities::{Identities, Shown};
use pool::Pool;
use sent::Sent;
use tokens::TokenClient;

/// Limit of accounts with separate connection pools. Beyond it, the longest idle account loses its kept connections;
/// accounts never share connections.
const POOLS_MAX: usize = 1024;

/// Header by which calls join a trace.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

pub(crate) const AGENT: &str = concat!("phigate/", env!("CARGO_PKG_VERSION"));

/// Headers that may be sent to a provider, besides credentials. Other headers of a call are dropped.
const HEADERS: &[&str] = &[
    // Alphabetical.
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
];

/// One call to a provider, made only from a recorded decision.
#[derive(Clone)]
pub(crate) struct Outgoing<'a> {
    /// The account of the call: connections are never shared between accounts.
    account: &'a str,
    destination: Destination,
    method: Method,
    /// Path segments, not encoded: `["v1", "chat", "completions"]`.
    path: Vec<String>,
    /// The gateway's query, such as `alt=sse`.
    query: Option<Cow<'static, str>>,
    body: Bytes,
    /// The trace that the call belongs to, if the provider may know it.
    traceparent: Option<HeaderValue>,
}

/// Address, headers and credentials of a call.
#[derive(Clone)]
pub(crate) struct Destination {
    base: BaseUrl,
    headers: &'static [Header],
    given: Vec<(&'static str, String)>,
    authorizer: Authorizer,
}

impl Destination {
    /// A provider's address with the headers of its format.
    pub(crate) fn new(base: BaseUrl, headers: &'static [Header], authorizer: Authorizer) -> Self {
        Self {
            base,
            headers,
            given: Vec::new(),
            authorizer,
        }
    }

    /// Adds headers of the caller, each of which replaces the header of that name.
    pub(crate) fn with_given(self, given: &[(&'static str, String)]) -> Self {
        let given = given.to_vec();
        Self { given, ..self }
    }
}

impl<'a> Outgoing<'a> {
    /// Makes a call from the proof that the decision about these bytes was recorded.
    pub(crate) fn new(
        _recorded: Written,
        account: &'a str,
        destination: Destination,
        cleared: Cleared,
    ) -> Self {
        let (path, query, body) = cleared.into_parts();
        Self {
            account,
            destination,
            method: Method::POST,
            path,
            query,
            body: body.into(),
            traceparent: None,
        }
    }

    /// The call as a part of a trace.
    pub(crate) fn inside(self, traceparent: Option<HeaderValue>) -> Self {
        Self {
            traceparent,
            ..self
        }
    }
}

/// The failure of a call to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The call cannot be written as a request.
    #[error("the call cannot be written as a request")]
    Unsendable,
    /// No credentials are available for the provider.
    #[error("there are no credentials for the provider")]
    NotAuthorized,
    /// No token could be obtained, for this reason.
    #[error("{0}")]
    Token(AuthError),
    /// The provider cannot be reached.
    #[error("the provider cannot be reached")]
    Unreachable,
    /// The provider's address is not allowed.
    #[error("the provider's address is not allowed")]
    Forbidden,
    /// The provider took too long.
    #[error("the provider took too long")]
    Timeout,
    /// The provider's answer is too large.
    #[error("the provider's answer is too large")]
    TooLarge,
    /// The provider answered with a redirect.
    #[error("the provider answered with a redirect")]
    Redirect,
    /// The provider's answer broke off or is not HTTP.
    #[error("the provider's answer broke off or is not HTTP")]
    Broken,
}

impl ProviderError {
    /// Whether another provider may be tried: there was no connection, or no answer on it.
    pub(crate) fn may_fall_back(self) -> bool {
        match self {
            Self::Unreachable | Self::Forbidden | Self::Timeout | Self::Broken => true,
            Self::Token(error) => !matches!(error, AuthError::Refused(_)),
            Self::Unsendable | Self::NotAuthorized | Self::TooLarge | Self::Redirect => false,
        }
    }
}

/// A provider's response to a trial. The body is not read if it is content.
pub(crate) struct TrialResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl TrialResponse {
    async fn by(answer: Incoming) -> Self {
        let body = match answer.status.is_success() {
            true => Bytes::new(),
            false => answer.body.read_all().await.unwrap_or_default(),
        };
        Self {
            status: answer.status,
            headers: answer.headers,
            body,
        }
    }
}

/// The client for all providers. Connections are opened on demand.
pub(crate) struct Provider {
    connector: Connector,
    pools: Mutex<HashMap<String, (Instant, Arc<Pool>)>>,
    identities: Identities,
    client: Arc<dyn Fetch>,
    limits: Limits,
}

impl Provider {
    /// Builds the client with the operator's rules.
    pub(crate) fn new(
        limits: &Limits,
        rules: SetupRules,
        ca_file: Option<&Path>,
    ) -> Result<Self, RootsError> {
        let reaches = [
            Reach::of_providers(rules.allow_private),
            Reach::of_providers(rules.allow_private),
            Reach::Machine,
        ];
        let limit = Duration::from_millis(limits.connect_ms);
        let [connector, endpoints, machine] = Connector::several(reaches, ca_file, limit)?;
        let wait = Duration::from_millis(limits.first_byte_ms);
        let client = TokenClient::new(endpoints, machine, rules.allow_private, wait);
        let client: Arc<dyn Fetch> = Arc::new(client);
        let machine = rules.allow_ambient.then(Machine::of_this_process);
        Ok(Self {
            connector,
            identities: Identities::new(Arc::clone(&client), machine),
            client,
            pools: Mutex::new(HashMap::new()),
            limits: *limits,
        })
    }

    /// The client for small requests outside, such as for the keys of a token issuer.
    pub(crate) fn fetcher(&self) -> Arc<dyn Fetch> {
        Arc::clone(&self.client)
    }

    /// The way to addresses outside, with the operator's rules about them.
    pub(crate) fn connector(&self) -> Connector {
        self.connector.clone()
    }

    /// Makes a call and returns when the head of the answer has arrived.
    ///
    /// Retries only if the provider cannot have acted on the call or asks for a retry, and only before anything was
    /// relayed. Dropping the future, or the answer, closes the call at once.
    pub(crate) async fn send(&self, call: Outgoing<'_>) -> Result<Incoming, ProviderError> {
        let started = Instant::now();
        let whole_deadline = started + Duration::from_millis(self.limits.request_ms);
        let mut attempt = 0;
        loop {
            let outcome = self.attempt(&call, whole_deadline).await;
            let ended = outcome
                .as_ref()
                .map(|answer| (answer.status, &answer.headers))
                .map_err(|error| *error);
            match retry::wait(&self.limits, attempt, started.elapsed(), ended) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return outcome,
            }
            attempt += 1;
        }
    }

    /// Gets the token or the credentials of calls, without a call.
    pub(crate) async fn identify(
        &self,
        account: &str,
        authorizer: &Authorizer,
    ) -> Result<(), ProviderError> {
        let mut nowhere = Request::new(Sent::new(Bytes::new()));
        *nowhere.uri_mut() = http::Uri::from_static("https://localhost/");
        let shown = authorizer.authorize(&self.identities, account, &mut nowhere, &[]);
        shown.await.map(drop)
    }

    /// Sends a harmless request that tests address and key.
    pub(crate) async fn probe(
        &self,
        account: &str,
        destination: Destination,
        probe: Probe,
    ) -> Result<TrialResponse, ProviderError> {
        let call = Outgoing {
            account,
            destination,
            method: Method::GET,
            path: probe.path.iter().map(|step| (*step).to_owned()).collect(),
            query: None,
            body: Bytes::new(),
            traceparent: None,
        };
        let deadline =
            Instant::now() + Duration::from_millis(self.limits.connect_ms.saturating_mul(2));
        Ok(TrialResponse::by(self.attempt(&call, deadline).await?).await)
    }

    /// Sends a request of the gateway's own words, which tests a model.
    pub(crate) async fn rehearse(
        &self,
        account: &str,
        destination: Destination,
        rehearsal: Rehearsal,
    ) -> Result<TrialResponse, ProviderError> {
        let (path, query, body) = rehearsal.cleared.into_parts();
        let call = Outgoing {
            account,
            destination,
            method: Method::POST,
            path,
            query,
            body: body.into(),
            traceparent: None,
        };
        let deadline = Instant::now() + Duration::from_millis(self.limits.first_byte_ms);
        Ok(TrialResponse::by(self.attempt(&call, deadline).await?).await)
    }

    /// One attempt. If the provider refuses a token that can be renewed, the call is repeated once with a new one,
    /// because the refused call had no effect.
    async fn attempt(
        &self,
        call: &Outgoing<'_>,
        whole_deadline: Instant,
    ) -> Result<Incoming, ProviderError> {
        let (answer, shown) = self.call(call, whole_deadline).await?;
        let may_renew = shown.filter(|_| authorize::was_refused(&answer));
        if may_renew.is_some_and(|shown| shown.renew()) {
            drop(answer);
            return Ok(self.call(call, whole_deadline).await?.0);
        }
        Ok(answer)
    }

    /// One call, with the credentials that it carried.
    async fn call(
        &self,
        call: &Outgoing<'_>,
        whole_deadline: Instant,
    ) -> Result<(Incoming, Option<Shown>), ProviderError> {
        let mut request = request(call).ok_or(ProviderError::Unsendable)?;
        let authorizer = &call.destination.authorizer;
        let shown = authorizer
            .authorize(&self.identities, call.account, &mut request, &call.body)
            .await?;
        let first_byte = Instant::now() + Duration::from_millis(self.limits.first_byte_ms);
        let pool = self.pool(call.account);
        let sent = pool.ask(&self.connector, request);
        let deadline = first_byte.min(whole_deadline);
        let answered = tokio::time::timeout_at(deadline, sent).await;
        let (response, loan) = answered.map_err(|_| ProviderError::Timeout)??;
        let (head, body) = response.into_parts();
        if head.status.is_redirection() {
            return Err(ProviderError::Redirect);
        }
        // Compression was not requested, and the size of a compressed answer cannot be bounded.
        let encoding = head.headers.get(CONTENT_ENCODING);
        if encoding.is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity")) {
            return Err(ProviderError::Broken);
        }
        let idle = Duration::from_millis(self.limits.stream_idle_ms);
        let body = Answer::new(
            (body, loan),
            self.limits.response_bytes,
            idle,
            whole_deadline,
        );
        let answer = Incoming {
            status: head.status,
            headers: head.headers,
            body,
        };
        Ok((answer, shown))
    }

    /// The connections of one account.
    fn pool(&self, account: &str) -> Arc<Pool> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((used, pool)) = pools.get_mut(account) {
            *used = Instant::now();
            return Arc::clone(pool);
        }
        if pools.len() >= POOLS_MAX {
            let oldest = pools
                .iter()
                .min_by_key(|(_, (used, _))| *used)
                .map(|(account, _)| account.clone());
            oldest.and_then(|account| pools.remove(&account));
        }
        let pool = Arc::new(Pool::new(self.connector.clone()));
        pools.insert(account.to_owned(), (Instant::now(), Arc::clone(&pool)));
        pool
    }
}

/// The call as a request: the gateway's URL and allowed headers only.
fn request(call: &Outgoing<'_>) -> Option<Request<Sent>> {
    let uri = call
        .destination
        .base
        .join(&call.path, call.query.as_deref())?;
    let mut request = Request::new(Sent::new(call.body.clone()));
    *request.method_mut() = call.method.clone();
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for (name, value) in call.destination.headers {
        if HEADERS.contains(name) {
            let name = HeaderName::from_static(name);
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    for (name, value) in &call.destination.given {
        if HEADERS.contains(name) {
            let value = HeaderValue::from_str(value).ok()?;
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    if let Some(traceparent) = &call.traceparent {
        headers.insert(TRACEPARENT, traceparent.clone());
    }
    Some(request)
}

#[cfg(test)]
mod tests;
