//! The edge: accepting connections, refusing ambiguous requests, limits, draining.
//!
//! A connection passes `guard` (raw bytes, and refusals by the `early_limiter`), the HTTP library, `edge` (around every
//! request) and then the router. Handlers read bodies through [`Upload`]. This crate cannot reach an account, a
//! detector or a store.

mod activity;
mod body_turns;
mod carried;
mod chunked;
mod client;
mod connection_slots;
mod drain;
mod early_limiter;
mod edge;
mod envelope;
mod error;
#[cfg(debug_assertions)]
pub mod fuzzing;
mod guard;
mod head;
mod health;
mod leftover;
mod observer;
mod panic;
mod poll_on_wake;
mod process;
mod proxies;
mod queue;
mod serve;
mod server;
mod speak;
mod threads;
mod timer;
mod tls;
mod upload;

pub use body_turns::TURN_BYTES;
pub use client::ClientAddress;
pub use drain::Drain;
pub use early_limiter::{Asked, EarlyLimiter, TurnedAway};
pub use edge::{ErrorFormatOf, RequestId};
pub use envelope::{ErrorBody, REQUEST_ID};
pub use error::EdgeError;
pub use health::routes as health_routes;
pub use observer::Observer;
pub use panic::quiet_panics;
pub use poll_on_wake::PollOnWake;
pub use proxies::{NotANetwork, TrustedProxies};
pub use queue::WorkPermit;
pub use serve::{EdgeSettings, MissingPage, Ports, ServeError, Site, serve};
pub use threads::{PerThread, Threads};
pub use tls::{TlsError, TlsFiles};
pub use upload::{InflightPermit, Upload};
