//! Limits of a report: how far the records reach, and what they cannot show.

use jiff::ToSpan;
use jiff::tz::TimeZone;
use phigate_store::Retention;

use crate::times::in_words;
use crate::{Ask, Order, ReportError, Sources};

/// Sentences about the limits of the answer, known before counting.
pub(crate) async fn limits(
    sources: &Sources,
    order: &Order<'_>,
    ask: &Ask,
    retention: &Retention,
) -> Result<Vec<String>, ReportError> {
    if matches!(ask, Ask::Controls) {
        return Ok(vec![format!(
            "Settings as they were on {}. Changes before and after are in the audit log.",
            in_words(order.now)
        )]);
    }
    let mut limits = vec![format!(
        "Counted from the audit records of account {}, which are chained and signed. The command phigate audit verify checks them.",
        order.account.name
    )];
    let oldest = sources.reports.oldest_record(&order.account.id).await?;
    limits.push(match oldest {
        Some(oldest) => format!(
            "The oldest record of the account is of {}.",
            in_words(oldest)
        ),
        None => "The account has no records.".to_owned(),
    });
    let asked = ask.filter().unwrap_or_default();
    if asked.until.is_some_and(|until| until > order.now) {
        let now = in_words(order.now);
        limits.push(format!(
            "The time asked for is not over: requests are counted up to {now}."
        ));
    }
    let kept = retention.metadata_days;
    let today = order.now.to_zoned(TimeZone::UTC).date();
    let end = today.checked_sub(i64::from(kept).days());
    let first = end.ok().and_then(|day| day.to_zoned(TimeZone::UTC).ok());
    let is_over = first.as_ref().is_some_and(|first| {
        let existed = order.account.created < first.timestamp();
        existed && asked.since.is_none_or(|since| since < first.timestamp())
    });
    limits.push(match (retention.legal_hold, is_over, first) {
        (true, ..) => "A legal hold is set: no record is deleted by age.".to_owned(),
        (false, true, Some(first)) => format!(
            "INCOMPLETE: records from before {} were deleted at the end of their retention of {kept} days.",
            first.date()
        ),
        _ => format!("Records are kept for {kept} days; none of the time asked for is older."),
    });
    limits.push(
        "Not covered: text that the detector did not recognise, and content that it could not read.".to_owned(),
    );
    Ok(limits)
}
