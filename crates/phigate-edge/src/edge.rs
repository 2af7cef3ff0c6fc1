//! Work around every request: id, early refusals, a permit of the queue, caught panics.

use std::any::Any;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, Version};
use hyper::body::Incoming;
use tower::ServiceExt;
use uuid::Uuid;

use crate::activity::Activity;
use crate::carried::Carried;
use crate::client::ClientAddress;
use crate::drain::Drain;
use crate::early_limiter::EarlyLimiter;
use crate::envelope::{REQUEST_ID, in_format};
use crate::error::EdgeError;
use crate::guard::REFUSE;
use crate::leftover::Leftover;
use crate::observer::{Counted, Observer};
use crate::proxies::TrustedProxies;
use crate::queue::{Queue, WorkPermit};
use crate::upload::Intake;
use phigate_types::{ErrorFormat, Limits};

/// Id of a request, found in its extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestId(pub Uuid);

/// State shared by all connections of a listener.
pub(crate) struct Edge {
    router: Router,
    intake: Arc<Intake>,
    queue: Arc<Queue>,
    is_work: fn(&str) -> bool,
    header_fields_max: usize,
    proxies: TrustedProxies,
    drain: Drain,
    pub(crate) observer: Arc<dyn Observer>,
    error_format: ErrorFormatOf,
    pub(crate) early_limiter: Option<Arc<dyn EarlyLimiter>>,
}

/// Chooses the error format for a path and a caller's headers.
pub type ErrorFormatOf = fn(&str, &HeaderMap) -> ErrorFormat;

impl Edge {
    pub(crate) fn new(
        router: Router,
        limits: &Limits,
        proxies: TrustedProxies,
        drain: Drain,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self {
            router,
            intake: Arc::new(Intake::new(limits)),
            queue: Arc::new(Queue::new(limits)),
            is_work,
            header_fields_max: usize::try_from(limits.header_fields).unwrap_or(usize::MAX),
            proxies,
            drain,
            observer,
            error_format: |_, _| ErrorFormat::OpenAi,
            early_limiter: None,
        }
    }

    /// Adds the early limiter, which refuses requests by their heads.
    pub(crate) fn with_early_limiter(self, early_limiter: Arc<dyn EarlyLimiter>) -> Self {
        Self {
            early_limiter: Some(early_limiter),
            ..self
        }
    }

    /// Sets the error format per path.
    pub(crate) fn with_error_format(self, error_format: ErrorFormatOf) -> Self {
        Self {
            error_format,
            ..self
        }
    }

    /// Another site on another listener that shares the limits.
    pub(crate) fn beside(&self, router: Router, is_work: fn(&str) -> bool) -> Self {
        Self {
            router,
            intake: Arc::clone(&self.intake),
            queue: Arc::clone(&self.queue),
            is_work,
            header_fields_max: self.header_fields_max,
            proxies: self.proxies.clone(),
            drain: self.drain.clone(),
            observer: Arc::clone(&self.observer),
            error_format: |_, _| ErrorFormat::OpenAi,
            early_limiter: None,
        }
    }

    /// Answers one request, also after a panic.
    pub(crate) async fn answer(
        &self,
        peer: SocketAddr,
        activity: &Arc<Activity>,
        request: Request<Incoming>,
    ) -> Response {
        let id = Uuid::now_v7();
        let version = request.version();
        let shares_socket = version >= Version::HTTP_2;
        let ongoing = activity.begin(shares_socket);
        let request = request.map(|body| {
            if shares_socket {
                Body::new(Leftover::new(body))
            } else {
                Body::new(body)
            }
        });
        let running = Counted::request(&self.observer);
        let format = (self.error_format)(request.uri().path(), request.headers());
        let (response, place) = match self.admit(&request) {
            Ok(()) => self.take_permit(id, peer, request).await,
            Err(error) => (closing(version, error.into_response()), None),
        };
        if let Some(error) = response.extensions().get::<EdgeError>() {
            log_refusal(id, *error, response.status().as_u16());
            self.observer.refused(*error);
        }
        let mut buffer = Uuid::encode_buffer();
        let text: &str = id.hyphenated().encode_lower(&mut buffer);
        let mut response = in_format(response, format, text);
        let headers = response.headers_mut();
        let text = HeaderValue::from_str(text).expect("a UUID is plain text");
        headers.insert(REQUEST_ID, text);
        headers
            .entry(CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
        response.map(|body| Body::new(Carried::new(body, ongoing, (place, running))))
    }

    /// Refuses a request while draining or with an ambiguous head.
    fn admit(&self, request: &Request<Body>) -> Result<(), EdgeError> {
        if request.method().as_str() == REFUSE && request.version() < Version::HTTP_2 {
            let number = request.uri().path().trim_start_matches('/').parse().ok();
            return Err(number
                .and_then(EdgeError::from_number)
                .unwrap_or(EdgeError::MalformedHead));
        }
        if request.version() >= Version::HTTP_2 {
            check_http2(request, self.header_fields_max)?;
        }
        let encoding = request.headers().get(CONTENT_ENCODING);
        if encoding.is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity")) {
            return Err(EdgeError::ContentEncoding);
        }
        if self.drain.is_draining()
            && request.uri().path() != "/healthz"
            && request.uri().path() != "/readyz"
        {
            return Err(EdgeError::Draining);
        }
        Ok(())
    }

