//! The connections of one account. They are never shared with another.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming as Body;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use phigate_edge::PerThread;

use super::ProviderError;
use super::connect::{ConnectError, Connector, no_connection};
use super::lines::{IDLE_FOR, IDLE_MAX, Lines, Loan};
use super::sent::Sent;

/// The connections of one account.
pub(super) struct Pool {
    /// Those with TLS, in HTTP/1 or HTTP/2 as the provider likes.
    client: Client<Connector, Sent>,
    /// Those in the clear. A connection is waited for by the runtime of the thread that opened it, so each thread has its
    /// own.
    lines: PerThread<Arc<Lines>>,
}

impl Pool {
    /// No connection is opened before a call needs one.
    pub(super) fn new(connector: Connector) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_FOR)
            .pool_max_idle_per_host(IDLE_MAX)
            .http2_keep_alive_interval(Duration::from_secs(30))
            .http2_adaptive_window(true)
            .build(connector);
        Self {
            client,
            lines: PerThread::new(Arc::default),
        }
    }

    /// Makes a call, and gives the head of the answer with the connection that its body comes on, where the one who
    /// reads it has to see to that.
    pub(super) async fn ask(
        &self,
        connector: &Connector,
        request: Request<Sent>,
    ) -> Result<(Response<Body>, Option<Loan>), ProviderError> {
        if Lines::serve(request.uri()) {
            // In a box, as the client's own future is: it would make room for itself in every request.
            let (response, loan) = Box::pin(self.lines.mine().ask(connector, request)).await?;
            return Ok((response, Some(loan)));
        }
        match self.client.request(request).await {
            Ok(response) => Ok((response, None)),
            Err(error) => Err(classify(&error)),
        }
    }
}

fn classify(error: &ClientError) -> ProviderError {
    if !error.is_connect() {
        return ProviderError::Broken;
    }
    let mut next = error.source();
    while let Some(source) = next {
        match source.downcast_ref::<ConnectError>() {
            Some(reason) => return no_connection(*reason),
            None => next = source.source(),
        }
    }
    ProviderError::Unreachable
}
