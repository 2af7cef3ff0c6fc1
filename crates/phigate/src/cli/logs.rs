//! Logs on standard error. Libraries stay at warnings: theirs may quote what passes through them.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, LogSettings};

/// Starts logging. Call once.
pub(super) fn start(settings: &LogSettings) {
    let level = settings.level.word();
    // The name also begins those of our other crates.
    let filter = EnvFilter::new(format!("warn,phigate={level}"));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // Codes for colours are for terminals, not for files and collectors.
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
}

/// Tells the operator something: plain lines for people, one object per line for a collector.
pub(super) fn say(format: LogFormat, lines: &[String]) {
    for line in lines {
        match format {
            LogFormat::Text => eprintln!("{line}"),
            LogFormat::Json if line.trim().is_empty() => {}
            LogFormat::Json => tracing::info!("{}", line.trim()),
        }
    }
}
