//! Request bodies, read completely and within limits.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use bytes::{Bytes, BytesMut};
use http::request::Parts;
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::body_turns::{TURN_BYTES, next_body_turn};
use crate::error::EdgeError;
use phigate_types::Limits;

/// Unit of the budget in bytes, so that it fits the semaphore's numbers.
const UNIT_BYTES: u64 = 1024;

/// Bytes of a body that are read before the caller is known: a login is far smaller.
const STRANGER_BYTES_MAX: u64 = 16 * 1024;

/// Share of all bodies in flight for unknown callers, so that they cannot crowd out known ones.
const STRANGERS_SHARE: usize = 16;

/// Bytes of every body that count in a separate budget, so that large bodies cannot crowd out small ones. With the
/// default limits it suffices for all requests in progress.
const SMALL_BYTES: u64 = 64 * 1024;
const SMALL_SHARE: usize = 8;

/// Largest ratio of reserved memory to received bytes. Otherwise a large Content-Length with a small body would cost
/// memory.
const ANNOUNCED_MAX: usize = 4;

/// Limits of bodies, shared by all connections.
#[derive(Debug)]
pub(crate) struct Intake {
    body_bytes_max: u64,
    body_read: Duration,
    budget: Arc<Semaphore>,
    budget_of_small: Arc<Semaphore>,
    budget_of_strangers: Arc<Semaphore>,
}

/// Share of the bytes in flight. Keep it, or a clone, as long as the body or data made from it.
#[derive(Debug, Clone)]
pub struct InflightPermit {
    _shares: Arc<Shares>,
}

/// A body that has not been read.
#[derive(Debug)]
pub struct Upload {
    body: Body,
    declared_bytes: Option<u64>,
    deadline: Instant,
    intake: Arc<Intake>,
}

impl Intake {
    pub(crate) fn new(limits: &Limits) -> Self {
        let units =
            usize::try_from(limits.inflight_bytes / UNIT_BYTES).unwrap_or(Semaphore::MAX_PERMITS);
        let units = units.min(Semaphore::MAX_PERMITS);
        let (of_strangers, of_small) = (units / STRANGERS_SHARE, units / SMALL_SHARE);
        Self {
            body_bytes_max: limits.body_bytes,
            body_read: Duration::from_millis(limits.body_read_ms),
            budget: Arc::new(Semaphore::new(units - of_strangers - of_small)),
            budget_of_small: Arc::new(Semaphore::new(of_small)),
            budget_of_strangers: Arc::new(Semaphore::new(of_strangers)),
        }
    }

    fn share(&self, bytes_max: u64) -> Share {
        Share::new(&self.budget_of_small, &self.budget, bytes_max)
    }
}

impl Upload {
    /// Splits a request from the edge into its head and its unread body.
    pub fn split(request: Request) -> (Parts, Self) {
        let (parts, body) = request.into_parts();
        let intake: Arc<Intake> = parts
            .extensions
            .get()
            .cloned()
            .unwrap_or_else(|| Arc::new(Intake::new(&Limits::default())));
        let declared_bytes = body.size_hint().exact();
        let deadline = Instant::now() + intake.body_read;
        (
            parts,
            Self {
                body,
                declared_bytes,
                deadline,
                intake,
            },
        )
    }

    /// Reads the body. Memory is reserved as bytes arrive, which bounds the cost of a large Content-Length with a small
    /// body.
    pub async fn read(self) -> Result<(Bytes, InflightPermit), EdgeError> {
        let share = self.intake.share(self.intake.body_bytes_max);
        self.read_into(share, |_| true).await
    }

    /// Reads a small body of an unknown caller, from the budget of all unknown callers.
    pub async fn read_from_stranger(self) -> Result<(Bytes, InflightPermit), EdgeError> {
        let budget = &self.intake.budget_of_strangers;
        let share = Share::new(budget, budget, STRANGER_BYTES_MAX);
        self.read_into(share, |_| true).await
    }

