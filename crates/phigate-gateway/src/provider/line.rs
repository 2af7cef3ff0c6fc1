//! An HTTP/1 connection that is driven by the task of its request.
//!
//! A connection with its own task is woken for every request, answers through channels, and wakes the request's task in
//! turn. Here all of that is a call within one task.

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

/// Number of polls of a connection before its task yields to others.
const ROUNDS_MAX: usize = 8;

/// The stream that the connector opens.
type Stream = <Connector as Service<Uri>>::Response;

/// The connection that reads and writes.
type Opened = Pin<Box<Connection<Stream, Sent>>>;

/// A connection, open or idle.
pub(super) struct Line {
    sender: SendRequest<Sent>,
    /// `None` after the connection has closed.
    connection: Option<Opened>,
    bell: Arc<Bell>,
    waker: Waker,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Line")
    }
}

/// The reason for a missing answer.
pub(super) enum Unanswered {
    /// The connection closed before any byte of the request was sent, so the request may use another connection.
    Unsent(Box<Request<Sent>>),
    /// Any other failure.
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

    /// Whether the connection is open and can take a request. False if the provider closed it, or sent data without a
    /// request.
    pub(super) fn is_idle(&mut self) -> bool {
        self.bell.begin();
        advance(&mut self.connection, &self.waker);
        self.bell.end();
        // No task waits for the connection now, and the registered one may have ended.
        self.bell.task.take();
        self.connection.is_some() && self.sender.is_ready()
    }

    /// Sends a request and waits for the head of the answer.
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

    /// Polls `awaited` while driving the connection.
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
            // A wake-up after a ready result is handled by the next call.
            if self.bell.end() || polled.is_ready() {
                return polled;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Lets a connection read and write. On close it is dropped, and pending readers get an error.
fn advance(connection: &mut Option<Opened>, waker: &Waker) {
    let mut cx = Context::from_waker(waker);
    let polled = connection.as_mut().map(|open| open.as_mut().poll(&mut cx));
    if polled.is_some_and(|polled| polled.is_ready()) {
        *connection = None;
    }
}

/// Wakes the task that waits for a connection, unless the task is driving it.
#[derive(Default)]
struct Bell {
    task: AtomicWaker,
    state: AtomicU8,
}

const QUIET: u8 = 0;
const DRIVEN: u8 = 1;
const RUNG: u8 = 2;

impl Bell {
    /// Marks the start of driving.
    fn begin(&self) {
        self.state.store(DRIVEN, Ordering::Release);
    }

    /// Marks the end of driving. False if the bell rang meanwhile.
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
