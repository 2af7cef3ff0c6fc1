//! The filters of the audit log, as its addresses write them. Links to a filtered log can be shared: they hold no PHI.

use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use phigate_store::{Filter, RecordKind};
use phigate_types::UnknownCode;
use uuid::Uuid;

use crate::fields::{Fields, encode};
use crate::view::{Choice, choices, in_sentence};

static RANGES: &[(&str, &str, Option<i64>)] = &[
    // Code, label, hours back.
    ("", "All time", None),
    ("hour", "Last hour", Some(1)),
    ("day", "Last 24 hours", Some(24)),
    ("week", "Last 7 days", Some(7 * 24)),
    ("month", "Last 30 days", Some(30 * 24)),
    ("year", "Last 365 days", Some(365 * 24)),
];

/// The ranges, with the one that is asked for.
pub(super) fn ranges(query: &Fields) -> Vec<Choice> {
    let ranges = RANGES.iter().map(|(code, label, _)| (*code, *label));
    choices(ranges, query.get("range"))
}

/// Returns the filter of requests in the address. A value that cannot be read is an error for the viewer, not a wider
/// search.
pub(crate) fn requests(query: &Fields, now: Timestamp) -> Result<Filter, String> {
    let text = |name: &str| {
        let value = Some(query.get(name)).filter(|value| !value.is_empty());
        value.map(str::to_owned)
    };
    let request_id = match text("request") {
        Some(id) => Some(
            Uuid::try_parse(&id)
                .map_err(|_| "A request id looks like 01890000-0000-7000-8000-000000000000.")?,
        ),
        None => None,
    };
    let phi_detected = match query.get("record") {
        "phi" => Some(true),
        "clean" => Some(false),
        _ => None,
    };
    let model = text("model");
    // In quotes, the whole name.
    let whole = model.as_deref().and_then(|model| model.strip_prefix('"'));
    let whole = whole.and_then(|model| model.strip_suffix('"'));
    let whole = whole.map(str::to_owned);
    let status_class = match query.get("status") {
        "" => None,
        status => Some(class(status).ok_or("A status is one of 2xx, 4xx and 5xx.")?),
    };
    Ok(Filter {
        since: beginning(query, now)?,
        until: moment(query.get("until"))?,
        record: None,
        phi_type: text("type"),
        action: coded(query.get("action"))?,
        mode: coded(query.get("mode"))?,
        key_id: text("key"),
        model_prefix: model.filter(|_| whole.is_none()),
        model: whole,
        provider: text("provider"),
        error: coded(query.get("error"))?,
        status_class,
        door: text("door"),
        request_id,
        act: None,
        actor: None,
        phi_detected,
        requests: true,
    })
}

/// Returns the filter of acts in the address.
pub(crate) fn acts(query: &Fields, now: Timestamp) -> Result<Filter, String> {
    let person = Some(query.get("person")).filter(|person| !person.is_empty());
    Ok(Filter {
        since: beginning(query, now)?,
        until: moment(query.get("until"))?,
        record: Some(RecordKind::Admin),
        act: coded(query.get("act"))?,
        actor: person.map(str::to_owned),
        ..Filter::default()
    })
}

/// The address of the log with one filter.
pub(crate) fn address(name: &str, value: &str) -> String {
    format!("/audit?{name}={}", encode(value))
}

/// The address of the log from a moment on. Further filters follow after `&`.
pub(crate) fn since(start: Timestamp) -> String {
    let start = start.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    address("since", &start)
}

fn class(status: &str) -> Option<u16> {
    let digit = status.strip_suffix("xx")?.parse().ok()?;
    (1..=5).contains(&digit).then_some(digit)
}

fn beginning(query: &Fields, now: Timestamp) -> Result<Option<Timestamp>, String> {
    let asked = query.get("range");
    let range = RANGES.iter().find(|(code, ..)| *code == asked);
    let hours = range.and_then(|(_, _, hours)| *hours);
    let since = hours.and_then(|hours| now.checked_sub(SignedDuration::from_hours(hours)).ok());
    Ok(moment(query.get("since"))?.or(since))
}

/// Returns the row of a table whose code a field names; `None` if the field is empty.
fn coded<T: FromStr<Err = UnknownCode>>(text: &str) -> Result<Option<T>, String> {
    match text {
        "" => Ok(None),
        code => code
            .parse()
            .map(Some)
            .map_err(|error: UnknownCode| in_sentence(&error.to_string())),
    }
}

pub(super) fn moment(text: &str) -> Result<Option<Timestamp>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let read = text
        .parse::<DateTime>()
        .ok()
        .and_then(|time| time.to_zoned(TimeZone::UTC).ok());
    read.map(|time| Some(time.timestamp()))
        .ok_or_else(|| "Write times as 2026-11-15T04:20, in UTC.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_from_the_address() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let filter = requests(
            &Fields::of(&[("range", "day"), ("type", "ssn"), ("record", "phi")]),
            now,
        )
        .unwrap();
        assert_eq!(filter.since.unwrap().as_second(), 1_000_000 - 86_400);
        assert_eq!(filter.phi_type.as_deref(), Some("ssn"));
        assert_eq!(filter.phi_detected, Some(true));
        let filter = requests(
            &Fields::of(&[("range", "day"), ("since", "2026-11-15T04:20")]),
            now,
        )
        .unwrap();
        assert_eq!(filter.since.unwrap().to_string(), "2026-11-15T04:20:00Z");
        let everything = Filter {
            requests: true,
            ..Filter::default()
        };
        assert_eq!(requests(&Fields::of(&[]), now).unwrap(), everything);
        let model = |text| requests(&Fields::of(&[("model", text)]), now).unwrap();
        assert_eq!(model("gpt").model_prefix.as_deref(), Some("gpt"));
        assert_eq!(model("\"gpt-4o\"").model.as_deref(), Some("gpt-4o"));
        assert_eq!(model("\"gpt-4o\"").model_prefix, None);
    }

    #[test]
    fn acts_are_chosen_by_person_and_kind() {
        let now = Timestamp::UNIX_EPOCH;
        let asked = Fields::of(&[("act", "content.reveal"), ("person", "sam@clinic.example")]);
        let filter = acts(&asked, now).unwrap();
        assert_eq!(filter.act, Some(phigate_types::Act::ContentReveal));
        assert_eq!(filter.actor.as_deref(), Some("sam@clinic.example"));
        assert!(acts(&Fields::of(&[("act", "nonsense")]), now).is_err());
    }

    #[test]
    fn unreadable_filter_is_refused() {
        for (name, value) in [
            ("request", "12"),
            ("since", "yesterday"),
            ("until", "2026-13-01T00:00"),
            ("error", "nonsense"),
            ("status", "9xx"),
        ] {
            assert!(
                requests(&Fields::of(&[(name, value)]), Timestamp::now()).is_err(),
                "{name}"
            );
        }
    }
}