    /// Reads a body of at most `bytes_max`. A body that is not small is read further only if `is_proof` finds proof of
    /// permission in its beginning.
    pub async fn read_with_proof(
        self,
        bytes_max: u64,
        is_proof: impl Fn(&[u8]) -> bool,
    ) -> Result<(Bytes, InflightPermit), EdgeError> {
        let bytes_max = bytes_max.min(self.intake.body_bytes_max);
        let share = self.intake.share(bytes_max);
        self.read_into(share, is_proof).await
    }

    async fn read_into(
        self,
        share: Share,
        is_proof: impl Fn(&[u8]) -> bool,
    ) -> Result<(Bytes, InflightPermit), EdgeError> {
        if self
            .declared_bytes
            .is_some_and(|bytes| bytes > share.bytes_max)
        {
            return Err(EdgeError::BodyTooLarge);
        }
        let deadline = self.deadline;
        tokio::time::timeout_at(deadline, self.collect(share, is_proof))
            .await
            .unwrap_or(Err(EdgeError::BodyTimeout))
    }

    async fn collect(
        mut self,
        mut share: Share,
        is_proof: impl Fn(&[u8]) -> bool,
    ) -> Result<(Bytes, InflightPermit), EdgeError> {
        let mut whole = Gathered::default();
        let mut is_proven = false;
        let mut turn_ends = TURN_BYTES;
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|_| EdgeError::BodyBroken)?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            share.cover(whole.len() + data.len())?;
            whole.push(data, self.declared_bytes);
            if whole.len() > turn_ends {
                turn_ends = whole.len() + TURN_BYTES;
                next_body_turn().await;
            }
            if !is_proven && whole.len() as u64 > STRANGER_BYTES_MAX {
                is_proven = is_proof(whole.so_far());
                if !is_proven {
                    return Err(EdgeError::BodyUnproven);
                }
            }
        }
        Ok((
            whole.finish(),
            InflightPermit {
                _shares: Arc::new(share.taken),
            },
        ))
    }
}

/// Chunks of a body. A body of one chunk is not copied.
#[derive(Default)]
struct Gathered {
    first: Bytes,
    all: BytesMut,
}

impl Gathered {
    fn len(&self) -> usize {
        self.first.len().max(self.all.len())
    }

    fn so_far(&self) -> &[u8] {
        if self.all.is_empty() {
            &self.first
        } else {
            &self.all
        }
    }

    fn push(&mut self, data: Bytes, declared_bytes: Option<u64>) {
        if self.len() == 0 {
            self.first = data;
            return;
        }
        if self.all.is_empty() {
            self.all.extend_from_slice(&std::mem::take(&mut self.first));
        }
        if self.all.capacity() - self.all.len() < data.len() {
            self.make_room(data.len(), declared_bytes);
        }
        self.all.extend_from_slice(&data);
    }

    /// Reserves memory: for the declared length, once a good part of it arrived.
    fn make_room(&mut self, bytes: usize, declared_bytes: Option<u64>) {
        let declared = declared_bytes.and_then(|declared| usize::try_from(declared).ok());
        let left = declared.unwrap_or(0).saturating_sub(self.all.len());
        let is_near = left <= self.all.len() * ANNOUNCED_MAX;
        self.all
            .reserve(if is_near { left.max(bytes) } else { bytes });
    }

    fn finish(self) -> Bytes {
        if self.all.is_empty() {
            self.first
        } else {
            self.all.freeze()
        }
    }
}

/// Permits of a body: for its beginning, and for the rest.
type Shares = [Option<OwnedSemaphorePermit>; 2];

/// Budget that a body has taken.
struct Share {
    small: Arc<Semaphore>,
    budget: Arc<Semaphore>,
    bytes_max: u64,
    units: u64,
    taken: Shares,
}

impl Share {
    fn new(small: &Arc<Semaphore>, budget: &Arc<Semaphore>, bytes_max: u64) -> Self {
        Self {
            small: Arc::clone(small),
            budget: Arc::clone(budget),
            bytes_max,
            units: 0,
            taken: Shares::default(),
        }
    }

