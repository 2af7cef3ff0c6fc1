//! `[log]`: level and format of the log on stderr.

use serde::Deserialize;
use tracing_subscriber::filter::LevelFilter;

use super::ConfigError;

/// `[log]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLog {
    pub(super) level: Option<String>,
    format: Option<String>,
}

/// The log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object per line, for collectors.
    Json,
}

/// The logging settings. They apply to phigate's messages; libraries log warnings only, because their messages may
/// quote content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogSettings {
    pub(crate) level: LogLevel,
    pub(crate) format: LogFormat,
}

impl RawLog {
    pub(super) fn check(&self) -> Result<LogSettings, ConfigError> {
        let level = match self.level.as_deref().unwrap_or("info") {
            "error" => LogLevel::Error,
            "warn" => LogLevel::Warn,
            "info" => LogLevel::Info,
            "debug" => LogLevel::Debug,
            "trace" => LogLevel::Trace,
            _ => return Err(choice("log.level", "error, warn, info, debug or trace")),
        };
        let format = match self.format.as_deref().unwrap_or("text") {
            "text" => LogFormat::Text,
            "json" => LogFormat::Json,
            _ => return Err(choice("log.format", "text or json")),
        };
        Ok(LogSettings { level, format })
    }
}

impl LogLevel {
    /// The level as a filter of the log.
    pub(crate) fn filter(self) -> LevelFilter {
        match self {
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

fn choice(key: &str, expected: &str) -> ConfigError {
    ConfigError::Value {
        key: key.to_owned(),
        expected: expected.to_owned(),
    }
}