    /// Waits for a place if the request needs one; it is kept until the answer was sent.
    async fn take_permit(
        &self,
        id: Uuid,
        peer: SocketAddr,
        mut request: Request<Body>,
    ) -> (Response, Option<WorkPermit>) {
        if !(self.is_work)(request.uri().path()) {
            return (self.forward(id, peer, request).await, None);
        }
        match self.queue.enter().await {
            Some(permit) => {
                // Work that continues without the caller keeps the permit.
                request.extensions_mut().insert(permit.clone());
                (self.forward(id, peer, request).await, Some(permit))
            }
            None => (EdgeError::TooManyRequests.into_response(), None),
        }
    }

    async fn forward(&self, id: Uuid, peer: SocketAddr, mut request: Request<Body>) -> Response {
        let client = ClientAddress::of(peer.ip(), request.headers(), &self.proxies);
        let extensions = request.extensions_mut();
        extensions.insert(RequestId(id));
        extensions.insert(client);
        extensions.insert(Arc::clone(&self.intake));
        let answered = AssertUnwindSafe(self.router.clone().oneshot(request));
        match answered.catch_unwind().await {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(panic) => panicked(panic),
        }
    }
}

/// Whether a path of the API needs a permit; pages and probes do not.
fn is_work(path: &str) -> bool {
    path.starts_with("/v1/") || path.starts_with("/beta/")
}

/// Answers with 500. The panic's message may quote content, so it is not logged.
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    drop(panic);
    tracing::error!("a request was answered with 500 after a panic");
    EdgeError::Panicked.into_response()
}

/// Logs a request that did not reach a handler, without its path, which may contain anything.
fn log_refusal(id: Uuid, error: EdgeError, status: u16) {
    tracing::info!(
        request.id = %id,
        status,
        error = error.code().code(),
        cause = error.message(),
        "request refused at the edge"
    );
}

/// Announces to an HTTP/1 caller that the connection closes.
fn closing(version: Version, mut response: Response) -> Response {
    if version < Version::HTTP_2 {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
    response
}

/// Checks an HTTP/2 request. Its framing is not ambiguous, but fields may be repeated.
fn check_http2(request: &Request<Body>, fields_max: usize) -> Result<(), EdgeError> {
    let headers: &HeaderMap = request.headers();
    if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
        return Err(EdgeError::MethodRefused);
    }
    if headers.len() > fields_max {
        return Err(EdgeError::HeadersTooLarge);
    }
    let repeated = |name: HeaderName| headers.get_all(name).iter().nth(1).is_some();
    if [HOST, AUTHORIZATION, CONTENT_TYPE, CONTENT_ENCODING]
        .into_iter()
        .any(repeated)
    {
        return Err(EdgeError::RepeatedHeader);
    }
    names_one_host(request)
}

/// Whether target and Host header name the same host (RFC 9113, section 8.3.1). Otherwise a proxy and a handler could
/// read two different sites.
fn names_one_host(request: &Request<Body>) -> Result<(), EdgeError> {
    let Some(header) = request.headers().get(HOST) else {
        return Ok(());
    };
    let authority = request.uri().authority().map(Authority::as_str);
    let is_same = authority
        .is_none_or(|authority| header.as_bytes().eq_ignore_ascii_case(authority.as_bytes()));
    if is_same {
        Ok(())
    } else {
        Err(EdgeError::TwoHosts)
    }
}