    fn cover(&mut self, bytes: usize) -> Result<(), EdgeError> {
        let bytes = bytes as u64;
        if bytes > self.bytes_max {
            return Err(EdgeError::BodyTooLarge);
        }
        let units = bytes.div_ceil(UNIT_BYTES);
        let beginning = units.min(SMALL_BYTES / UNIT_BYTES);
        if beginning > self.units && self.take(0, beginning - self.units).is_ok() {
            self.units = beginning;
        }
        self.take(1, units.saturating_sub(self.units))?;
        self.units = self.units.max(units);
        Ok(())
    }

    fn take(&mut self, which: usize, units: u64) -> Result<(), EdgeError> {
        if units == 0 {
            return Ok(());
        }
        let units = u32::try_from(units).map_err(|_| EdgeError::BodyTooLarge)?;
        let budget = [&self.small, &self.budget][which];
        let more = Arc::clone(budget)
            .try_acquire_many_owned(units)
            .map_err(|_| EdgeError::BodiesInFlight)?;
        match &mut self.taken[which] {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};

    use super::*;

    fn upload(limits: &Limits, pieces: &[&'static str], pause: Duration) -> Upload {
        let pieces: Vec<&'static str> = pieces.to_vec();
        let body = Body::from_stream(stream::unfold(
            pieces.into_iter(),
            move |mut pieces| async move {
                let piece = pieces.next()?;
                tokio::time::sleep(pause).await;
                Some((Ok::<_, std::io::Error>(Bytes::from(piece)), pieces))
            },
        ));
        let mut request = Request::new(body);
        request
            .extensions_mut()
            .insert(Arc::new(Intake::new(limits)));
        Upload::split(request).1
    }

    #[tokio::test]
    async fn chunks_become_one_body() {
        for pieces in [&[][..], &["one"], &["one", " two", "", " three"]] {
            let (body, _permit) = upload(&Limits::default(), pieces, Duration::ZERO)
                .read()
                .await
                .unwrap();
            assert_eq!(body, pieces.concat());
        }
    }

    #[tokio::test]
    async fn tasks_run_while_large_bodies_are_read() {
        static PIECE: [u8; 64 * 1024] = [b'x'; 64 * 1024];
        let piece = |_| Ok::<_, std::io::Error>(Bytes::from_static(&PIECE));
        let pieces = stream::iter((0..100).map(piece));
        let mut request = Request::new(Body::from_stream(pieces));
        let intake = Arc::new(Intake::new(&Limits::default()));
        request.extensions_mut().insert(intake);
        let turns = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = Arc::clone(&turns);
        let other = tokio::spawn(async move {
            loop {
                counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        });
        let (body, _permit) = Upload::split(request).1.read().await.unwrap();
        other.abort();
        assert_eq!(body.len(), 100 * PIECE.len());
        let turns = turns.load(std::sync::atomic::Ordering::Relaxed);
        assert!(turns > 40, "{turns} turns");
    }

    #[test]
    fn memory_is_reserved_as_bytes_arrive() {
        let mut whole = Gathered::default();
        for _ in 0..3 {
            whole.push(Bytes::from_static(&[b'x'; 1_000]), Some(1_000_000));
        }
        assert!(whole.all.capacity() < 10_000, "{}", whole.all.capacity());
        let mut near = Gathered::default();
        for _ in 0..3 {
            near.push(Bytes::from_static(&[b'x'; 1_000]), Some(9_000));
        }
        assert!((9_000..12_000).contains(&near.all.capacity()));
    }

    #[tokio::test]
    async fn oversized_chunked_bodies_are_refused() {
        let limits = Limits {
            body_bytes: 5,
            ..Limits::default()
        };
        assert!(
            upload(&limits, &["12345"], Duration::ZERO)
                .read()
                .await
                .is_ok()
        );
        let refused = upload(&limits, &["123", "456"], Duration::ZERO)
            .read()
            .await;
        assert_eq!(refused.unwrap_err(), EdgeError::BodyTooLarge);
    }

    #[tokio::test]
    async fn slow_bodies_are_refused_at_the_deadline() {
        let limits = Limits {
            body_read_ms: 100,
            ..Limits::default()
        };
        let upload = upload(&limits, &["x"; 400], Duration::from_millis(10));
        let started = Instant::now();
        assert_eq!(upload.read().await.unwrap_err(), EdgeError::BodyTimeout);
        assert!((90..2000).contains(&started.elapsed().as_millis()));
    }

    #[tokio::test]
    async fn body_budget_returns_with_the_permit() {
        let intake = Arc::new(Intake::new(&Limits {
            inflight_bytes: 2048,
            ..Limits::default()
        }));
        let read = |text: &'static str| {
            let mut request = Request::new(Body::from(text));
            request.extensions_mut().insert(Arc::clone(&intake));
            Upload::split(request).1.read()
        };
        let first = read("one").await.unwrap();
        let second = read("two").await.unwrap();
        assert_eq!(read("three").await.unwrap_err(), EdgeError::BodiesInFlight);
        drop((first, second));
        assert!(read("three").await.is_ok());
    }

    #[tokio::test]
    async fn large_bodies_leave_room_for_small_bodies() {
        let intake = Arc::new(Intake::new(&Limits {
            inflight_bytes: 8 * 1024 * 1024,
            ..Limits::default()
        }));
        let read = async |kib: usize| {
            let mut request = Request::new(Body::from(vec![b'x'; kib * 1024]));
            request.extensions_mut().insert(Arc::clone(&intake));
            Upload::split(request).1.read().await
        };
        let mut large = Vec::new();
        while let Ok(one) = read(1024).await {
            large.push(one);
        }
        assert_eq!(large.len(), 6);
        let small = [read(64).await, read(64).await, read(4).await];
        assert!(small.iter().all(Result::is_ok));
        let last = large.pop();
        assert!(read(1024).await.is_err(), "the body is still in flight");
        drop((last, small));
        assert!(read(1024).await.is_ok());
    }

    #[tokio::test]
    async fn stranger_uploads_have_small_separate_share() {
        let intake = Arc::new(Intake::new(&Limits {
            inflight_bytes: 1024 * 1024,
            ..Limits::default()
        }));
        let split = |body: Body| {
            let mut request = Request::new(body);
            request.extensions_mut().insert(Arc::clone(&intake));
            Upload::split(request).1
        };
        let half_sent = || {
            let first = stream::iter([Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 15_000]))]);
            split(Body::from_stream(first.chain(stream::pending())))
        };
        let callers = intake.budget.available_permits();
        let mut waiting = Vec::new();
        let mut refused = 0;
        for _ in 0..50 {
            let mut reading = Box::pin(half_sent().read_from_stranger());
            match futures_util::poll!(&mut reading) {
                std::task::Poll::Pending => waiting.push(reading),
                std::task::Poll::Ready(answer) => {
                    assert_eq!(answer.unwrap_err(), EdgeError::BodiesInFlight);
                    refused += 1;
                }
            }
        }
        assert_eq!((waiting.len(), refused), (4, 46));
        assert_eq!(intake.budget.available_permits(), callers);
        let large = Body::from(vec![b'x'; 16 * 1024 + 1]);
        let refused = split(large).read_from_stranger().await.unwrap_err();
        assert_eq!(refused, EdgeError::BodyTooLarge);
        let callers_body = split(Body::from(vec![b'x'; 890 * 1024]));
        assert!(callers_body.read().await.is_ok());
    }

    #[tokio::test]
    async fn large_bodies_need_proof() {
        let long: &'static str = "x".repeat(20_000).leak();
        let pieces = ["token=1&", long, "the rest"];
        for (proof, expected) in [
            ("token=1&", Ok(20_016)),
            ("token=2&", Err(EdgeError::BodyUnproven)),
        ] {
            let upload = upload(&Limits::default(), &pieces, Duration::ZERO);
            let read = upload.read_with_proof(30_000, |start| start.starts_with(proof.as_bytes()));
            assert_eq!(read.await.map(|(body, _)| body.len()), expected, "{proof}");
        }
    }
}
