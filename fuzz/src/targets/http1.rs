//! HTTP/1 as the guard reads it, compared with the HTTP library behind it: every accepted request has one meaning.
//!
//! The library reads the guard's output. It must see the same requests in the same order, with the same bodies. If the
//! two found different ends of a body, their next requests would differ.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use phigate_edge::fuzzing::{Framed, framed, guarded};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Target;
use crate::cuts::cut;

pub(super) const TARGET: Target = Target {
    name: "http1",
    run,
    seeds: &[
        b"\x40POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /b?c=d HTTP/1.1\r\nhost:a\r\n\r\n",
        b"\x03POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x07POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"\x07GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n",
        b"\x05\r\nGET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
    ],
};

thread_local! {
    static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
}

fn run(bytes: &[u8]) {
    let (step, wire) = cut(bytes);
    if wire.starts_with(b"PRI") {
        // HTTP/2 has its own framing.
        return;
    }
    let ours = framed(wire);
    let theirs = RUNTIME.with(|runtime| runtime.block_on(served(wire, step)));
    for (number, theirs) in theirs.iter().enumerate() {
        let Some(ours) = ours.get(number) else {
            assert_eq!(
                theirs.method, "REFUSE",
                "the library sees a request that the guard does not"
            );
            return;
        };
        assert_eq!(
            (&ours.method, &ours.target),
            (&theirs.method, &theirs.target)
        );
        if let (Some(ours), Some(theirs)) = (&ours.body, &theirs.body) {
            assert!(ours == theirs, "the bodies differ");
        }
    }
}

/// Returns the requests that the library sees behind the guard.
async fn served(wire: &[u8], step: usize) -> Vec<Framed> {
    let seen: Rc<RefCell<Vec<Framed>>> = Rc::default();
    let service = service_fn(|request: Request<Incoming>| {
        let seen = Rc::clone(&seen);
        async move {
            let (parts, body) = request.into_parts();
            let place = seen.borrow().len();
            seen.borrow_mut().push(Framed {
                method: parts.method.to_string(),
                target: parts.uri.to_string(),
                body: None,
            });
            let body = body.collect().await.map(|body| body.to_bytes().to_vec());
            seen.borrow_mut()[place].body = body.ok();
            Ok::<_, io::Error>(Response::new(Full::new(Bytes::new())))
        }
    });
    let pipe = Pipe {
        rest: wire.to_vec(),
        step,
    };
    let connection = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(guarded(pipe)), service);
    // A refused head leaves the connection waiting for its timers.
    tokio::select! {
        biased;
        _ = connection => {}
        () = turns() => {}
    }
    Rc::try_unwrap(seen)
        .map(RefCell::into_inner)
        .unwrap_or_else(|seen| seen.borrow().clone())
}

/// Polls a connection for some turns; it waits only for its own bytes.
async fn turns() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

/// A caller that sends bytes in pieces and reads every answer.
struct Pipe {
    rest: Vec<u8>,
    step: usize,
}

impl AsyncRead for Pipe {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let count = self.step.min(out.remaining()).min(self.rest.len());
        out.put_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
