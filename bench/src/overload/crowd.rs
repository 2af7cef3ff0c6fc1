//! Callers who ask for little and take much: idle connections, readers that do not read, large bodies.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Batches of connections that were not all taken before no more are tried.
const REFUSED_MAX: usize = 10;

/// How long a new connection waits for its first answer.
const ANSWERED: Duration = Duration::from_secs(2);

/// Connections that asked once and stay open: so many, or as many as the gateway takes. They close when dropped.
pub(crate) async fn idle(address: &str, count: usize) -> Result<Vec<TcpStream>> {
    let (mut open, mut refused) = (Vec::with_capacity(count), 0);
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\n\r\n");
    while open.len() < count && refused <= REFUSED_MAX {
        // A few hundred at a time: the queue of connections that were not accepted yet is short.
        let batch = (count - open.len()).min(500);
        let mut tasks = JoinSet::new();
        for _ in 0..batch {
            let (address, request) = (address.to_owned(), request.clone());
            // A connection that nobody accepts must not wait until others are closed for being idle.
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
        // Connections that were closed just now may still count: those that come too early try again.
        refused += usize::from(open.len() < before + batch);
    }
    Ok(open)
}

/// How many of these connections still are open.
pub(crate) fn still_open(streams: &[TcpStream]) -> usize {
    let is_open = |stream: &&TcpStream| {
        let mut byte = [0];
        let read = stream.try_read(&mut byte);
        read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    };
    streams.iter().filter(is_open).count()
}

/// Callers that ask for a long stream and read nothing of it.
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

/// Callers that send bodies of this size one after the other until told to stop, no two alike; how many were sent whole.
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
        // A refusal may come, and the connection close, before all of it is sent.
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
