//! Logs on standard error. Libraries stay at warnings: theirs may quote what passes through them.

use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, LogSettings};

/// Starts logging. Call once.
pub(super) fn start(settings: &LogSettings) {
    let level = settings.level.word();
    let filter = EnvFilter::new(format!("warn,phigate={level},phigate_store={level}"));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().init(),
    }
}
