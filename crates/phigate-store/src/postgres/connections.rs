//! Connections of the pools. Each sets its session by statements, which a pooler passes on, and counts the warnings of its
//! server, because PostgreSQL reports a cancelled wait for standbys in no other way.

use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use deadpool_postgres::ClientWrapper;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio_postgres::error::Severity;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Config, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::postgres::{standbys, unavailable};
use crate::{Result, StoreError};

/// A pool of connections.
pub(super) type Pool = managed::Pool<Connections>;
/// A connection taken from a pool.
pub(super) type Object = managed::Object<Connections>;

/// Commits must be on disk, and no statement may hang forever. Rows that a commit relies on are locked or checked by
/// version, so a stricter default of the database would only make transactions fail. Warnings must arrive, because one
/// of them reports that a commit did not reach its standbys.
const SESSION: &str =
    "SET synchronous_commit TO on; SET default_transaction_isolation TO 'read committed';
    SET client_min_messages TO warning; SET statement_timeout TO 60000; SET lock_timeout TO 2500;
    SET idle_in_transaction_session_timeout TO 15000";

/// Delay before further hosts are tried, so that the host that served last is preferred.
const HEAD_START: Duration = Duration::from_millis(300);

/// Opens the connections of a pool.
pub(super) struct Connections {
    /// One configuration per host of the address.
    hosts: Vec<Config>,
    tls: MakeRustlsConnect,
    /// Timeout for connecting to one host.
    limit: Duration,
    /// Standbys that must confirm each commit; among several hosts one that has them is preferred.
    standbys: u32,
    /// Host that was connected to last.
    last: AtomicUsize,
    /// Number of connections opened so far.
    opened: Arc<AtomicU64>,
}

/// An open connection.
pub(super) struct Connected {
    client: ClientWrapper,
    /// Number of warnings that the server has sent.
    warnings: Arc<AtomicU64>,
}

impl Connected {
    /// Number of warnings so far. A warning is counted before the answer of the statement that caused it arrives.
    pub(super) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }
}

impl Deref for Connected {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.client
    }
}

impl DerefMut for Connected {
    fn deref_mut(&mut self) -> &mut ClientWrapper {
        &mut self.client
    }
}

impl Connections {
    pub(super) fn new(
        hosts: Vec<Config>,
        tls: MakeRustlsConnect,
        limit: Duration,
        standbys: u32,
        opened: Arc<AtomicU64>,
    ) -> Self {
        Self {
            hosts,
            tls,
            limit,
            standbys,
            last: AtomicUsize::new(0),
            opened,
        }
    }

    /// Whether the address names several hosts.
    pub(super) fn is_choice(&self) -> bool {
        self.hosts.len() > 1
    }

    /// A connection whose session is not set, to find out what is at the address.
    pub(super) async fn bare(&self) -> Result<Connected> {
        self.choose(false).await
    }

    /// Connects to every host, the last one first. A host with enough standbys is taken at once, another if no host has
    /// them.
    async fn choose(&self, sets_session: bool) -> Result<Connected> {
        let last = self.last.load(Ordering::Relaxed);
        let tries = self.hosts.iter().enumerate().map(async |(at, host)| {
            if at != last {
                tokio::time::sleep(HEAD_START).await;
            }
            let connecting = self.connect(host, sets_session);
            let limit = self.limit * 3 / 4;
            let connected = tokio::time::timeout(limit, connecting).await;
            (at, connected.unwrap_or(Err(StoreError::Timeout)))
        });
        let mut tries: FuturesUnordered<_> = tries.collect();
        let (mut second, mut fault) = (None, None);
        while let Some((at, tried)) = tries.next().await {
            match tried {
                Ok((connected, true)) => {
                    self.last.store(at, Ordering::Relaxed);
                    return Ok(connected);
                }
                Ok((connected, false)) => second = second.or(Some((at, connected))),
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        if let Some((at, connected)) = second {
            self.last.store(at, Ordering::Relaxed);
            return Ok(connected);
        }
        Err(fault.unwrap_or(StoreError::Unavailable(
            "the database address names no host".to_owned(),
        )))
    }

    /// Connects to one host. False if there are several hosts and this one has too few standbys.
    async fn connect(&self, host: &Config, sets_session: bool) -> Result<(Connected, bool)> {
        let connected = open(host, self.tls.clone()).await?;
        if sets_session {
            let set = connected.batch_execute(SESSION).await;
            set.map_err(|error| unavailable(&error))?;
        }
        let must_ask = self.is_choice() && self.standbys > 0;
        let suffices = !must_ask || standbys::check(&connected, self.standbys).await.is_ok();
        Ok((connected, suffices))
    }
}

impl managed::Manager for Connections {
    type Type = Connected;
    type Error = StoreError;

    async fn create(&self) -> Result<Connected> {
        let connected = self.choose(true).await?;
        self.opened.fetch_add(1, Ordering::AcqRel);
        Ok(connected)
    }

    async fn recycle(&self, connected: &mut Connected, _: &Metrics) -> RecycleResult<StoreError> {
        match connected.is_closed() {
            true => Err(RecycleError::message("connection closed")),
            false => Ok(()),
        }
    }
}

/// Opens a connection, with a task that reads its messages.
async fn open<T>(config: &Config, tls: T) -> Result<Connected>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let connected = config.connect(tls).await;
    let (client, mut connection) = connected.map_err(|error| unavailable(&error))?;
    let warnings = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&warnings);
    let task = tokio::spawn(async move {
        // Texts of notices and errors may name values; only warnings are counted.
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notice(notice) = message
                && notice.parsed_severity() == Some(Severity::Warning)
            {
                counted.fetch_add(1, Ordering::AcqRel);
            }
        }
    });
    Ok(Connected {
        client: ClientWrapper::new(client, task),
        warnings,
    })
}
