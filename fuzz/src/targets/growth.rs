//! A text that repeats anything takes memory and time in proportion to its length.

use phi_detect::{Depth, Detector};

use super::Target;
use crate::growth::{Pattern, judge};

pub(super) const TARGET: Target = Target {
    name: "growth",
    run,
    seeds: &[
        b"K. ",
        b"J.\n",
        b"COPY t (ssn) FROM stdin;\n",
        b"uoted- =\n",
        b"spelled R-O-E-S ",
        b"INTO t (a, ",
        b"the tool called Zork and Zork Patel. ",
        b"{\"record_id\": [",
        b"<td><b>MRN</b>",
    ],
};

/// The pattern is the input, up to this many bytes.
const UNIT_BYTES_MAX: usize = 96;
const LENGTH: usize = 8 << 10;

fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let unit = text[..text.floor_char_boundary(UNIT_BYTES_MAX)].to_owned();
    let pattern = Pattern { unit, field: None };
    let detector = Detector::default().with_depth(Depth::Fast);
    let (_, fault) = judge(&detector, &pattern, LENGTH);
    assert!(fault.is_none(), "{}", fault.unwrap_or_default());
}
