//! Questions that reports answer.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use phi_detect::PhiKind;
use phigate_core::protect::identifier::{self, Question};
use phigate_store::{Filter, SecretString};

use crate::{Order, ReportError, ReportKind, Sources};

/// An identifier of a patient, in every spelling that is tried.
pub struct Identifier {
    pub(crate) questions: Vec<Question>,
    pub(crate) hint: String,
}

impl Identifier {
    /// Reads an identifier as it was typed.
    pub fn read(kind: PhiKind, value: &SecretString) -> Result<Self, ReportError> {
        let typed = value.expose();
        let questions = identifier::questions(kind, typed);
        let questions = questions.map_err(|misfit| ReportError::Asked(misfit.to_string()))?;
        let hint = hint(typed);
        Ok(Self { questions, hint })
    }

    /// The kind that was asked for.
    pub(crate) fn label(&self) -> &'static str {
        self.questions.first().map_or("", |one| one.kind().label())
    }
}

/// The part of an identifier by which the person who typed it knows it again: the last characters of a number, the
/// initials of words.
fn hint(typed: &str) -> String {
    let letters: Vec<char> = typed.chars().filter(|one| one.is_alphanumeric()).collect();
    if typed.contains(|letter: char| letter.is_ascii_digit()) {
        let shown = if letters.len() >= 8 { 4 } else { 2 };
        let last: String = letters.iter().rev().take(shown).rev().collect();
        return format!("ending in {last}");
    }
    let words = typed.split(|letter: char| !letter.is_alphanumeric());
    let initials: Vec<String> = words
        .filter_map(|word| word.chars().next())
        .map(|first| format!("{}.", first.to_uppercase()))
        .collect();
    format!("with the initials {}", initials.join(" "))
}

/// Question that a report answers.
pub enum Ask {
    /// Requests that held this identifier, and their recipients.
    Disclosures(Identifier),
    /// Requests of a stretch of time, perhaps to one provider or with one key.
    Incident {
        /// First moment.
        since: Timestamp,
        /// First moment after it.
        until: Timestamp,
        /// Name of the provider.
        provider: Option<String>,
        /// Public id of the key.
        key: Option<String>,
    },
    /// Figures of a month.
    Monthly {
        /// First day of the month.
        month: Date,
    },
    /// Controls in force.
    Controls,
}

impl Ask {
    /// Kind of the report.
    pub fn kind(&self) -> ReportKind {
        match self {
            Self::Disclosures(_) => ReportKind::Disclosures,
            Self::Incident { .. } => ReportKind::Incident,
            Self::Monthly { .. } => ReportKind::Monthly,
            Self::Controls => ReportKind::Controls,
        }
    }

    /// Details of the record. The identifier is not among them.
    pub(crate) fn details(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Disclosures(asked) => {
                let kind = asked.questions.first().map(|one| one.kind().code());
                vec![("type", kind.unwrap_or_default().to_owned())]
            }
            Self::Incident {
                since,
                until,
                provider,
                key,
            } => {
                let mut details = vec![("since", since.to_string()), ("until", until.to_string())];
                details.extend(provider.clone().map(|name| ("provider", name)));
                details.extend(key.clone().map(|key| ("key", key)));
                details
            }
            Self::Monthly { month } => vec![("month", month.strftime("%Y-%m").to_string())],
            Self::Controls => Vec::new(),
        }
    }

    /// The requests that the report is about; `None` if it is not about requests of a stretch of time.
    pub(crate) fn filter(&self) -> Option<Filter> {
        match self {
            Self::Incident {
                since,
                until,
                provider,
                key,
            } => Some(Filter {
                since: Some(*since),
                until: Some(*until),
                provider: provider.clone(),
                key_id: key.clone(),
                requests: true,
                ..Filter::default()
            }),
            Self::Monthly { month } => {
                let (since, until) = month_range(*month);
                Some(Filter {
                    since: Some(since),
                    until: Some(until),
                    requests: true,
                    ..Filter::default()
                })
            }
            Self::Disclosures(_) | Self::Controls => None,
        }
    }

    /// Refuses questions whose answer would mislead: a key or a provider that never was, or a time that has not come.
    pub(crate) async fn check(
        &self,
        sources: &Sources,
        order: &Order<'_>,
    ) -> Result<(), ReportError> {
        let refused = |words: &str| Err(ReportError::Asked(words.to_owned()));
        match self {
            Self::Incident { since, until, .. } if since >= until => {
                refused("--since must be before --until")
            }
            Self::Incident { key, provider, .. } => {
                if let Some(key) = key {
                    let keys = sources.access.api_keys(&order.account.id).await?;
                    if !keys.iter().any(|known| known.id == *key) {
                        return refused(
                            "the account has no API key with this id; `phigate key list` shows them",
                        );
                    }
                }
                if let Some(name) = provider {
                    check_provider(sources, order, name).await?;
                }
                Ok(())
            }
            Self::Monthly { month } if month_range(*month).0 > order.now => {
                refused("the month has not begun: --month must be a past month or this one")
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a provider that the account does not have and that no request was for.
async fn check_provider(
    sources: &Sources,
    order: &Order<'_>,
    name: &str,
) -> Result<(), ReportError> {
    let id = &order.account.id;
    let known = sources.access.provider(id, name).await;
    if known.is_ok_and(|known| known.is_some()) {
        return Ok(());
    }
    let filter = Filter {
        provider: Some(name.to_owned()),
        requests: true,
        ..Filter::default()
    };
    let page = sources.trail.request_list(id, &filter, None, 1).await?;
    if page.items.is_empty() {
        let words = "the account has no provider of this name, and no request was for it; `phigate provider list` shows the providers";
        return Err(ReportError::Asked(words.to_owned()));
    }
    Ok(())
}

/// Reads a month such as 2026-01; `None` if it is not one.
pub fn month_of(text: &str) -> Option<Date> {
    let (year, month) = text.split_once('-')?;
    let is_number =
        |text: &str, digits| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(year, 4) || !is_number(month, 2) {
        return None;
    }
    Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()
}

/// The first moment of a month, and the first after it.
pub fn month_range(month: Date) -> (Timestamp, Timestamp) {
    let start = |day: Date| day.to_zoned(TimeZone::UTC).map(|day| day.timestamp());
    let next = month.checked_add(1.month()).unwrap_or(Date::MAX);
    (
        start(month.first_of_month()).unwrap_or(Timestamp::MIN),
        start(next.first_of_month()).unwrap_or(Timestamp::MAX),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn month_is_read_and_has_ends() {
        for bad in [
            "2024-13",
            "May",
            "2024-1",
            "24-01",
            "2024-00",
            "2024-01-01",
            "",
        ] {
            assert_eq!(month_of(bad), None, "{bad}");
        }
        let (since, until) = month_range(month_of("2026-12").unwrap());
        assert_eq!(since.to_string(), "2026-12-01T00:00:00Z");
        assert_eq!(until.to_string(), "2027-01-01T00:00:00Z");
    }

    #[test]
    fn hint_shows_last_characters_or_initials() {
        for (typed, told) in [
            ("536-22-8741", "ending in 8741"),
            ("MRN 412345", "ending in 2345"),
            ("12345", "ending in 45"),
            ("Delgado, Maria", "with the initials D. M."),
        ] {
            assert_eq!(hint(typed), told);
        }
    }
}
