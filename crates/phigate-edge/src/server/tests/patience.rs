//! Callers that are slow, do not read, or stay too long.

use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

#[tokio::test]
async fn slow_callers_are_cut_off_at_deadline() {
    let limits = Limits {
        header_read_ms: 300,
        body_read_ms: 600,
        idle_ms: 900,
        ..Limits::default()
    };
    let server = start(limits).await;
    let rows = [
        // First bytes, drip, status, and deadline.
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
async fn callers_that_do_not_read_are_dropped() {
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
async fn broken_answer_delivers_chunks_without_end() {
    let server = start(Limits::default()).await;
    let answer = exchange(server.address, get_request("/v1/broken")).await;
    assert!(answer.contains("last words"), "{answer}");
    assert!(
        !answer.ends_with("0\r\n\r\n"),
        "the body ended as if it were whole"
    );
}

#[tokio::test]
async fn slow_handlers_outlast_the_idle_timeout() {
    let limits = Limits {
        idle_ms: 300,
        write_stall_ms: 300,
        header_read_ms: 300,
        body_read_ms: 300,
        ..Limits::default()
    };
    let server = start(limits).await;
    let answer = exchange(server.address, get_request("/v1/late")).await;
    assert!(answer.ends_with("late"), "{answer}");
}
