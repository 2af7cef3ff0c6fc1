//! Chunked bodies: the end is found at the same offset for every cut.

use phigate_edge::fuzzing::chunked_end;

use super::Target;
use crate::cuts::same_for_every_cut;

pub(super) const TARGET: Target = Target {
    name: "chunked",
    run,
    seeds: &[
        b"\x035\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1",
        b"\x01A;name=value\r\n0123456789\r\n00\r\nX-Trailer: 1\r\n\r\n",
        b"\x02ffffffffffffffff1\r\n",
    ],
};

fn run(bytes: &[u8]) {
    let _ = same_for_every_cut(bytes, chunked_end);
}
