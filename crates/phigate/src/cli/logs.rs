//! Logs on standard error. Libraries log warnings only, because their messages may quote content.

use std::io::IsTerminal;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::log_lines::Lines;
use crate::config::{LogFormat, LogSettings};

/// Starts logging. Call once.
pub(super) fn start(settings: &LogSettings) {
    // The prefix also matches the targets of phigate's other crates.
    let filter = Targets::new()
        .with_default(LevelFilter::WARN)
        // deadpool logs every failed connection; phigate logs once that the store cannot be reached.
        .with_target("deadpool", LevelFilter::OFF)
        .with_target("phigate", settings.level.filter());
    let lines = layer()
        // Colour codes are for terminals only.
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let logs = registry().with(filter);
    let format = settings.format;
    match format {
        LogFormat::Text => {
            let lines = lines.map_event_format(|library| Lines::new(format, library));
            logs.with(lines).init();
        }
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true);
            let lines = lines.map_event_format(|library| Lines::new(format, library));
            logs.with(lines).init();
        }
    }
}

/// Prints lines for the operator: plain lines for people, one JSON object per line for a collector.
pub(super) fn say(format: LogFormat, lines: &[String]) {
    for line in lines {
        match format {
            LogFormat::Text => eprintln!("{line}"),
            LogFormat::Json if line.trim().is_empty() => {}
            LogFormat::Json => tracing::info!("{}", line.trim()),
        }
    }
}
