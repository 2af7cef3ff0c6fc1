//! The edge over real sockets: answers, and when the server closes.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::Request;
use axum::routing;

use bytes::Bytes;
use futures_util::stream;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use axum::Router;
use axum::response::{IntoResponse, Response};

use super::*;
use crate::serve::finish;
use crate::{
    ClientAddress, EarlyLimiter, MissingPage, Observer, REQUEST_ID, RequestId, TrustedProxies,
    Upload, health_routes,
};

mod crowds;
mod early_limiter;
mod http2;
mod patience;
mod refusals;
mod stopping;

/// An observer that ignores all events.
struct Nobody;

impl Observer for Nobody {
    fn connections(&self, _: i64) {}
    fn requests(&self, _: i64) {}
    fn refused(&self, _: crate::EdgeError) {}
}

/// A running server.
pub(crate) struct Running {
    address: SocketAddr,
    drain: Drain,
    over: tokio::task::JoinHandle<()>,
}

async fn start(limits: Limits) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    serve_on(listener, limits, test_router(), None)
}

/// Serves these handlers as the gateway would.
pub(crate) fn serve_on(
    listener: TcpListener,
    limits: Limits,
    router: Router,
    certificate: Option<Certificate>,
) -> Running {
    serve_with(listener, limits, router, certificate, None)
}

/// Serves these handlers behind an early limiter.
fn serve_with(
    listener: TcpListener,
    limits: Limits,
    router: Router,
    certificate: Option<Certificate>,
    early_limiter: Option<Arc<dyn EarlyLimiter>>,
) -> Running {
    let address = listener.local_addr().unwrap();
    let drain = Drain::default();
    let router = router.merge(health_routes(drain.clone(), || async { true }));
    let missing_page: MissingPage = Arc::new(|_| Box::pin(async { "a page".into_response() }));
    let mut edge = Edge::new(
        finish(router, missing_page),
        &limits,
        TrustedProxies::default(),
        drain.clone(),
        Arc::new(Nobody),
    );
    edge.early_limiter = early_limiter;
    let slots = ConnectionSlots::new(limits.connections, 0);
    let server = Server::new(
        edge,
        &limits,
        certificate,
        drain.clone(),
        slots,
        Arc::default(),
    );
    let (served, stopping) = (vec![(server, listener)], drain.clone());
    let over = tokio::spawn(async move {
        super::run(served, &stopping, Duration::from_millis(limits.drain_ms)).await;
    });
    Running {
        address,
        drain,
        over,
    }
}

/// Handlers that show what passes the edge.
pub(crate) fn test_router() -> Router {
    Router::new()
        .route("/v1/echo", routing::post(echo))
        .route("/v1/panic", routing::get(panics))
        .route("/v1/endless", routing::get(endless))
        .route("/v1/slow", routing::get(slow))
        .route("/v1/broken", routing::get(broken))
        .route("/v1/late", routing::get(late))
}

async fn echo(request: Request) -> Response {
    let (parts, upload) = Upload::split(request);
    assert!(
        parts.extensions.get::<RequestId>().is_some()
            && parts.extensions.get::<ClientAddress>().is_some()
    );
    match upload.read().await {
        Ok((body, _permit)) => body.into_response(),
        Err(error) => error.into_response(),
    }
}

async fn panics() -> Response {
    panic!("Jane Roe")
}

async fn endless() -> Response {
    let piece = Bytes::from(vec![b'x'; 64 * 1024]);
    Response::new(Body::from_stream(stream::repeat_with(move || {
        Ok::<_, Infallible>(piece.clone())
    })))
}

async fn slow() -> Response {
    let pieces = stream::unfold(0, |count| async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        (count < 5).then(|| {
            (
                Ok::<_, Infallible>(Bytes::from_static(b"piece ")),
                count + 1,
            )
        })
    });
    Response::new(Body::from_stream(pieces))
}

async fn late() -> Response {
    tokio::time::sleep(Duration::from_millis(1200)).await;
    "late".into_response()
}

async fn broken() -> Response {
    let pieces = [
        Ok(Bytes::from_static(b"first ")),
        Ok(Bytes::from_static(b"last words")),
        Err("broken off"),
    ];
    Response::new(Body::from_stream(stream::iter(pieces)))
}

/// Sends bytes and returns everything up to the server's close.
async fn exchange(address: SocketAddr, bytes: impl AsRef<[u8]>) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let _ = stream.write_all(bytes.as_ref()).await;
    read_to_end(&mut stream).await
}

async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut received = Vec::new();
    let reading = stream.read_to_end(&mut received);
    tokio::time::timeout(Duration::from_secs(8), reading)
        .await
        .expect("the server did not hang up")
        .unwrap();
    String::from_utf8_lossy(&received).into_owned()
}

fn post(path: &str, headers: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n{headers}\r\n{body}")
}

fn get_request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n")
}

/// Checks for one answer with this status and code, an id, and no further bytes.
#[track_caller]
fn expect_refusal(answer: &str, status: u16, code: &str, case: &str) {
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{case}: {answer}"
    );
    assert_eq!(
        answer.matches("HTTP/1.1 ").count(),
        1,
        "{case}: more than one answer: {answer}"
    );
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    expect_id(head, case);
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["error"]["code"], code, "{case}");
    assert!(
        body["error"]["message"].is_string() && body["error"]["type"].is_string(),
        "{case}"
    );
}

#[track_caller]
fn expect_id(head: &str, case: &str) {
    let id = head
        .lines()
        .find_map(|line| line.strip_prefix("x-gateway-request-id: "));
    let version = id
        .and_then(|id| uuid::Uuid::try_parse(id).ok())
        .map(|id| id.get_version_num());
    assert_eq!(version, Some(7), "{case}: no request id in {head}");
}
