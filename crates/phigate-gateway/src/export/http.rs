//! Calls over HTTP to targets, with the connector and the rules of calls to providers.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::sink::Problem;
use crate::gateway::Gateway;
use crate::provider::AGENT;
use crate::provider::connect::{ConnectError, Connector};

/// Most bytes of an answer that are read.
const ANSWER_MAX: usize = 64 * 1024;

/// Longest wait that a receiver can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);

/// The way to targets outside.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) connector: Connector,
    client: Client<Connector, Full<Bytes>>,
    pub(super) allow_private: bool,
}

/// A call to a target.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) uri: &'a Uri,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Bytes,
}

impl Way {
    /// The way of a gateway, with its rules.
    pub(super) fn of(gateway: &Gateway) -> Self {
        let connector = gateway.provider.connector();
        Self::new(connector, gateway.allow_private_providers)
    }

    pub(super) fn new(connector: Connector, allow_private: bool) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(Duration::from_secs(60))
            .build(connector.clone());
        Self {
            connector,
            client,
            allow_private,
        }
    }

    /// Makes a call and returns the body of an answer that is a success. A redirect is not followed.
    pub(super) async fn call(&self, call: Call<'_>) -> Result<Bytes, Problem> {
        let mut request = Request::new(Full::new(call.body));
        *request.method_mut() = call.method;
        *request.uri_mut() = call.uri.clone();
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.extend(call.headers);
        let answer = self
            .client
            .request(request)
            .await
            .map_err(|error| reason(&error))?;
        let (head, body) = answer.into_parts();
        if !head.status.is_success() {
            return Err(Problem {
                status: Some(head.status.as_u16()),
                retry_after: retry_after(&head.headers),
                ..Problem::new(refusal(head.status))
            });
        }
        match Limited::new(body, ANSWER_MAX).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(_) => Err(Problem::new("the target's answer cannot be read")),
        }
    }
}

fn refusal(status: StatusCode) -> String {
    let hint = match status.as_u16() {
        300..=399 => ": a redirect, which is not followed",
        401 | 403 => ": it refuses the credentials",
        404 => ": nothing is at this address",
        429 | 503 => ": it is busy",
        _ => "",
    };
    format!("the target answered {}{hint}", status.as_u16())
}

/// The kind of a client's error, whose text contains addresses.
fn reason(error: &hyper_util::client::legacy::Error) -> Problem {
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        if let Some(own) = source.downcast_ref::<ConnectError>() {
            return (*own).into();
        }
        next = source.source();
    }
    Problem::new("the target broke the connection or did not speak HTTP")
}

/// The wait that an answer asks for, in seconds or as a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date: jiff::Timestamp = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
            let until = SystemTime::from(date);
            until.duration_since(SystemTime::now()).ok()?
        }
    };
    Some(wait.min(RETRY_AFTER_MAX))
}
