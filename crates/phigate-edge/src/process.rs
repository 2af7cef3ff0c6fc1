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

/// How many callers can be connected at a time: each may need a connection to a provider too.
pub(crate) fn connections_max(wanted: u64) -> u64 {
    let Some(files) = getrlimit(Resource::Nofile).current else {
        return wanted;
    };
    let possible = (files.saturating_sub(OTHER_FILES) / 2).max(1);
    if possible < wanted {
        tracing::warn!("only {possible} connections at a time: the limit on open files is {files}");
    }
    wanted.min(possible)
}
