//! Real bytes over a socket: what the edge answers, and when it hangs up.

use std::convert::Infallible;
use std::time::Instant;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing;

use bytes::Bytes;
use futures_util::stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// A server with a few handlers that show what passes the edge.
struct Running {
    address: SocketAddr,
    drain: Drain,
    over: tokio::task::JoinHandle<()>,
}

async fn start(limits: Limits) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let drain = Drain::default();
    let router = Router::new()
        .route("/v1/echo", routing::post(echo))
        .route("/v1/panic", routing::get(panics))
        .route("/v1/endless", routing::get(endless))
        .route("/v1/slow", routing::get(slow))
        .merge(health_routes(drain.clone(), || async { true }));
    let edge = Edge::new(finish(router), &limits, drain.clone(), Metrics::new());
    let server = Server::new(edge, &limits, None, drain.clone());
    let over = tokio::spawn(async move {
        server
            .run(&listener, Duration::from_millis(limits.drain_ms))
            .await;
    });
    Running {
        address,
        drain,
        over,
    }
}

async fn echo(request: Request) -> Response {
    let (parts, upload) = Upload::split(request);
    assert!(
        parts.extensions.get::<RequestId>().is_some() && parts.extensions.get::<Peer>().is_some()
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

/// Sends bytes and returns everything that comes until the server hangs up.
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

/// One answer with this status and code, with an id, and nothing after it.
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

#[tokio::test]
async fn a_plain_request_is_answered_with_an_id() {
    let server = start(Limits::default()).await;
    for request in [
        post("/v1/echo", "Content-Length: 5\r\n", "hello"),
        post(
            "/v1/echo",
            "Transfer-Encoding: chunked\r\n",
            "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        ),
        post(
            "/v1/echo",
            "Transfer-Encoding: chunked\r\n",
            "5;a=b\r\nhello\r\n0\r\nX-Trailer: y\r\n\r\n",
        ),
        format!("\r\n{}", post("/v1/echo", "Content-Length: 5\r\n", "hello")),
        post(
            "/v1/echo",
            "Content-Length: 5\r\nContent-Encoding: identity\r\n",
            "hello",
        ),
    ] {
        let answer = exchange(server.address, &request).await;
        assert!(
            answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\nhello"),
            "{answer}"
        );
        expect_id(&answer, &request);
    }
}

#[tokio::test]
async fn what_the_edge_refuses_is_answered_once_and_the_connection_closed() {
    let server = start(Limits::default()).await;
    let smuggled = "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\n\r\nhello";
    let many: String = (0..101)
        .map(|number| format!("X-{number}: v\r\n"))
        .collect();
    let large: String = (0..9)
        .map(|number| format!("X-{number}: {}\r\n", "v".repeat(4000)))
        .collect();
    let rows: Vec<(String, u16, &str)> = vec![
        // The request, the status and the code.
        (
            format!(
                "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"
            ),
            400,
            "invalid_http",
        ),
        (
            format!(
                "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nhello{smuggled}"
            ),
            400,
            "invalid_http",
        ),
        (
            post(
                "/v1/echo",
                "Transfer-Encoding: gzip, chunked\r\n",
                "0\r\n\r\n",
            ),
            400,
            "invalid_http",
        ),
        (post("/v1/echo", "Host: other\r\n", ""), 400, "invalid_http"),
        (
            post(
                "/v1/echo",
                "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
                "",
            ),
            400,
            "invalid_http",
        ),
        (
            post("http://evil.example/v1/echo", "", ""),
            400,
            "invalid_http",
        ),
        (
            "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n".to_owned(),
            405,
            "method_not_allowed",
        ),
        (
            "TRACE /v1/echo HTTP/1.1\r\nHost: gw\r\n\r\n".to_owned(),
            405,
            "method_not_allowed",
        ),
        (
            "REFUSE /20 HTTP/1.1\r\nHost: gw\r\n\r\n".to_owned(),
            405,
            "method_not_allowed",
        ),
        (
            format!(
                "{}{smuggled}",
                post("/v1/echo", "Connection: Upgrade\r\nUpgrade: foo\r\n", "")
            ),
            400,
            "invalid_http",
        ),
        (post("/v1/echo", ": x\r\n", ""), 400, "invalid_http"),
        (post("/v1/echo", "X: a\r\n b\r\n", ""), 400, "invalid_http"),
        (
            "GET /v1/echo HTTP/1.1\nHost: gw\n\n".to_owned(),
            400,
            "invalid_http",
        ),
        ("hello\r\n\r\n".to_owned(), 400, "invalid_http"),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400, "invalid_http"),
        ("GET / HTTP/3.0\r\n\r\n".to_owned(), 505, "invalid_http"),
        (post("/v1/echo", &many, ""), 431, "headers_too_large"),
        (post("/v1/echo", &large, ""), 431, "headers_too_large"),
        (
            post(&format!("/{}", "a".repeat(9000)), "", ""),
            414,
            "uri_too_long",
        ),
        (
            post(&format!("/{}", "a".repeat(70_000)), "", ""),
            414,
            "uri_too_long",
        ),
        (post("/v1/echo", "Expect: tea\r\n", ""), 417, "invalid_http"),
        (
            post(
                "/v1/echo",
                "Content-Encoding: br\r\nContent-Length: 2\r\n",
                "hi",
            ),
            415,
            "unsupported_media_type",
        ),
        (
            post(
                "/v1/echo",
                "Transfer-Encoding: chunked\r\n",
                "5\nhello\r\n0\r\n\r\n",
            ),
            400,
            "invalid_http",
        ),
        (post("/v1/nothing", "", ""), 404, "not_found"),
        (get_request("/nothing"), 404, "not_found"),
    ];
    for (request, status, code) in rows {
        let case = request.chars().take(90).collect::<String>();
        expect_refusal(
            &exchange(server.address, &request).await,
            status,
            code,
            &case,
        );
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let server = start(Limits::default()).await;
    let answer = exchange(server.address, get_request("/v1/echo")).await;
    expect_refusal(&answer, 405, "method_not_allowed", "GET /v1/echo");
    assert!(answer.contains("\r\nallow: POST\r\n"), "{answer}");
}

#[tokio::test]
async fn requests_on_one_connection_are_told_apart() {
    let server = start(Limits::default()).await;
    let requests = "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 3\r\n\r\none\
                    POST /v1/echo HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n\
                    \r\nGET /healthz HTTP/1.1\r\nHost: gw\r\n\r\n\
                    GET http://a/ HTTP/1.1\r\nHost: gw\r\n\r\n\
                    GET /healthz HTTP/1.1\r\nHost: gw\r\n\r\n";
    let answer = exchange(server.address, requests).await;
    let statuses: Vec<&str> = answer
        .split("HTTP/1.1 ")
        .skip(1)
        .map(|rest| &rest[..3])
        .collect();
    assert_eq!(statuses, ["200", "200", "200", "400"], "{answer}");
    assert_eq!(answer.matches("x-gateway-request-id").count(), 4);

    // The same, byte by byte.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in requests.as_bytes() {
        if stream.write_all(&[*byte]).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let answer = read_to_end(&mut stream).await;
    let statuses: Vec<&str> = answer
        .split("HTTP/1.1 ")
        .skip(1)
        .map(|rest| &rest[..3])
        .collect();
    assert_eq!(statuses, ["200", "200", "200", "400"], "{answer}");
}

#[tokio::test]
async fn a_panic_is_answered_without_its_message() {
    let server = start(Limits::default()).await;
    let answer = exchange(server.address, get_request("/v1/panic")).await;
    expect_refusal(&answer, 500, "internal_error", "panic");
    assert!(!answer.contains("Jane Roe"));
    assert!(
        exchange(server.address, get_request("/healthz"))
            .await
            .starts_with("HTTP/1.1 200")
    );
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_sent() {
    let server = start(Limits {
        body_bytes: 10,
        ..Limits::default()
    })
    .await;
    let announced = "Content-Length: 999999999\r\nExpect: 100-continue\r\n";
    let answer = exchange(server.address, post("/v1/echo", announced, "")).await;
    expect_refusal(&answer, 413, "request_too_large", "announced");
    let chunked = post(
        "/v1/echo",
        "Transfer-Encoding: chunked\r\n",
        "b\r\n01234567890\r\n0\r\n\r\n",
    );
    expect_refusal(
        &exchange(server.address, chunked).await,
        413,
        "request_too_large",
        "chunked",
    );
    assert!(
        exchange(
            server.address,
            post("/v1/echo", "Content-Length: 10\r\n", "0123456789")
        )
        .await
        .contains(" 200 ")
    );
}

#[tokio::test]
async fn a_caller_who_sends_everything_first_still_reads_the_refusal() {
    let server = start(Limits {
        body_bytes: 1000,
        ..Limits::default()
    })
    .await;
    let body = "x".repeat(20 << 20);
    let request = post(
        "/v1/echo",
        &format!("Content-Length: {}\r\n", body.len()),
        &body,
    );
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream
        .write_all(request.as_bytes())
        .await
        .expect("the connection was reset while sending");
    stream.shutdown().await.unwrap();
    expect_refusal(
        &read_to_end(&mut stream).await,
        413,
        "request_too_large",
        "20 MiB",
    );
}

#[tokio::test]
async fn an_expectation_is_met_when_the_body_is_wanted() {
    let server = start(Limits::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = post(
        "/v1/echo",
        "Content-Length: 5\r\nExpect: 100-continue\r\n",
        "",
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 25];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"hello").await.unwrap();
    assert!(read_to_end(&mut stream).await.ends_with("hello"));
}

#[tokio::test]
async fn slow_callers_are_cut_off_at_their_deadline() {
    let limits = Limits {
        header_read_ms: 300,
        body_read_ms: 600,
        idle_ms: 900,
        ..Limits::default()
    };
    let server = start(limits).await;
    let rows = [
        // What is sent at first, the drip, the status, and the deadline.
        ("", "", "", 300),
        ("GET /healthz HTTP/1.1\r\n", "X: y\r\n", "408", 300),
        (
            "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 500\r\n\r\n{",
            "x",
            "408",
            600,
        ),
        ("GET /healthz HTTP/1.1\r\nHost: gw\r\n\r\n", "", "200", 900),
    ];
    for (first, drip, status, deadline_ms) in rows {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(first.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        let mut piece = [0; 4096];
        loop {
            match tokio::time::timeout(Duration::from_millis(40), stream.read(&mut piece)).await {
                Ok(Ok(0) | Err(_)) => break,
                Ok(Ok(count)) => received.extend_from_slice(&piece[..count]),
                Err(_) if drip.is_empty() => {}
                Err(_) => drop(stream.write_all(drip.as_bytes()).await),
            }
            assert!(
                begun.elapsed() < Duration::from_secs(8),
                "{first:?} was held open"
            );
        }
        let answer = String::from_utf8_lossy(&received);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")) || status.is_empty(),
            "{first:?}: {answer}"
        );
        assert!(
            begun.elapsed() >= Duration::from_millis(deadline_ms - 50),
            "{first:?}: cut off early"
        );
    }
}

#[tokio::test]
async fn a_caller_who_does_not_read_is_dropped() {
    let server = start(Limits {
        write_stall_ms: 300,
        ..Limits::default()
    })
    .await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream
        .write_all(get_request("/v1/endless").as_bytes())
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let mut received = 0;
    let mut piece = vec![0; 1 << 20];
    while let Ok(count @ 1..) = stream.read(&mut piece).await {
        received += count;
        assert!(received < 64 << 20, "the stream went on after the stall");
    }
}

#[tokio::test]
async fn draining_finishes_what_runs_and_refuses_what_comes() {
    let server = start(Limits::default()).await;
    let running = tokio::spawn(exchange(server.address, get_request("/v1/slow")));
    tokio::time::sleep(Duration::from_millis(150)).await;
    server.drain.start();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let late = exchange(
        server.address,
        post("/v1/echo", "Content-Length: 2\r\n", "hi"),
    )
    .await;
    expect_refusal(&late, 503, "shutting_down", "late");
    assert!(late.contains("\r\nretry-after: "), "{late}");
    assert!(
        exchange(server.address, get_request("/readyz"))
            .await
            .starts_with("HTTP/1.1 503")
    );
    assert!(
        running.await.unwrap().ends_with("0\r\n\r\n"),
        "the running stream was cut"
    );
    tokio::time::timeout(Duration::from_secs(2), server.over)
        .await
        .expect("the drain did not end")
        .unwrap();
}

#[tokio::test]
async fn a_drain_is_cut_when_its_time_is_over_or_a_second_signal_comes() {
    for stop_now in [false, true] {
        let server = start(Limits {
            drain_ms: if stop_now { 60_000 } else { 100 },
            ..Limits::default()
        })
        .await;
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream
            .write_all(get_request("/v1/endless").as_bytes())
            .await
            .unwrap();
        stream.read_exact(&mut [0; 1000]).await.unwrap();
        server.drain.start();
        if stop_now {
            server.drain.stop_now();
        }
        tokio::time::timeout(Duration::from_secs(3), server.over)
            .await
            .expect("the drain did not end")
            .unwrap();
    }
}

#[tokio::test]
async fn connections_are_bounded_and_others_wait_their_turn() {
    let server = start(Limits {
        connections: 2,
        header_read_ms: 400,
        ..Limits::default()
    })
    .await;
    let idle = [
        TcpStream::connect(server.address).await.unwrap(),
        TcpStream::connect(server.address).await.unwrap(),
    ];
    tokio::time::sleep(Duration::from_millis(50)).await;
    let begun = Instant::now();
    assert!(
        exchange(server.address, get_request("/healthz"))
            .await
            .starts_with("HTTP/1.1 200")
    );
    assert!(
        begun.elapsed() >= Duration::from_millis(200),
        "a third connection was taken at once"
    );
    drop(idle);
}

#[tokio::test]
async fn http2_is_served_and_guarded_too() {
    use http_body_util::{BodyExt, Full};
    use hyper_util::client::legacy::Client;

    let server = start(Limits::default()).await;
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http::<Full<Bytes>>();
    let send = async |method: &str, path: &str, headers: &[(&str, &str)]| {
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", server.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = client
            .request(
                request
                    .body(Full::new(Bytes::from_static(b"hello")))
                    .unwrap(),
            )
            .await
            .unwrap();
        assert_eq!(answer.version(), http::Version::HTTP_2);
        assert!(answer.headers().contains_key(REQUEST_ID));
        let status = answer.status().as_u16();
        (
            status,
            answer.into_body().collect().await.unwrap().to_bytes(),
        )
    };
    assert_eq!(
        send("POST", "/v1/echo", &[]).await,
        (200, Bytes::from_static(b"hello"))
    );
    assert_eq!(send("TRACE", "/v1/echo", &[]).await.0, 405);
    assert_eq!(send("REFUSE", "/1", &[]).await.0, 404);
    assert_eq!(
        send(
            "POST",
            "/v1/echo",
            &[("authorization", "a"), ("authorization", "b")]
        )
        .await
        .0,
        400
    );
    assert_eq!(
        send("POST", "/v1/echo", &[("content-encoding", "gzip")])
            .await
            .0,
        415
    );
    assert_eq!(send("GET", "/v1/nothing", &[]).await.0, 404);
    let many: Vec<(String, String)> = (0..101)
        .map(|number| (format!("x-{number}"), "v".to_owned()))
        .collect();
    let many: Vec<(&str, &str)> = many
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(send("POST", "/v1/echo", &many).await.0, 431);
}
