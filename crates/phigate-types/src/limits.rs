//! Limits of a running gateway, one row each.
//!
//! Only the row contains a limit's name: the key under `[limits]` in the settings file, the environment variable
//! (`PHIGATE_LIMITS_BODY_BYTES`) and the field of [`Limits`] follow from it.

use serde::Deserialize;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;

/// Declares the raw section, the checked section and the list of names from one table.
macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident = $default:expr, $least:expr, $most:expr;)*) => {
        /// `[limits]` as written.
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct RawLimits {
            $($name: Option<u64>,)*
        }

        /// Limits of the running gateway. Names end in their unit.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Limits {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The keys of `[limits]`.
        pub const LIMIT_NAMES: &[&str] = &[$(stringify!($name)),*];

        impl RawLimits {
            /// Fills in the defaults and checks every value against its range.
            pub fn check(&self) -> Result<Limits, LimitOutOfRange> {
                Ok(Limits {
                    $($name: within(stringify!($name), self.$name.unwrap_or($default), $least, $most)?,)*
                })
            }
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }
    };
}

limits! {
    // name = default, smallest, largest;
    /// Largest request body.
    body_bytes = 8 * MIB, KIB, 1024 * MIB;
    /// All request bodies in memory.
    inflight_bytes = 512 * MIB, MIB, 1024 * 1024 * MIB;
    /// Deepest nesting of a JSON body.
    json_depth = 64, 4, 512;
    /// Values and keys of a JSON body.
    json_values = 500_000, 1000, 10_000_000;
    /// Fields of a request, known and unknown.
    fields = 256, 16, 512;
    /// Messages in one request.
    messages = 4096, 1, 1_000_000;
    /// Content parts in one message.
    parts = 256, 1, 1_000_000;
    /// Tool definitions in one request.
    tools = 128, 1, 100_000;
    /// Header fields of a request.
    header_fields = 100, 8, 1000;
    /// All header bytes of a request, request line included.
    header_bytes = 32 * KIB, KIB, MIB;
    /// Longest request target.
    uri_bytes = 8 * KIB, 64, 64 * KIB;
    /// From the first byte of a request (or the connection) to the end of its headers.
    header_read_ms = 10 * SECOND, 10, 10 * MINUTE;
    /// From the end of the headers to the end of the body.
    body_read_ms = 30 * SECOND, 10, 60 * MINUTE;
    /// Until a connection without a request is closed.
    idle_ms = 75 * SECOND, 10, 60 * MINUTE;
    /// Until a caller that does not read is dropped.
    write_stall_ms = 30 * SECOND, 10, 60 * MINUTE;
    /// Open connections of callers.
    connections = 16_384, 1, 1_000_000;
    /// Requests in progress; one account may have three quarters of them.
    concurrency = 1024, 1, 1_000_000;
    /// Requests waiting in the queue.
    queue = 256, 0, 1_000_000;
    /// Longest wait in the queue.
    queue_ms = SECOND, 0, MINUTE;
    /// Resolving and connecting to a provider, TLS included.
    connect_ms = 5 * SECOND, 10, MINUTE;
    /// From sending a request to the first byte of a provider's answer.
    first_byte_ms = 120 * SECOND, 10, 60 * MINUTE;
    /// Between two chunks of a provider's answer.
    stream_idle_ms = 60 * SECOND, 10, 60 * MINUTE;
    /// A whole request, from its headers to the last byte of the answer.
    request_ms = 600 * SECOND, 10, 24 * 60 * MINUTE;
    /// Largest answer of a provider.
    response_bytes = 32 * MIB, KIB, 1024 * MIB;
    /// Largest single event of a provider's stream.
    event_bytes = MIB, KIB, 1024 * MIB;
    /// Further attempts after a failure that is safe to repeat.
    provider_retries = 2, 0, 10;
    /// Longest wait before a further attempt.
    provider_retry_wait_ms = 2 * SECOND, 0, MINUTE;
    /// Scanning one request, rewriting included.
    scan_ms = 30 * SECOND, 10, 10 * MINUTE;
    /// Long scans of one account that may wait for a processor.
    scan_queue = 64, 1, 1_000_000;
    /// Longest wait of a long scan for a processor.
    scan_wait_ms = 10 * SECOND, 10, 10 * MINUTE;
    /// Documents that are read at a time.
    documents = 8, 1, 1000;
    /// Largest document inside a request.
    document_bytes = 25 * MIB, KIB, 1024 * MIB;
    /// Findings that an audit record lists; it counts all.
    record_findings = 10_000, 1, 1_000_000;
    /// Until the decision record must be durable.
    decision_ms = 2 * SECOND, 10, MINUTE;
    /// Requests of one API key per minute.
    key_requests_per_minute = 600, 1, 10_000_000;
    /// Concurrent requests of one API key.
    key_concurrency = 64, 1, 1_000_000;
    /// Wrong API keys from one address per minute.
    bad_keys_per_minute = 20, 1, 1_000_000;
    /// Failed logins before delays grow.
    login_failures = 5, 1, 1000;
    /// Grace period of running requests after a stop.
    drain_ms = 30 * SECOND, 0, 60 * MINUTE;
}

/// A limit outside its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitOutOfRange {
    /// Name under `[limits]`.
    pub name: &'static str,
    /// Smallest allowed value.
    pub least: u64,
    /// Largest allowed value.
    pub most: u64,
}

fn within(name: &'static str, value: u64, least: u64, most: u64) -> Result<u64, LimitOutOfRange> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(LimitOutOfRange { name, least, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_within_its_range() {
        assert_eq!(RawLimits::default().check().unwrap(), Limits::default());
    }

    #[test]
    fn out_of_range_limits_are_named() {
        let raw = RawLimits {
            body_bytes: Some(0),
            ..RawLimits::default()
        };
        assert_eq!(raw.check().unwrap_err().name, "body_bytes");
    }
}
