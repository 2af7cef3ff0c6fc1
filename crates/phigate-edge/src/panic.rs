//! Panics log only their location, because their messages may quote content.

use std::io::Write;

/// Replaces the message of every panic by its location.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(
            || "an unknown place".to_owned(),
            |location| format!("{}:{}", location.file(), location.line()),
        );
        if tracing::dispatcher::has_been_set() {
            tracing::error!("panic at {place}");
        } else {
            let _ = writeln!(std::io::stderr(), "phigate: panic at {place}");
        }
    }));
}
