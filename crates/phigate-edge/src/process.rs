//! Limits of the process itself: many open files, no core dumps.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are open besides connections: the store, its log, the terminal.
const OTHER_FILES: u64 = 128;

/// Raises the limit on open files as far as allowed and forbids core dumps, which would hold
/// what passes through. Both are best efforts: a stricter system is not an error.
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

/// How many callers can be connected at a time, when so many requests may be worked on. Each of those may need a
/// connection to a provider, and as many may be kept for later.
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

/// The share of open files that callers may have: half of them where files are few.
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
    fn callers_have_what_providers_do_not_need_and_half_at_least() {
        let limits = Limits::default();
        let callers = |files| callers_max(files, limits.concurrency);
        assert!(callers(20_000) >= limits.connections);
        assert_eq!(callers(1024), 448);
        assert_eq!(callers(64), 1);
    }
}
