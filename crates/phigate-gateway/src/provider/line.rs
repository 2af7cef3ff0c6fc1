//! A connection in HTTP/1 that the request on it drives itself.
//!
//! A connection with a task of its own is woken for every request, answers it through channels, and wakes the request's
//! task in turn. Here all of that is a call within one task.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;
use http::{Request, Response, Uri};
use hyper::body::Incoming as Body;
use hyper::client::conn::http1::{self, Connection, SendRequest};
use tower::Service;

use super::ProviderError;
use super::connect::{Connector, no_connection};
use super::sent::Sent;

/// How often a connection is asked again in one turn, before others get theirs.
const ROUNDS_MAX: usize = 8;

/// What the connector opens.
type Stream = <Connector as Service<Uri>>::Response;

/// What reads and writes.
type Opened = Pin<Box<Connection<Stream, Sent>>>;

/// A connection, open or idle.
pub(super) struct Line {
    sender: SendRequest<Sent>,
    /// None when it is over.
    connection: Option<Opened>,
    bell: Arc<Bell>,
    waker: Waker,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Line")
    }
}

/// Why there is no answer.
pub(super) enum Unanswered {
    /// The connection was closed before anything of the request was sent: it may go on another one.
    Unsent(Box<Request<Sent>>),
    /// Something else happened.
    Failed,
}

impl Line {
    /// Opens a connection.
    pub(super) async fn open(connector: &Connector, uri: Uri) -> Result<Self, ProviderError> {
        let stream = connector.clone().call(uri).await;
        let stream = stream.map_err(no_connection)?;
        let (sender, connection) = http1::handshake(stream)
            .await
            .map_err(|_| ProviderError::Broken)?;
        let bell = Arc::new(Bell::default());
        Ok(Self {
            sender,
            connection: Some(Box::pin(connection)),
            waker: Waker::from(Arc::clone(&bell)),
            bell,
        })
    }

    /// Whether it is open and waits for a request. One that the provider closed, or on which it spoke unasked, is not.
    pub(super) fn is_idle(&mut self) -> bool {
        self.bell.begin();
        advance(&mut self.connection, &self.waker);
        self.bell.end();
        // Nobody waits for it now, and whoever did may be gone.
        self.bell.task.take();
        self.connection.is_some() && self.sender.is_ready()
    }

    /// Sends a request, and waits for the head of the answer.
    pub(super) async fn ask(
        &mut self,
        request: Request<Sent>,
    ) -> Result<Response<Body>, Unanswered> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let answer = std::future::poll_fn(|cx| self.drive(cx, |cx| answer.as_mut().poll(cx)));
        answer
            .await
            .map_err(|mut error| match error.take_message() {
                Some(request) => Unanswered::Unsent(Box::new(request)),
                None => Unanswered::Failed,
            })
    }

    /// Waits for something that the connection brings about.
    pub(super) fn drive<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut awaited: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.bell.task.register(cx.waker());
        let mut within = Context::from_waker(&self.waker);
        for _ in 0..ROUNDS_MAX {
            self.bell.begin();
            let mut polled = awaited(&mut within);
            if polled.is_pending() {
                advance(&mut self.connection, &self.waker);
                polled = awaited(&mut within);
            }
            // What rang although there is something now is seen to when more is asked for.
            if self.bell.end() || polled.is_ready() {
                return polled;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Lets a connection read and write what it can. When it is over it is gone, and whoever waits for something of it
/// learns that there will be nothing.
fn advance(connection: &mut Option<Opened>, waker: &Waker) {
    let mut cx = Context::from_waker(waker);
    let polled = connection.as_mut().map(|open| open.as_mut().poll(&mut cx));
    if polled.is_some_and(|polled| polled.is_ready()) {
        *connection = None;
    }
}

/// Wakes the task that waits for a connection, but not while that task is at work on it.
#[derive(Default)]
struct Bell {
    task: AtomicWaker,
    state: AtomicU8,
}

const QUIET: u8 = 0;
const DRIVEN: u8 = 1;
const RUNG: u8 = 2;

impl Bell {
    /// The task begins to work on the connection.
    fn begin(&self) {
        self.state.store(DRIVEN, Ordering::Release);
    }

    /// The task stops. False when the bell rang in the meantime.
    fn end(&self) -> bool {
        self.state.swap(QUIET, Ordering::AcqRel) == DRIVEN
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let rung = self
            .state
            .compare_exchange(DRIVEN, RUNG, Ordering::AcqRel, Ordering::Acquire);
        if rung == Err(QUIET) {
            self.task.wake();
        }
    }
}
