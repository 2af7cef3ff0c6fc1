//! The tests of the library from outside, in one binary: twenty would be linked twenty times.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod reply_support;
mod wire_support;

mod agent;
mod attacks;
mod chat;
mod documents;
mod doors;
mod ids;
mod json;
mod leaving;
mod policy;
mod protect;
mod reply;
mod reply_addresses;
mod reply_beside;
mod reply_cuts;
mod reply_cuts_doors;
mod reply_thoughts;
mod service;
mod wire_bedrock;
mod wire_conversations;
mod wire_regressions;
mod wire_regressions_requests;
mod wire_replies;
mod wire_requests;
mod wire_streams;
mod wire_tables;
mod wire_tools;
mod wire_vertex;
