//! Requests for tokens and credentials, with the connector, rules and bounds of calls to providers.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, DATE, USER_AGENT};
use http::{HeaderValue, Request, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use phigate_auth::{Answer, Ask, Fetch, FetchError, Method, Place};
use tokio::time::Instant;

use super::connect::Connector;
use super::{AGENT, BaseUrl};

/// Longest wait for a token, whatever the limit for providers.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// The client for token endpoints and for services of the machine. It keeps no connections, because tokens are
/// requested once an hour.
pub(super) struct TokenClient {
    endpoints: Client<Connector, Full<Bytes>>,
    machine: Client<Connector, Full<Bytes>>,
    allow_private: bool,
    wait: Duration,
}

impl TokenClient {
    /// Builds the client. `wait` is the limit for a provider's first byte.
    pub(super) fn new(
        endpoints: Connector,
        machine: Connector,
        allow_private: bool,
        wait: Duration,
    ) -> Self {
        let client = |connector| {
            Client::builder(TokioExecutor::new())
                .pool_max_idle_per_host(0)
                .build(connector)
        };
        Self {
            endpoints: client(endpoints),
            machine: client(machine),
            allow_private,
            wait: wait.min(WAIT_MAX),
        }
    }

    async fn ask(&self, ask: Ask, deadline: Instant) -> Result<Answer, FetchError> {
        let uri = self.address(&ask).ok_or(FetchError::Unreachable)?;
        let request = request(&ask, uri).ok_or(FetchError::Unreadable)?;
        let client = match ask.place {
            Place::Endpoint => &self.endpoints,
            Place::Machine => &self.machine,
        };
        let answer = client.request(request).await;
        let (head, body) = answer.map_err(|error| reason(&error))?.into_parts();
        if head.status.is_redirection() {
            return Err(FetchError::Unreadable);
        }
        let date = head.headers.get(DATE).and_then(|date| date.to_str().ok());
        let bytes_max = ask.answer_bytes_max as u64;
        let body = super::Answer::new((body, None), bytes_max, self.wait, deadline);
        let body = body.read_all().await.map_err(|_| FetchError::Unreadable)?;
        Ok(Answer {
            status: head.status.as_u16(),
            date: date.map(str::to_owned),
            body: body.to_vec(),
        })
    }

    /// The address of a request. A token endpoint is checked like a provider's address; the machine's services are
    /// configured by its operator.
    fn address(&self, ask: &Ask) -> Option<Uri> {
        match ask.place {
            Place::Endpoint => {
                let base = BaseUrl::parse(&ask.url, self.allow_private).ok()?;
                base.join(&[], None)
            }
            Place::Machine => ask.url.parse().ok(),
        }
    }
}

#[async_trait]
impl Fetch for TokenClient {
    async fn fetch(&self, ask: Ask) -> Result<Answer, FetchError> {
        let deadline = Instant::now() + self.wait;
        match tokio::time::timeout_at(deadline, self.ask(ask, deadline)).await {
            Ok(answer) => answer,
            Err(_) => Err(FetchError::Timeout),
        }
    }
}

fn request(ask: &Ask, uri: Uri) -> Option<Request<Full<Bytes>>> {
    let form = ask.form.as_ref().map(|form| form.expose().to_owned());
    let has_form = form.is_some();
    let mut request = Request::new(Full::new(Bytes::from(form.unwrap_or_default())));
    *request.method_mut() = match ask.method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
    };
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if has_form {
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, form);
    }
    for (name, value) in &ask.headers {
        let mut value = HeaderValue::from_str(value.expose()).ok()?;
        value.set_sensitive(true);
        headers.insert(*name, value);
    }
    Some(request)
}

/// The kind of a client error; the error itself contains addresses.
fn reason(error: &hyper_util::client::legacy::Error) -> FetchError {
    if error.is_connect() {
        FetchError::Unreachable
    } else {
        FetchError::Unreadable
    }
}
