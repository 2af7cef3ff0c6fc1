//! The connections of one account, which are never shared with another account.

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
    /// Connections with TLS, in HTTP/1 or HTTP/2.
    client: Client<Connector, Sent>,
    /// Connections without TLS. The runtime of the thread that opened a connection drives it, so each thread has a
    /// pool.
    lines: PerThread<Arc<Lines>>,
}

impl Pool {
    /// An empty pool. Connections are opened on demand.
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

    /// Makes a call and returns the head of the answer, with the connection of its body if the reader has to drive it.
    pub(super) async fn ask(
        &self,
        connector: &Connector,
        request: Request<Sent>,
    ) -> Result<(Response<Body>, Option<Loan>), ProviderError> {
        if Lines::serve(request.uri()) {
            // Boxed, like the client's future: inline it would enlarge every request's future.
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
