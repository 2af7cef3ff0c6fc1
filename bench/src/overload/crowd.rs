//! Crowds that send little and cost much: idle connections, callers that do not read, large bodies.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Batches with refused connections after which no more are opened.
const REFUSED_MAX: usize = 10;

/// Time in which a new connection must get its first answer.
const ANSWERED: Duration = Duration::from_secs(2);

/// Opens up to `count` connections with one request each. They stay open until dropped.
pub(crate) async fn idle(address: &str, count: usize) -> Result<Vec<TcpStream>> {
    let (mut open, mut refused) = (Vec::with_capacity(count), 0);
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\n\r\n");
    while open.len() < count && refused <= REFUSED_MAX {
        // A few hundred at a time, because the backlog of unaccepted connections is short.
        let batch = (count - open.len()).min(500);
        let mut tasks = JoinSet::new();
        for _ in 0..batch {
            let (address, request) = (address.to_owned(), request.clone());
            // A connection that is not accepted must not wait until others are closed for being idle.
            tasks.spawn(tokio::time::timeout(ANSWERED, async move {
                let mut stream = TcpStream::connect(address).await?;
                stream.write_all(request.as_bytes()).await?;
                let mut answer = [0; 512];
                let count = stream.read(&mut answer).await?;
                anyhow::ensure!(answer[..count].starts_with(b"HTTP/1.1 200"), "not healthy");
                Ok::<_, anyhow::Error>(stream)
            }));
        }
        let before = open.len();
        while let Some(asked) = tasks.join_next().await {
            open.extend(asked?.ok().and_then(Result::ok));
        }
        // Connections that were just closed may still count, so early attempts are repeated.
        refused += usize::from(open.len() < before + batch);
    }
    Ok(open)
}

/// Number of these connections that are still open.
pub(crate) fn still_open(streams: &[TcpStream]) -> usize {
    let is_open = |stream: &&TcpStream| {
        let mut byte = [0];
        let read = stream.try_read(&mut byte);
        read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    };
    streams.iter().filter(is_open).count()
}

/// Opens callers that request a long stream and never read it.
pub(crate) async fn slow_readers(address: &str, key: &str, count: usize) -> Result<Vec<TcpStream>> {
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"a very long answer, please"}],"stream":true}"#;
    let mut open = Vec::with_capacity(count);
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).await?;
        stream
            .write_all(head(address, key, body.len()).as_bytes())
            .await?;
        stream.write_all(body.as_bytes()).await?;
        open.push(stream);
    }
    Ok(open)
}

/// Sends different bodies of this size one after the other until stopped; returns the number sent completely.
pub(crate) async fn flood(
    address: String,
    key: String,
    at_once: usize,
    bytes: usize,
    window: Duration,
) -> u64 {
    let text: Arc<str> = "the patient reports mild pain after exercise "
        .repeat(bytes / 45)
        .into();
    let until = tokio::time::Instant::now() + window;
    let mut tasks = JoinSet::new();
    for caller in 0..at_once {
        let (address, key, text) = (address.clone(), key.clone(), Arc::clone(&text));
        tasks.spawn(async move {
            let mut sent = 0;
            while tokio::time::Instant::now() < until {
                let start = format!(
                    r#"{{"model":"gpt-4o","messages":[{{"role":"user","content":"visit {sent} of ward {caller}: "#
                );
                let pieces = [start.as_str(), &text, r#""}]}"#].map(str::as_bytes);
                let one = send_whole(&address, &key, pieces);
                if let Ok(Ok(())) = tokio::time::timeout_at(until, one).await {
                    sent += 1;
                }
            }
            sent
        });
    }
    tasks.join_all().await.into_iter().sum()
}

async fn send_whole(address: &str, key: &str, pieces: [&[u8]; 3]) -> Result<()> {
    let length = pieces.iter().map(|piece| piece.len()).sum();
    let mut stream = TcpStream::connect(address).await?;
    stream
        .write_all(head(address, key, length).as_bytes())
        .await?;
    let mut written = Ok(());
    for piece in pieces {
        // A refusal may arrive and the connection close before the whole body is sent.
        written = written.and(stream.write_all(piece).await);
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(written?)
}

fn head(address: &str, key: &str, length: usize) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    )
}
