//! Requests that the edge refuses, and requests that pass.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

#[tokio::test]
async fn plain_request_is_answered_with_id() {
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
async fn header_fields_are_limited() {
    for fields in [10, 99, 100, 101, 250] {
        let limits = Limits {
            header_fields: fields,
            ..Limits::default()
        };
        let server = start(limits).await;
        for (more, status) in [(0, 200), (1, 431)] {
            // Two fields are there already: host and connection.
            let further: String = (0..fields - 2 + more)
                .map(|number| format!("X-{number}: v\r\n"))
                .collect();
            let answer = exchange(server.address, post("/v1/echo", &further, "")).await;
            let expected = format!("HTTP/1.1 {status} ");
            assert!(answer.starts_with(&expected), "{fields} fields: {answer}");
        }
    }
}

const SMUGGLED: &str = "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\n\r\nhello";

/// Requests that must not reach a handler, with status and code of the refusal.
#[rustfmt::skip] // one row per line
fn refused() -> Vec<(String, u16, &'static str)> {
    let many: String = (0..101).map(|number| format!("X-{number}: v\r\n")).collect();
    let large: String = (0..9).map(|number| format!("X-{number}: {}\r\n", "v".repeat(4000))).collect();
    vec![
        (format!("POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{SMUGGLED}"), 400, "invalid_http"),
        (format!("POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nhello{SMUGGLED}"), 400, "invalid_http"),
        (post("/v1/echo", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 400, "invalid_http"),
        (post("/v1/echo", "Host: other\r\n", ""), 400, "invalid_http"),
        (post("/v1/echo", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", ""), 400, "invalid_http"),
        (post("http://evil.example/v1/echo", "", ""), 400, "invalid_http"),
        ("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n".to_owned(), 405, "method_not_allowed"),
        ("TRACE /v1/echo HTTP/1.1\r\nHost: gw\r\n\r\n".to_owned(), 405, "method_not_allowed"),
        ("REFUSE /20 HTTP/1.1\r\nHost: gw\r\n\r\n".to_owned(), 405, "method_not_allowed"),
        (format!("{}{SMUGGLED}", post("/v1/echo", "Connection: Upgrade\r\nUpgrade: foo\r\n", "")), 400, "invalid_http"),
        (post("/v1/echo", ": x\r\n", ""), 400, "invalid_http"),
        (post("/v1/echo", "X: a\r\n b\r\n", ""), 400, "invalid_http"),
        ("GET /v1/echo HTTP/1.1\nHost: gw\n\n".to_owned(), 400, "invalid_http"),
        ("hello\r\n\r\n".to_owned(), 400, "invalid_http"),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400, "invalid_http"),
        ("GET / HTTP/3.0\r\n\r\n".to_owned(), 505, "invalid_http"),
        (post("/v1/echo", &many, ""), 431, "headers_too_large"),
        (post("/v1/echo", &large, ""), 431, "headers_too_large"),
        (post(&format!("/{}", "a".repeat(9000)), "", ""), 414, "uri_too_long"),
        (post(&format!("/{}", "a".repeat(70_000)), "", ""), 414, "uri_too_long"),
        (post("/v1/echo", "Expect: tea\r\n", ""), 417, "invalid_http"),
        (post("/v1/echo", "Content-Encoding: br\r\nContent-Length: 2\r\n", "hi"), 415, "unsupported_media_type"),
        (post("/v1/echo", "Transfer-Encoding: chunked\r\n", "5\nhello\r\n0\r\n\r\n"), 400, "invalid_http"),
        (post("/v1/nothing", "", ""), 404, "not_found"),
        (get_request("/nothing"), 404, "not_found"),
    ]
}

#[tokio::test]
async fn refusals_close_the_connection() {
    let server = start(Limits::default()).await;
    for (request, status, code) in refused() {
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
async fn wrong_method_gets_allow_header() {
    let server = start(Limits::default()).await;
    let answer = exchange(server.address, get_request("/v1/echo")).await;
    expect_refusal(&answer, 405, "method_not_allowed", "GET /v1/echo");
    assert!(answer.contains("\r\nallow: POST\r\n"), "{answer}");
}

#[tokio::test]
async fn pipelined_requests_are_separated() {
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

    // Requests are answered alike if their bytes arrive apart.
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
async fn oversized_bodies_are_refused_before_sending() {
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
async fn refusal_arrives_after_a_full_upload() {
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
async fn expect_continue_is_answered_when_reading() {
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

/// Damages a request in a few places, reproducibly per number.
fn damaged(number: u64) -> Vec<u8> {
    const ODD: &[u8] = b"\r\n \t:\0;,/#\x7f\xffA0x+-";
    let mut request = format!(
        "{}{SMUGGLED}",
        post("/v1/echo", "Content-Length: 5\r\n", "hello")
    )
    .into_bytes();
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |count: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % count as u64).unwrap()
    };
    for _ in 0..=below(3) {
        let place = below(request.len().min(120));
        match below(3) {
            0 => drop(request.remove(place)),
            1 => request.insert(place, ODD[below(ODD.len())]),
            _ => request[place] = ODD[below(ODD.len())],
        }
    }
    request
}

#[tokio::test]
async fn every_answer_has_an_id() {
    let limits = Limits {
        header_read_ms: 300,
        body_read_ms: 300,
        idle_ms: 300,
        ..Limits::default()
    };
    let server = start(limits).await;
    let address = server.address;
    let answers = (0..400).map(|number| {
        tokio::spawn(async move { (number, exchange(address, damaged(number)).await) })
    });
    let mut refused = 0;
    for answer in answers.collect::<Vec<_>>() {
        let (number, answer) = answer.await.unwrap();
        let count = answer.matches("HTTP/1.1 ").count();
        assert_eq!(
            answer.matches("x-gateway-request-id: ").count(),
            count,
            "case {number}: {answer}"
        );
        refused += usize::from(answer.starts_with("HTTP/1.1 4"));
    }
    assert!(
        refused > 100,
        "only {refused} damaged requests were refused"
    );
}

#[tokio::test]
async fn unknown_paths_get_a_page_or_error() {
    let server = start(Limits::default()).await;
    let ask = async |path: &str, accept: &str| {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: gw\r\nConnection: close\r\nAccept: {accept}\r\n\r\n"
        );
        exchange(server.address, request).await
    };
    let html = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";
    assert!(ask("/nothing", html).await.ends_with("a page"));
    expect_refusal(&ask("/nothing", "*/*").await, 404, "not_found", "a program");
    expect_refusal(
        &ask("/v1/nothing", html).await,
        404,
        "not_found",
        "the interface",
    );
}
