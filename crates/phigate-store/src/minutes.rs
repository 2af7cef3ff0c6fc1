//! Counters per minute: the latest health of providers.
//!
//! Counters by the minute lie beside the hourly counters, under names that begin with the minute, and serve an overview
//! of the last hour. Unlike hourly counters they are not verified, and are deleted soon after.

use std::ops::Range;

use jiff::Timestamp;
use smol_str::SmolStr;

use crate::digits::Digits;

/// Prefix of the names.
pub(crate) const PREFIX: &str = "minute:";

/// Prefixes of the hourly counters of providers in earlier versions.
const BY_HOUR: &[&str] = &["provider:", "provider_failed:", "provider_ms:"];

/// Minutes of the overview, the current one included.
const LOOKED_AT: i64 = 60;

/// Hours for which counters per minute are kept besides the current one, and hours before those that are swept. Rows
/// that a server left behind by a longer absence are few, and stay.
const KEPT_HOURS: i64 = 2;
const SWEPT_HOURS: i64 = 72;

/// A minute since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Minute(i64);

/// Outcome of an attempt at a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptOutcome {
    /// Answer, in a time of this class.
    Answered(u32),
    /// No answer, or an unusable one.
    Failed,
}

impl Minute {
    pub(crate) fn of(time: Timestamp) -> Self {
        Self(time.as_second().div_euclid(60))
    }

    /// The name of the counter of a provider in this minute; the row says which hour.
    pub(crate) fn counter(self, provider: &str, outcome: AttemptOutcome) -> SmolStr {
        let minute = Digits::of(self.0.rem_euclid(60) as u32);
        let class;
        let outcome = match outcome {
            AttemptOutcome::Answered(number) => {
                class = Digits::of(number);
                class.text()
            }
            AttemptOutcome::Failed => "failed",
        };
        [PREFIX, minute.text(), ":", outcome, ":", provider]
            .into_iter()
            .collect()
    }

    /// Reads the name of an hourly row as the outcome of a provider in a minute.
    pub(crate) fn read(hour: i64, name: &str) -> Option<(Self, AttemptOutcome, &str)> {
        let (minute, rest) = name.strip_prefix(PREFIX)?.split_once(':')?;
        let (outcome, provider) = rest.split_once(':')?;
        let outcome = match outcome {
            "failed" => AttemptOutcome::Failed,
            class => AttemptOutcome::Answered(class.parse().ok()?),
        };
        Some((
            Self(hour * 60 + minute.parse::<i64>().ok()?),
            outcome,
            provider,
        ))
    }

    /// The first minute that is looked back upon in this one.
    pub(crate) fn hour_ago(self) -> Self {
        Self(self.0 - LOOKED_AT + 1)
    }

    /// Hour of the minute.
    pub(crate) fn hour(self) -> i64 {
        self.0.div_euclid(60)
    }

    /// The hours whose counters per minute can be deleted.
    pub(crate) fn swept(self) -> Range<i64> {
        let end = self.hour() - KEPT_HOURS;
        end - SWEPT_HOURS..end
    }
}

/// Whether a counter is by minute, or one of earlier versions in place of those.
pub(crate) fn is_of_minute(name: &str) -> bool {
    name.starts_with(PREFIX) || BY_HOUR.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_as_they_are_written() {
        let minute = Minute::of("2026-11-16T01:59:31Z".parse().unwrap());
        for outcome in [
            AttemptOutcome::Failed,
            AttemptOutcome::Answered(0),
            AttemptOutcome::Answered(93),
        ] {
            let name = minute.counter("azure-eu", outcome);
            assert!(is_of_minute(&name));
            let read = Minute::read(minute.hour(), &name);
            assert_eq!(read, Some((minute, outcome, "azure-eu")));
        }
        for name in ["requests", "provider:azure-eu", "minute:7", "minute:7:x:y"] {
            assert_eq!(Minute::read(1, name), None, "{name}");
        }
        assert!(is_of_minute("provider_ms:azure-eu:93") && !is_of_minute("status:2xx"));
    }

    #[test]
    fn hour_spans_sixty_minutes_from_any_start() {
        let minute = |text: &str| Minute::of(text.parse().unwrap());
        let now = minute("2026-11-16T02:00:05Z");
        assert!(minute("2026-11-16T01:01:00Z") >= now.hour_ago());
        assert!(minute("2026-11-16T01:00:59Z") < now.hour_ago());
        assert!(now.swept().contains(&minute("2026-11-15T23:59:00Z").hour()));
        assert!(!now.swept().contains(&now.hour_ago().hour()));
    }
}
