//! What the dashboard asks of the gateway: answer a request as callers' requests are answered, try a provider,
//! and say how it is doing.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use phigate_store::Account;
use std::sync::Arc;

use axum::response::Response;

/// The gateway behind the pages. Tests of the pages have a simulated one.
pub(crate) trait Gateway: Send + Sync {
    /// Answers a chat request of somebody signed in: scanned, recorded, forwarded like any other.
    fn answer(&self, account: Arc<Account>, body: Bytes) -> BoxFuture<'_, Response>;

    /// Asks a provider for something cheap with the stored key.
    fn try_provider(&self, account: Arc<Account>, family: &'static str) -> BoxFuture<'_, Trial>;

    /// Whether an address may be a provider's; why not, in words for the owner.
    fn check_base_url(&self, url: &str) -> Result<(), String>;

    /// Whether the operator allows providers at private addresses.
    fn allows_private_providers(&self) -> bool;

    /// Milliseconds that the gateway itself adds to a request: half of them, and 95 %, stay below.
    fn added_ms(&self) -> Option<[f64; 2]>;
}

/// What came of trying a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trial {
    /// It answered and takes the key.
    Works {
        /// How long it took.
        took_ms: u64,
    },
    /// It answered, but not with what we asked for.
    Refused {
        /// The status it gave.
        status: u16,
    },
    /// It does not take the key.
    WrongKey,
    /// No answer; why, in words without secrets.
    Unreachable(String),
    /// No key is stored.
    NotSet,
}
