//! Requests refused by the guard, the order of answers, and requests that still reach a handler.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use phigate_types::{ErrorCode, ErrorFormat};

use super::*;
use crate::guard::BEAT;
use crate::{Asked, EarlyLimiter, ErrorBody, TurnedAway};

/// Refuses requests to `/v1/full`, as the handler there does, and counts them.
#[derive(Default)]
struct Full(AtomicUsize);

impl EarlyLimiter for Full {
    fn turn_away(&self, asked: &Asked<'_>) -> Option<TurnedAway> {
        let is_full = asked.path == "/v1/full" && asked.authorization == Some("Bearer a");
        is_full.then(|| {
            self.0.fetch_add(1, Ordering::Relaxed);
            TurnedAway {
                error: refusal(),
                format: ErrorFormat::OpenAi,
            }
        })
    }
}

fn refusal() -> ErrorBody {
    let mut error = ErrorBody::new(
        StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::RateLimitExceeded,
        "full",
    );
    error.retry_after_s = Some(7);
    error
}

async fn start_full() -> (Running, Arc<Full>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let router = test_router().route("/v1/full", routing::any(|| async { refusal() }));
    let full = Arc::new(Full::default());
    let early_limiter = Arc::clone(&full) as Arc<dyn EarlyLimiter>;
    let server = serve_with(
        listener,
        Limits::default(),
        router,
        None,
        Some(early_limiter),
    );
    (server, full)
}

const FULL: &str = "POST /v1/full?a=b HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer a\r\nContent-Length: 4\r\n\r\nfull";

fn echo_of(text: &str) -> String {
    let length = text.len();
    format!("POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: {length}\r\n\r\n{text}")
}

/// Reads the next answer on a connection.
async fn answer(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let reading = async {
        loop {
            let byte = stream.read_u8().await.expect("the server hung up");
            text.push(char::from(byte));
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if length.unwrap().parse() == Ok(body.len()) {
                return;
            }
        }
    };
    let read = tokio::time::timeout(Duration::from_secs(8), reading).await;
    assert!(read.is_ok(), "no whole answer: {text}");
    text
}

/// Parts that are equal in two answers to the same request.
fn without_id_and_date(answer: &str) -> Vec<&str> {
    let differs =
        |line: &&str| !line.starts_with("x-gateway-request-id: ") && !line.starts_with("date: ");
    answer.split("\r\n").filter(differs).collect()
}

#[tokio::test]
async fn early_refusals_equal_the_handlers() {
    let (server, full) = start_full().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let mut ask = async |request: &str| {
        stream.write_all(request.as_bytes()).await.unwrap();
        answer(&mut stream).await
    };
    let by_handler = ask(FULL).await;
    assert_eq!(
        full.0.load(Ordering::Relaxed),
        0,
        "the first request reaches the handler"
    );
    for number in 1..4 {
        let turned_away = ask(FULL).await;
        assert_eq!(full.0.load(Ordering::Relaxed), number);
        assert_eq!(
            without_id_and_date(&turned_away),
            without_id_and_date(&by_handler)
        );
        expect_refusal(&turned_away, 429, "rate_limit_exceeded", FULL);
        assert!(turned_away.contains(" GMT\r\n"), "{turned_away}");
        assert!(ask(&echo_of("hello")).await.ends_with("\r\n\r\nhello"));
    }
}

#[tokio::test]
async fn retries_are_polled_at_the_next_beat() {
    let (server, full) = start_full().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(echo_of("hello").as_bytes()).await.unwrap();
    answer(&mut stream).await;
    let started = Instant::now();
    for _ in 0..10 {
        stream.write_all(FULL.as_bytes()).await.unwrap();
        answer(&mut stream).await;
    }
    assert_eq!(full.0.load(Ordering::Relaxed), 10);
    // The first is refused at once, and the beat after it may come soon.
    assert!(started.elapsed() >= 8 * BEAT);
}

#[tokio::test]
async fn answers_keep_request_order() {
    let (server, full) = start_full().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let requests = [
        FULL,
        FULL,
        &echo_of("one"),
        FULL,
        FULL,
        &echo_of("two"),
        FULL,
    ];
    for round in 0..3 {
        // The first of each round finds the library idle; those behind an echo do not.
        stream
            .write_all(requests.concat().as_bytes())
            .await
            .unwrap();
        for request in requests {
            let answer = answer(&mut stream).await;
            let expected = match request.rsplit_once("\r\n\r\n") {
                Some((_, "full")) => "HTTP/1.1 429 ",
                _ => "HTTP/1.1 200 ",
            };
            assert!(answer.starts_with(expected), "round {round}: {answer}");
            if let Some((_, text @ ("one" | "two"))) = request.rsplit_once("\r\n\r\n") {
                assert!(answer.ends_with(text), "round {round}: {answer}");
            }
        }
    }
    assert!(
        full.0.load(Ordering::Relaxed) >= 2,
        "the guard refused no request"
    );
}

#[tokio::test]
async fn special_requests_reach_the_handler() {
    let (server, full) = start_full().await;
    let head = "POST /v1/full HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer a\r\n";
    for (request, rest) in [
        (format!("{head}Content-Length: 4\r\n\r\nfu"), "ll"),
        (
            format!("{head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            "",
        ),
        (
            format!("{head}Connection: close\r\nContent-Length: 0\r\n\r\n"),
            "",
        ),
        (
            format!("{head}Expect: 100-continue\r\nContent-Length: 0\r\n\r\n"),
            "",
        ),
        (format!("{head}Content-Encoding: identity\r\n\r\n"), ""),
        (format!("{head}X-Api-Key: a\r\nX-Api-Key: a\r\n\r\n"), ""),
        (head.replace("POST", "PUT") + "\r\n", ""),
        (head.replace("1.1", "1.0") + "\r\n", ""),
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(echo_of("hello").as_bytes()).await.unwrap();
        answer(&mut stream).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        stream.write_all(rest.as_bytes()).await.unwrap();
        let told = answer(&mut stream).await;
        assert!(
            told.contains(" 429 Too Many Requests\r\n"),
            "{request}: {told}"
        );
        assert_eq!(full.0.load(Ordering::Relaxed), 0, "{request}");
    }
}
