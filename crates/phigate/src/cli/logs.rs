//! Logs on standard error, and panics that tell their place and nothing else.

use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, LogSettings};

/// Starts logging. Call once.
pub(super) fn start(settings: &LogSettings) {
    std::panic::set_hook(Box::new(|panic| {
        // The message of a panic may quote what was being read.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!("internal failure at {place}");
    }));
    let filter = EnvFilter::try_new(&settings.level).unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().init(),
    }
}
