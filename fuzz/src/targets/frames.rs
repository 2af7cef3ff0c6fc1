//! Frames of a binary stream: every cut gives the same output, and a wrong length ends the stream.

use phigate_core::fuzzing::event_stream_frames;

use super::Target;
use crate::cuts::same_for_every_cut;

pub(super) const TARGET: Target = Target {
    name: "frames",
    run,
    seeds: &[
        b"\x05\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff",
        b"\x05\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00",
    ],
};

fn run(bytes: &[u8]) {
    let _ = same_for_every_cut(bytes, event_stream_frames);
}
