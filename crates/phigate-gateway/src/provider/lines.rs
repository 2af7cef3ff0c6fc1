//! Idle connections of an account.
//!
//! Only connections without TLS, which speak HTTP/1. With TLS a provider may choose HTTP/2, and such a connection
//! serves many requests and has its own task.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use http::header::HOST;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming as Body;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::ProviderError;
use super::connect::Connector;
use super::line::{Line, Unanswered};
use super::sent::Sent;

/// Limit of idle connections of an account to one provider: the number of concurrent requests. New connections under
/// load would cost more than the requests.
pub(super) const IDLE_MAX: usize = 1024;

/// Lifetime of an idle connection.
pub(super) const IDLE_FOR: Duration = Duration::from_secs(50);

/// The default port without TLS, which is left out of the host.
const PORT: u16 = 80;

/// Idle connections without TLS.
#[derive(Default)]
pub(super) struct Lines {
    hosts: Mutex<Hosts>,
}

#[derive(Default)]
struct Hosts {
    hosts: Vec<Host>,
    is_swept: bool,
}

struct Host {
    authority: Authority,
    /// Idle connections, oldest first.
    idle: Vec<(Instant, Box<Line>)>,
}

/// A leased connection, and the pool that it returns to after the answer was read.
#[derive(Debug)]
pub(super) struct Loan {
    pub(super) line: Box<Line>,
    lines: Weak<Lines>,
    authority: Authority,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Lines")
    }
}

/// The authority of a call without TLS.
fn clear(uri: &Uri) -> Option<&Authority> {
    uri.authority()
        .filter(|_| uri.scheme() == Some(&Scheme::HTTP))
}

impl Lines {
    /// Whether a call uses these connections.
    pub(super) fn serve(uri: &Uri) -> bool {
        clear(uri).is_some()
    }

    /// Makes a call. If an idle connection closed before anything was sent, another one is used.
    pub(super) async fn ask(
        self: &Arc<Self>,
        connector: &Connector,
        mut request: Request<Sent>,
    ) -> Result<(Response<Body>, Loan), ProviderError> {
        let uri = request.uri().clone();
        let authority = clear(&uri).ok_or(ProviderError::Unsendable)?;
        prepare(&mut request, authority).ok_or(ProviderError::Unsendable)?;
        loop {
            let (mut line, is_fresh) = match self.take(authority) {
                Some(line) => (line, false),
                // Boxed: rare, and inline it would enlarge every request's future.
                None => (
                    Box::new(Box::pin(Line::open(connector, uri.clone())).await?),
                    true,
                ),
            };
            match line.ask(request).await {
                Ok(response) => {
                    let loan = Loan {
                        line,
                        lines: Arc::downgrade(self),
                        authority: authority.clone(),
                    };
                    return Ok((response, loan));
                }
                Err(Unanswered::Unsent(unsent)) if !is_fresh => request = *unsent,
                Err(_) => return Err(ProviderError::Broken),
            }
        }
    }

    /// The connection used last, if it is still open.
    fn take(&self, authority: &Authority) -> Option<Box<Line>> {
        loop {
            let (since, mut line) = {
                let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
                let mut all = hosts.hosts.iter_mut();
                all.find(|host| host.authority == *authority)?.idle.pop()?
            };
            if since.elapsed() < IDLE_FOR && line.is_idle() {
                return Some(line);
            }
        }
    }

    fn keep(self: &Arc<Self>, authority: Authority, line: Box<Line>) {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a runtime the process is about to end.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let hosts = &mut *hosts;
        let at = hosts
            .hosts
            .iter()
            .position(|host| host.authority == authority);
        let at = at.unwrap_or_else(|| {
            let idle = Vec::new();
            hosts.hosts.push(Host { authority, idle });
            hosts.hosts.len() - 1
        });
        let idle = &mut hosts.hosts[at].idle;
        if idle.len() < IDLE_MAX {
            idle.push((Instant::now(), line));
        }
        if !std::mem::replace(&mut hosts.is_swept, true) {
            runtime.spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Closes connections that were idle for too long. True if any are left.
    fn close_idle(&self) -> bool {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        for host in &mut hosts.hosts {
            host.idle
                .retain_mut(|(since, line)| now - *since < IDLE_FOR && line.is_idle());
        }
        hosts.hosts.retain(|host| !host.idle.is_empty());
        hosts.is_swept = !hosts.hosts.is_empty();
        hosts.is_swept
    }
}

/// Interval between sweeps of idle connections, which also release those that a provider closed.
const SWEEP_EVERY: Duration = Duration::from_secs(5);

async fn sweep(lines: Weak<Lines>) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        let is_over = lines.upgrade().is_none_or(|lines| !lines.close_idle());
        if is_over {
            return;
        }
    }
}

impl Loan {
    /// Returns the connection, if it is ready for another request. Otherwise it is closed.
    pub(super) fn give_back(mut self) {
        if let Some(lines) = self.lines.upgrade()
            && self.line.is_idle()
        {
            lines.keep(self.authority, self.line);
        }
    }
}

/// Writes the request in HTTP/1 form: the host in a header, and only the path in the URL.
fn prepare(request: &mut Request<Sent>, authority: &Authority) -> Option<()> {
    let host = match authority.port_u16() {
        None | Some(PORT) => authority.host(),
        Some(_) => authority.as_str(),
    };
    let host = HeaderValue::from_str(host).ok()?;
    request.headers_mut().insert(HOST, host);
    let path = request.uri().path_and_query().cloned();
    let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = path.into();
    Some(())
}
