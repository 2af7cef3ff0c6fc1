//! Limits of the process itself: many open files, no core dumps.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files besides connections: the store, its log, the terminal.
const OTHER_FILES: u64 = 128;

/// Raises the limit on open files as far as allowed and disables core dumps, which would contain request bodies. A
/// stricter system is not an error.
pub(crate) fn prepare() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: files.maximum,
            ..files
        },
    );
}

/// Number of callers that can be connected while `concurrency` requests are in progress. Each request may need a
/// connection to a provider, and as many idle ones may be pooled.
pub(crate) fn connections_max(wanted: u64, concurrency: u64) -> u64 {
    let Some(files) = getrlimit(Resource::Nofile).current else {
        return wanted;
    };
    let possible = callers_max(files, concurrency);
    if possible < wanted {
        tracing::warn!("only {possible} connections at a time: the limit on open files is {files}");
    }
    wanted.min(possible)
}

/// Share of open files for callers: half of them if files are few.
fn callers_max(files: u64, concurrency: u64) -> u64 {
    let left = files.saturating_sub(OTHER_FILES);
    let without_providers = left.saturating_sub(concurrency.saturating_mul(2));
    without_providers.max(left / 2).max(1)
}

#[cfg(test)]
mod tests {
    use phigate_types::Limits;

    use super::*;

    #[test]
    fn callers_get_at_least_half_the_files() {
        let limits = Limits::default();
        let callers = |files| callers_max(files, limits.concurrency);
        assert!(callers(20_000) >= limits.connections);
        assert_eq!(callers(1024), 448);
        assert_eq!(callers(64), 1);
    }
}
