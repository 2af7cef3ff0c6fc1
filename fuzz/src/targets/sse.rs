//! Server-sent events: every cut gives the same events, and every byte belongs to one event.

use phigate_core::fuzzing::sse_events;

use super::Target;
use crate::cuts::{cut, same_for_every_cut};

pub(super) const TARGET: Target = Target {
    name: "sse",
    run,
    seeds: &[
        b"\x03data: a\ndata:b\n\nevent: ping\r\ndata: x\r\n\r\n: comment\r\r",
        b"\x01\xef\xbb\xbfdata: a\n\nid: 7\nevent: y\n\ndata",
    ],
};

fn run(bytes: &[u8]) {
    let (events, raw) = same_for_every_cut(bytes, sse_events);
    let (_, rest) = cut(bytes);
    if events.is_some() {
        assert!(raw == rest, "a byte is lost or doubled");
    }
}
