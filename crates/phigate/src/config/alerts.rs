//! `[alerts]`: when an alert is raised, and when the trail is verified.

use serde::Deserialize;

use super::ConfigError;

/// `[alerts]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAlerts {
    blocked_percent: Option<u64>,
    blocked_requests: Option<u64>,
    agreement_days: Option<u64>,
    export_behind_s: Option<u64>,
    verify_at_hour: Option<u64>,
}

/// Thresholds of alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AlertSettings {
    /// Share of recent requests that are blocked, in percent.
    pub(crate) blocked_percent: u64,
    /// Fewest recent requests of which a share is taken.
    pub(crate) blocked_requests: u64,
    /// Days before the end of an agreement.
    pub(crate) agreement_days: u64,
    /// Seconds that the oldest record waits for a target of exports.
    pub(crate) export_behind_s: u64,
    /// Hour of the day (UTC) from which the trail is verified.
    pub(crate) verify_at_hour: u64,
}

impl RawAlerts {
    pub(super) fn check(self) -> Result<AlertSettings, ConfigError> {
        let number = |name: &str, given: Option<u64>, usual: u64, least: u64, most: u64| {
            let value = given.unwrap_or(usual);
            match (least..=most).contains(&value) {
                true => Ok(value),
                false => Err(ConfigError::Value {
                    key: format!("alerts.{name}"),
                    expected: format!("a number from {least} to {most}"),
                }),
            }
        };
        Ok(AlertSettings {
            blocked_percent: number("blocked_percent", self.blocked_percent, 50, 1, 100)?,
            blocked_requests: number("blocked_requests", self.blocked_requests, 20, 1, 1_000_000)?,
            agreement_days: number("agreement_days", self.agreement_days, 30, 0, 3_650)?,
            export_behind_s: number("export_behind_s", self.export_behind_s, 120, 1, 31_536_000)?,
            verify_at_hour: number("verify_at_hour", self.verify_at_hour, 2, 0, 23)?,
        })
    }
}
