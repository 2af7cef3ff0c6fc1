//! Many connections: busy ones are waited for, idle ones are evicted and cheap.

use std::time::Instant;

use http_body_util::Empty;
use hyper::client::conn::http2;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

const KEPT: &str = "GET /healthz HTTP/1.1\r\nHost: gw\r\n\r\n";

fn slots(connections: u64) -> Limits {
    Limits {
        connections,
        ..Limits::default()
    }
}

/// Sends one request on a connection that stays open.
async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(KEPT.as_bytes()).await.unwrap();
    read_answer(stream).await
}

async fn read_answer(stream: &mut TcpStream) -> String {
    let mut piece = [0; 1024];
    let reading = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut piece));
    let count = reading.await.expect("no answer came").unwrap();
    String::from_utf8_lossy(&piece[..count]).into_owned()
}

async fn is_closed_within(stream: &mut TcpStream, time: Duration) -> bool {
    let mut byte = [0];
    let read = tokio::time::timeout(time, stream.read(&mut byte)).await;
    matches!(read, Ok(Ok(0)))
}

#[tokio::test]
async fn busy_connections_are_bounded() {
    let server = start(slots(2)).await;
    let begun = Instant::now();
    let at_work = [
        tokio::spawn(exchange(server.address, get_request("/v1/late"))),
        tokio::spawn(exchange(server.address, get_request("/v1/late"))),
    ];
    tokio::time::sleep(Duration::from_millis(50)).await;
    let answer = exchange(server.address, get_request("/healthz")).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        begun.elapsed() >= Duration::from_millis(1100),
        "a third connection was accepted at once"
    );
    for answer in at_work {
        assert!(answer.await.unwrap().ends_with("late"));
    }
}

#[tokio::test]
async fn idlest_connection_makes_room() {
    let server = start(slots(4)).await;
    let mut idle = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        assert!(ask(&mut stream).await.starts_with("HTTP/1.1 200"));
        idle.push(stream);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The first sends again, so the second is now idle longest.
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert!(ask(&mut idle[0]).await.starts_with("HTTP/1.1 200"));
    let begun = Instant::now();
    let at_work = tokio::spawn(exchange(server.address, get_request("/v1/late")));
    tokio::time::sleep(Duration::from_millis(50)).await;
    let answer = exchange(server.address, get_request("/healthz")).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(1), "not at once");
    let soon = Duration::from_millis(100);
    assert!(is_closed_within(&mut idle[1], soon).await);
    assert!(!is_closed_within(&mut idle[0], soon).await);
    assert!(
        at_work.await.unwrap().ends_with("late"),
        "a busy connection was cut off"
    );
}

#[tokio::test]
async fn silent_strangers_lock_out_no_caller() {
    let h2_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    for said in ["", "GET / HT", KEPT, h2_preface] {
        let server = start(slots(8)).await;
        let mut strangers = Vec::new();
        for _ in 0..24 {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            stream.write_all(said.as_bytes()).await.unwrap();
            strangers.push(stream);
        }
        let begun = Instant::now();
        let answer = exchange(server.address, get_request("/healthz")).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{said:?}: {answer}");
        // Three times as many strangers as slots came first, and each had its second.
        assert!(
            begun.elapsed() < Duration::from_millis(7900),
            "{said:?}: shut out"
        );
    }
}

#[tokio::test]
async fn connections_are_served_after_idling() {
    let server = start(Limits::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    for _ in 0..2 {
        assert!(ask(&mut stream).await.starts_with("HTTP/1.1 200"));
        tokio::time::sleep(Duration::from_millis(1100)).await;
    }
    // A head in two pieces, a body, and a second request behind it.
    let request = "POST /v1/echo HTTP/1.1\r\nHost: gw\r\nContent-Length: 2\r\n\r\nhi";
    let (first, rest) = request.split_at(20);
    stream.write_all(first.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(700)).await;
    stream.write_all(rest.as_bytes()).await.unwrap();
    stream
        .write_all(get_request("/readyz").as_bytes())
        .await
        .unwrap();
    let answers = read_to_end(&mut stream).await;
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
    assert!(answers.contains("\r\n\r\nhi"), "{answers}");

    let mut stream = TcpStream::connect(server.address).await.unwrap();
    ask(&mut stream).await;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    stream.write_all(b"GET / HTTP/9\r\n\r\n").await.unwrap();
    let refused = read_to_end(&mut stream).await;
    assert!(refused.starts_with("HTTP/1.1 505"), "{refused}");
}

#[tokio::test]
async fn idle_connections_close_with_server_or_caller() {
    let server = start(Limits::default()).await;
    let mut streams = [
        TcpStream::connect(server.address).await.unwrap(),
        TcpStream::connect(server.address).await.unwrap(),
    ];
    for stream in &mut streams {
        ask(stream).await;
    }
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let [mut leaving, mut staying] = streams;
    leaving.shutdown().await.unwrap();
    assert!(is_closed_within(&mut leaving, Duration::from_secs(1)).await);
    assert!(!is_closed_within(&mut staying, Duration::from_millis(100)).await);
    server.drain.start();
    assert!(is_closed_within(&mut staying, Duration::from_secs(1)).await);
    tokio::time::timeout(Duration::from_secs(2), server.over)
        .await
        .expect("the drain did not end")
        .unwrap();
}

#[tokio::test]
async fn unread_answers_are_kept() {
    const LARGE: usize = 16 << 20;
    let large = routing::get(async || "x".repeat(LARGE));
    let router = Router::new().route("/v1/large", large);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = serve_on(listener, Limits::default(), router, None);
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = "GET /v1/large HTTP/1.1\r\nHost: gw\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    // Much longer than an idle connection keeps its buffers.
    tokio::time::sleep(Duration::from_millis(1800)).await;
    let mut received = 0;
    let mut piece = vec![0; 1 << 20];
    while received < LARGE {
        let reading = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut piece));
        let count = reading.await.expect("the answer stopped").unwrap();
        assert!(count > 0, "cut off after {received} bytes");
        received += count;
    }
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert!(ask(&mut stream).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn idle_http2_connections_are_closed() {
    let server = start(slots(2)).await;
    let stream = TokioIo::new(TcpStream::connect(server.address).await.unwrap());
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream)
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    let request = http::Request::get(format!("http://{}/healthz", server.address))
        .body(Empty::<Bytes>::new())
        .unwrap();
    assert_eq!(sender.send_request(request).await.unwrap().status(), 200);
    let answers = [
        exchange(server.address, get_request("/healthz")),
        exchange(server.address, get_request("/healthz")),
    ];
    for answer in futures_util::future::join_all(answers).await {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    // A clean end: the other side announced that it closes.
    let mut kept = TcpStream::connect(server.address).await.unwrap();
    ask(&mut kept).await;
    tokio::time::timeout(Duration::from_secs(5), connection)
        .await
        .expect("the idle caller was not closed")
        .unwrap()
        .unwrap();
}
