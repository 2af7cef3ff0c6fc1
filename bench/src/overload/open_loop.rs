//! Open-loop load: requests start when they are due, whether or not earlier ones were answered.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::SendRequest;
use tokio::task::JoinSet;

use crate::bodies::Body;
use crate::load::connect;

/// Largest number of concurrent requests; further ones are dropped.
const CONCURRENT_MAX: usize = 6000;

/// Timeout of a caller.
const CALLER_TIMEOUT: Duration = Duration::from_secs(15);

/// Number of the next body, so that no two requests are equal.
static NEXT: AtomicU64 = AtomicU64::new(1 << 32);

/// Callers that use these keys in turn.
#[derive(Clone)]
pub(crate) struct Callers {
    pub(crate) address: Arc<str>,
    pub(crate) keys: Arc<[String]>,
    /// Bodies sent in turn.
    pub(crate) bodies: &'static [Body],
    free: Arc<Mutex<Vec<SendRequest<Full<Bytes>>>>>,
}

/// Results of the requests.
#[derive(Default)]
pub(crate) struct Tally {
    /// Times from when a request was due to its last byte, in microseconds, sorted.
    pub(crate) good_us: Vec<u64>,
    /// Answers with status 429 or 503.
    pub(crate) shed: u64,
    /// Other statuses, broken and missing answers.
    pub(crate) failed: u64,
    pub(crate) took: Duration,
}

impl Tally {
    /// Adds the results of another period.
    pub(crate) fn add(&mut self, other: Self) {
        self.took += other.took;
        self.shed += other.shed;
        self.failed += other.failed;
        self.good_us.extend(other.good_us);
        self.good_us.sort_unstable();
    }

    pub(crate) fn good_per_second(&self) -> f64 {
        self.good_us.len() as f64 / self.took.as_secs_f64()
    }

    /// Percentile of the times of good answers, in milliseconds.
    pub(crate) fn percentile_ms(&self, percent: usize) -> f64 {
        let place = (self.good_us.len() * percent / 100).min(self.good_us.len().saturating_sub(1));
        let micros = self.good_us.get(place).copied();
        micros.map_or(f64::NAN, |micros| micros as f64 / 1000.0)
    }
}

/// Result of one request.
enum End {
    Good(Duration),
    Shed,
    Failed,
}

impl Callers {
    pub(crate) fn new(address: &str, keys: &[String], bodies: &'static [Body]) -> Self {
        Self {
            address: address.into(),
            keys: keys.into(),
            bodies,
            free: Arc::default(),
        }
    }

    /// Closes the idle connections.
    pub(crate) fn hang_up(&self) {
        if let Ok(mut free) = self.free.lock() {
            free.clear();
        }
    }

    /// Sends this many requests per second for a time.
    pub(crate) async fn send(&self, per_second: f64, window: Duration) -> Tally {
        let (started, mut sent, mut tasks) = (Instant::now(), 0u32, JoinSet::new());
        let mut tally = Tally::default();
        while started.elapsed() < window {
            // The first request is due at once.
            let due = (started.elapsed().as_secs_f64() * per_second) as u32 + 1;
            for number in sent..due {
                let start = started + Duration::from_secs_f64(f64::from(number) / per_second);
                if tasks.len() < CONCURRENT_MAX {
                    tasks.spawn(self.clone().one(start));
                } else {
                    tally.failed += 1;
                }
            }
            sent = due.max(sent);
            while let Some(Ok(end)) = tasks.try_join_next() {
                tally.note(&end);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        while let Some(Ok(end)) = tasks.join_next().await {
            tally.note(&end);
        }
        tally.took = started.elapsed();
        tally.good_us.sort_unstable();
        tally
    }

    /// Runs this many callers, each sending the next request when the answer is complete.
    pub(crate) async fn saturate(&self, at_once: usize, window: Duration) -> Tally {
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..at_once {
            let callers = self.clone();
            tasks.spawn(async move {
                let mut tally = Tally::default();
                while started.elapsed() < window {
                    tally.note(&callers.clone().one(Instant::now()).await);
                }
                tally
            });
        }
        let mut all = Tally::default();
        while let Some(Ok(tally)) = tasks.join_next().await {
            all.add(tally);
        }
        all.took = started.elapsed();
        all
    }

    async fn one(self, due: Instant) -> End {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let pick = |count: usize| usize::try_from(number).unwrap_or(0) % count.max(1);
        let body = self.bodies[pick(self.bodies.len())].make(number);
        let key = &self.keys[pick(self.keys.len())];
        let asked = tokio::time::timeout(CALLER_TIMEOUT, self.ask(key, body)).await;
        match asked {
            Ok(Some(200)) => End::Good(due.elapsed()),
            Ok(Some(429 | 503)) => End::Shed,
            _ => End::Failed,
        }
    }

    /// Status of a complete answer.
    async fn ask(&self, key: &str, body: Bytes) -> Option<u16> {
        let free = self.free.lock().ok()?.pop();
        let mut sender = match free {
            Some(sender) if sender.is_ready() => sender,
            _ => connect(&self.address).await.ok()?,
        };
        let request = Request::post("/v1/chat/completions")
            .header("host", &*self.address)
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(Full::new(body))
            .ok()?;
        let response = sender.send_request(request).await.ok()?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.ok()?.to_bytes();
        let is_complete = body.ends_with(b"}") || body.ends_with(b"data: [DONE]\n\n");
        if sender.ready().await.is_ok() {
            self.free.lock().ok()?.push(sender);
        }
        (is_complete || status != 200).then_some(status)
    }
}

impl Tally {
    fn note(&mut self, end: &End) {
        match end {
            End::Good(time) => {
                let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
                self.good_us.push(micros);
            }
            End::Shed => self.shed += 1,
            End::Failed => self.failed += 1,
        }
    }
}
