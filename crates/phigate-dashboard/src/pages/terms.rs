//! Agreement with a provider, and its health, in words.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use phigate_store::{ProviderConfig, ProviderHealth};

use crate::view::{counted, grouped};

/// Days before its end from which an agreement is warned about.
const WARNED_DAYS: i64 = 30;

/// Agreement with a provider's operator.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) label: &'static str,
    pub(crate) tone: &'static str,
    /// The owner's note about the agreement, and its end.
    pub(crate) agreement: String,
    /// Tone and words, when it ends soon or has ended.
    pub(crate) warning: Option<(&'static str, String)>,
}

impl Terms {
    pub(crate) fn of(config: &ProviderConfig, now: Timestamp) -> Self {
        let phi = config.phi_now(now);
        let mut agreement: Vec<String> = config.agreement.iter().cloned().collect();
        agreement.extend(config.agreement_expires.map(|end| format!("until {end}")));
        Self {
            label: phi.label(),
            tone: phi.tone().class(),
            agreement: agreement.join(", "),
            warning: warning(config, now),
        }
    }
}

/// Tone and words about an agreement that ends soon or has ended.
pub(crate) fn warning(config: &ProviderConfig, now: Timestamp) -> Option<(&'static str, String)> {
    ending(config.agreement_expires?, now)
}

fn ending(end: Date, now: Timestamp) -> Option<(&'static str, String)> {
    let today = now.to_zoned(TimeZone::UTC).date();
    if end < today {
        return Some((
            "bad",
            format!("The agreement ended on {end}: requests with PHI are no longer sent there."),
        ));
    }
    let is_soon = today
        .checked_add(WARNED_DAYS.days())
        .is_ok_and(|soon| end <= soon);
    is_soon.then(|| {
        (
            "warn",
            format!("The agreement ends on {end}. After that day, requests with PHI are no longer sent there."),
        )
    })
}

/// Returns the health of a provider in the last sixty minutes.
pub(crate) fn health(fare: Option<&ProviderHealth>) -> String {
    let Some(fare) = fare.filter(|fare| fare.requests > 0) else {
        return "not asked in the last hour".to_owned();
    };
    let requests = counted(fare.requests, "request");
    let mut words = vec![format!("{requests} in the last hour")];
    words.push(match fare.failures {
        0 => "no errors".to_owned(),
        failures => counted(failures, "error"),
    });
    if let (Some(half), Some(most)) = (fare.p50_ms, fare.p95_ms) {
        words.push(format!("p50 {} ms", grouped(half)));
        words.push(format!("p95 {} ms", grouped(most)));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use phigate_types::{PhiAgreement, ProviderKind};

    use super::*;

    #[test]
    fn agreement_expiry_is_warned_thirty_days_ahead() {
        let mut config = ProviderConfig::new(ProviderKind::Azure);
        config.agreement = Some("BAA 7".to_owned());
        config.agreement_expires = Some(jiff::civil::date(2026, 12, 31));
        for (now, tone, label) in [
            ("2026-11-30T12:00:00Z", None, "PHI allowed"),
            ("2026-12-01T12:00:00Z", Some("warn"), "PHI allowed"),
            ("2026-12-31T23:00:00Z", Some("warn"), "PHI allowed"),
            ("2027-01-01T00:00:00Z", Some("bad"), "No PHI"),
        ] {
            let terms = Terms::of(&config, now.parse().unwrap());
            assert_eq!(terms.warning.map(|(tone, _)| tone), tone, "{now}");
            assert_eq!(terms.label, label, "{now}");
            assert_eq!(terms.agreement, "BAA 7, until 2026-12-31");
        }
        config.agreement_expires = None;
        config.phi = PhiAgreement::Masked;
        assert!(Terms::of(&config, Timestamp::UNIX_EPOCH).warning.is_none());
    }

    #[test]
    fn provider_health_has_short_summary() {
        let fare = ProviderHealth {
            requests: 1_034,
            failures: 2,
            p50_ms: Some(420),
            p95_ms: Some(1_900),
        };
        assert_eq!(
            health(Some(&fare)),
            "1,034 requests in the last hour, 2 errors, p50 420 ms, p95 1,900 ms"
        );
        assert_eq!(health(None), "not asked in the last hour");
    }
}
