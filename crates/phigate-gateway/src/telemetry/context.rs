//! The W3C trace context: `traceparent` of a caller, and the one for a provider.
//!
//! `tracestate` and `baggage` may hold anything that a caller wrote. They are not read, and not sent on.

use std::fmt::{self, Write};

use http::{HeaderMap, HeaderValue};

use crate::provider::TRACEPARENT;

/// Length of `traceparent` in the version that is known; later versions may append to it.
const LENGTH: usize = 55;

/// Id of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceId([u8; 16]);

/// Id of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpanId([u8; 8]);

impl TraceId {
    /// The id from two random numbers.
    pub(super) fn new(high: u64, low: u64) -> Self {
        // Zero means no id.
        let number = (u128::from(high) << 64 | u128::from(low)).max(1);
        Self(number.to_be_bytes())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether the trace belongs to a share of all. The same on every replica: the last seven bytes are random by the
    /// convention.
    pub(super) fn is_within(&self, ratio: f64) -> bool {
        let mut last = [0; 8];
        last[1..].copy_from_slice(&self.0[9..]);
        let place = u64::from_be_bytes(last) as f64 / (1_u64 << 56) as f64;
        place < ratio
    }
}

impl SpanId {
    /// The id from a random number.
    pub(super) fn new(number: u64) -> Self {
        Self(number.max(1).to_be_bytes())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The caller's span.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parent {
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    pub(super) is_sampled: bool,
}

impl Parent {
    /// Reads `traceparent`. A malformed or repeated one counts as absent, as the convention demands.
    pub(super) fn read(headers: &HeaderMap) -> Option<Self> {
        let mut given = headers.get_all(TRACEPARENT).iter();
        let text = given.next()?.as_bytes();
        if given.next().is_some() || text.len() < LENGTH {
            return None;
        }
        let version = hex::<1>(&text[..2])?[0];
        let is_whole = match version {
            0 => text.len() == LENGTH,
            0xff => false,
            _ => text.len() == LENGTH || text[LENGTH] == b'-',
        };
        let is_divided = [2, 35, 52].iter().all(|at| text[*at] == b'-');
        if !is_whole || !is_divided {
            return None;
        }
        let (trace, span) = (hex(&text[3..35])?, hex(&text[36..52])?);
        let flags = hex::<1>(&text[53..55])?[0];
        (trace != [0; 16] && span != [0; 8]).then_some(Self {
            trace: TraceId(trace),
            span: SpanId(span),
            is_sampled: flags & 1 == 1,
        })
    }
}

/// `traceparent` of a call inside a sampled trace.
pub(super) fn traceparent(trace: TraceId, span: SpanId) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("00-{}-{}-01", Hex(&trace.0), Hex(&span.0))).ok()
}

/// Lower-case hexadecimal digits, the only ones that the convention allows.
fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = String::new();
        for byte in self.0 {
            write!(digits, "{byte:02x}")?;
        }
        out.write_str(&digits)
    }
}
