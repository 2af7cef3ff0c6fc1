//! The tests of the whole program, in one binary: twenty would be linked twenty times.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../phigate-store/tests/support/disk.rs"]
#[allow(unreachable_pub, reason = "shared with the storage tests")]
mod disk;
#[path = "../../phigate-store/tests/support/postgres.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the storage tests use more of it"
)]
mod postgres;
mod support;

mod admin_api;
mod alerts;
mod answers;
mod apply;
mod architecture;
mod caller_tokens;
mod canary;
mod chat_completions;
mod clouds;
mod commands;
mod documents;
mod doors;
mod drill;
mod edge;
mod exports;
mod first_start;
mod hostile;
mod kills;
mod kinds;
mod logs;
mod lookup;
mod metrics;
mod one_place;
mod people;
mod plain_english;
mod policy;
mod profile;
mod providers;
mod providers_docs;
mod recipes;
mod recognizers;
mod replicas;
mod replies;
mod reports;
mod repositories;
mod rosters;
mod service;
mod sign_on;
mod sizes;
mod stopping;
mod store_faults;
mod telemetry;
