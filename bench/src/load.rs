//! Closed-loop load: each connection sends the next request when the answer is complete.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::bodies::Body;
use crate::process;

/// Time before measuring, for connections, caches and the first pages of a store.
const WARM_UP: Duration = Duration::from_millis(500);

/// Server under load.
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) key: String,
    /// Headers for this target.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) pid: Option<u32>,
}

/// Result of one run.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) requests: u64,
    pub(crate) per_second: f64,
    /// CPU time of the target per request; `None` for the direct connection.
    pub(crate) cpu_us: Option<f64>,
    /// Times of complete answers and of their first bytes, sorted.
    pub(crate) whole_us: Vec<u64>,
    pub(crate) first_us: Vec<u64>,
    pub(crate) memory_kib: Option<(u64, u64)>,
}

/// End of a stream.
const END: &[u8] = b"data: [DONE]\n\n";

/// Number of the next body, so that no two requests of a run are equal.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Sends requests for a time and returns the result.
pub(crate) async fn run(
    target: &Target,
    body: Body,
    at_once: usize,
    window: Duration,
) -> Result<Measured> {
    send(target, body, at_once, WARM_UP).await?;
    let cpu = |target: &Target| target.pid.map(process::cpu).transpose();
    let (cpu_before, started) = (cpu(target)?, Instant::now());
    let samples = send(target, body, at_once, window).await?;
    let (cpu_after, took) = (cpu(target)?, started.elapsed());
    let requests = samples.len() as u64;
    let spent = cpu_after
        .zip(cpu_before)
        .map(|(after, before)| after.saturating_sub(before));
    let sorted = |pick: fn(&Sample) -> Duration| {
        let mut times: Vec<u64> = samples.iter().map(|sample| micros(pick(sample))).collect();
        times.sort_unstable();
        times
    };
    Ok(Measured {
        requests,
        per_second: requests as f64 / took.as_secs_f64(),
        cpu_us: spent.map(|spent| spent.as_secs_f64() * 1e6 / requests as f64),
        whole_us: sorted(|sample| sample.whole),
        first_us: sorted(|sample| sample.first),
        memory_kib: target.pid.map(process::memory_kib).transpose()?,
    })
}

/// Headers of every request to a target.
type Headers = Vec<(String, String)>;

/// Times of one answer.
struct Sample {
    first: Duration,
    whole: Duration,
}

async fn send(
    target: &Target,
    body: Body,
    at_once: usize,
    window: Duration,
) -> Result<Vec<Sample>> {
    let until = Instant::now() + window;
    let mut headers = target.headers.clone();
    headers.push(("host".to_owned(), target.address.clone()));
    headers.push(("authorization".to_owned(), format!("Bearer {}", target.key)));
    headers.push(("content-type".to_owned(), "application/json".to_owned()));
    let (address, headers) = (Arc::new(target.address.clone()), Arc::new(headers));
    let workers: Vec<_> = (0..at_once)
        .map(|_| {
            let (address, headers) = (Arc::clone(&address), Arc::clone(&headers));
            tokio::spawn(worker(address, headers, body, until))
        })
        .collect();
    let mut samples = Vec::new();
    for worker in workers {
        samples.extend(worker.await??);
    }
    if samples.is_empty() {
        bail!("{} answered nothing", target.name);
    }
    Ok(samples)
}

async fn worker(
    address: Arc<String>,
    headers: Arc<Headers>,
    body: Body,
    until: Instant,
) -> Result<Vec<Sample>> {
    let mut sender = connect(&address).await?;
    let mut samples = Vec::new();
    while Instant::now() < until {
        let bytes = body.make(NEXT.fetch_add(1, Ordering::Relaxed));
        sender.ready().await?;
        samples.push(ask(&mut sender, body.path(), &headers, bytes).await?);
    }
    Ok(samples)
}

/// Opens a connection for requests.
pub(crate) async fn connect(address: &str) -> Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn ask(
    sender: &mut SendRequest<Full<Bytes>>,
    path: &str,
    headers: &Headers,
    body: Bytes,
) -> Result<Sample> {
    let mut request = Request::post(path);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(body))?;
    let started = Instant::now();
    let mut response = sender.send_request(request).await?;
    if response.status() != 200 {
        bail!("an answer had status {}", response.status());
    }
    let first_frame = response.frame().await.context("an answer was empty")??;
    let first = started.elapsed();
    let mut last = first_frame.into_data().unwrap_or_default().to_vec();
    while let Some(frame) = response.frame().await {
        // Keeps the last bytes, because chunks may cut the end anywhere.
        last.drain(..last.len().saturating_sub(END.len()));
        last.extend_from_slice(&frame?.into_data().unwrap_or_default());
    }
    let is_complete = last.ends_with(b"}") || last.ends_with(END);
    if !is_complete {
        bail!("an answer broke off");
    }
    Ok(Sample {
        first,
        whole: started.elapsed(),
    })
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
