//! Panics say where they happened and nothing else: their messages may quote content.

/// Replaces the message of every panic by its place.
pub(crate) fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(
            || "an unknown place".to_owned(),
            |location| format!("{}:{}", location.file(), location.line()),
        );
        tracing::error!("panic at {place}");
    }));
}
