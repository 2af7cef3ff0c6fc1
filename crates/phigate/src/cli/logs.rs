//! Logs on standard error. Libraries stay at warnings: theirs may quote what passes through them.

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
    // The name also begins those of our other crates.
    let filter = Targets::new()
        .with_default(LevelFilter::WARN)
        // Each connection that cannot be made is told by it; that the store cannot be reached is told by us, once.
        .with_target("deadpool", LevelFilter::OFF)
        .with_target("phigate", settings.level.filter());
    let lines = layer()
        // Codes for colours are for terminals, not for files and collectors.
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
