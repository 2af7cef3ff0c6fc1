//! The connections of an account that wait for a request.
//!
//! Only those in the clear, which speak HTTP/1 by nature. Where TLS lets the provider choose HTTP/2, one connection
//! serves many requests and has a task of its own.

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

/// Connections of an account to one provider that are kept when they are not needed, for a while: as many as requests are
/// worked on at a time. Making them anew under load would cost more than the requests.
pub(super) const IDLE_MAX: usize = 1024;

/// For how long they are kept.
pub(super) const IDLE_FOR: Duration = Duration::from_secs(50);

/// The port of connections in the clear, which is not named.
const PORT: u16 = 80;

/// Connections in the clear that wait for a request.
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
    /// The one idle longest first.
    idle: Vec<(Instant, Box<Line>)>,
}

/// A connection on loan, and where it goes when the answer is read.
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

/// The authority of a call that goes out in the clear.
fn clear(uri: &Uri) -> Option<&Authority> {
    uri.authority()
        .filter(|_| uri.scheme() == Some(&Scheme::HTTP))
}

impl Lines {
    /// Whether a call goes out on one of these.
    pub(super) fn serve(uri: &Uri) -> bool {
        clear(uri).is_some()
    }

    /// Makes a call. An idle connection that turns out to be closed before anything was sent is not the caller's concern.
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
                // In a box: it is rare, and would make room for itself in every request.
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

    /// The connection that was used last, if it is still open.
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

    /// Closes what was idle for too long. Whether anything is left.
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

/// How often idle connections are looked after, where nobody asks for one: those that a provider closed are let go.
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
    /// Gives the connection back, if it is ready for another request. Otherwise it is closed.
    pub(super) fn give_back(mut self) {
        if let Some(lines) = self.lines.upgrade()
            && self.line.is_idle()
        {
            lines.keep(self.authority, self.line);
        }
    }
}

/// Writes the request as HTTP/1 has it: the host in a header, and the path alone.
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
