//! Draining and its end.

use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::Empty;
use hyper::client::conn::http2;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

#[tokio::test]
async fn drain_finishes_running_requests() {
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
async fn drain_is_cut_by_time_or_signal() {
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

/// Like the record of a request: dropping it takes a moment to write.
struct SlowRecord(Arc<AtomicBool>);

impl Drop for SlowRecord {
    fn drop(&mut self) {
        std::thread::sleep(Duration::from_millis(200));
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn drain_waits_for_http2_records() {
    let is_recorded = Arc::new(AtomicBool::new(false));
    let record = Arc::clone(&is_recorded);
    let router = Router::new().route(
        "/v1/hangs",
        routing::get(async move || {
            let _record = SlowRecord(record);
            std::future::pending::<Response>().await
        }),
    );
    let limits = Limits {
        drain_ms: 100,
        ..Limits::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = serve_on(listener, limits, router, None);
    let stream = TokioIo::new(TcpStream::connect(server.address).await.unwrap());
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream)
        .await
        .unwrap();
    tokio::spawn(connection);
    let request = http::Request::get(format!("http://{}/v1/hangs", server.address))
        .body(Empty::<Bytes>::new())
        .unwrap();
    let _answer = tokio::spawn(sender.send_request(request));
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.drain.start();
    server.over.await.unwrap();
    assert!(is_recorded.load(Ordering::SeqCst));
}
