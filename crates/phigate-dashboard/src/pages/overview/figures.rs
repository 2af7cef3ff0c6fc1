//! Figures of the overview.

use std::collections::BTreeMap;

use phigate_store::{ApiKeyInfo, Bucket, Stats, Use, Window};
use phigate_types::{Action, Mode};

use crate::chart::{Of, SERIES, Slot};
use crate::pages::log_filter;
use crate::view::{Choice, choices, counted, duration, grouped, percent};
use crate::visit::SignedIn;

/// One step of the first run.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) title: &'static str,
    pub(crate) words: &'static str,
    pub(crate) href: &'static str,
    pub(crate) link: &'static str,
    pub(crate) done: bool,
    pub(crate) next: bool,
}

/// One number to read at a glance.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) unit: &'static str,
    pub(crate) note: String,
    pub(crate) href: String,
    pub(crate) tone: &'static str,
}

/// One bar of a list of counts.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) percent: u64,
    pub(crate) count: String,
    pub(crate) href: String,
}

/// Period that the figures cover.
pub(super) struct Period {
    pub(super) code: &'static str,
    pub(super) label: &'static str,
    pub(super) words: &'static str,
    pub(super) span: &'static str,
    pub(super) window: Window,
    pub(super) by_day: bool,
}

/// Index of the period that is shown by default.
const USUAL: usize = 1;

/// The period with this code.
pub(super) fn period(code: &str) -> &'static Period {
    let asked = PERIODS.iter().find(|period| period.code == code);
    asked.unwrap_or(&PERIODS[USUAL])
}

/// The periods to choose from.
pub(super) fn periods(chosen: &Period) -> Vec<Choice> {
    let pairs = PERIODS.iter().map(|period| (period.code, period.label));
    choices(pairs, chosen.code)
}

static PERIODS: &[Period] = &[
    // From the shortest to the longest.
    Period {
        code: "hour",
        label: "1 hour",
        words: "in the last hour",
        span: "last hour, by five minutes",
        window: Window::Hour,
        by_day: false,
    },
    Period {
        code: "day",
        label: "24 hours",
        words: "in the last 24 hours",
        span: "last 24 hours, by hour",
        window: Window::Day,
        by_day: false,
    },
    Period {
        code: "week",
        label: "7 days",
        words: "in the last 7 days",
        span: "last 7 days, by six hours",
        window: Window::Week,
        by_day: true,
    },
    Period {
        code: "month",
        label: "30 days",
        words: "in the last 30 days",
        span: "last 30 days, by day",
        window: Window::Month,
        by_day: true,
    },
];

pub(super) fn headline(stats: &Stats, words: &str) -> String {
    let requests = match (stats.requests, stats.newest) {
        (0, _) => return format!("No requests {words}."),
        (many, None) => counted(many, "request"),
        (many, Some(_)) => format!("The newest {}", counted(many, "request")),
    };
    let blocked = done(&stats.by_action, Action::BLOCKED);
    let found = match stats.with_phi {
        0 => "No PHI was found.".to_owned(),
        found => format!("PHI was found in {}.", grouped(found)),
    };
    match blocked {
        0 => format!("{requests} {words}. {found} None was blocked."),
        1 => format!("{requests} {words}. {found} One was blocked."),
        many => format!(
            "{requests} {words}. {found} {} were blocked.",
            grouped(many)
        ),
    }
}

pub(super) fn steps(visit: &SignedIn, keys: &[ApiKeyInfo]) -> Vec<Step> {
    let has_provider = !visit.account.providers.is_empty();
    let has_key = keys.iter().any(|key| key.revoked.is_none());
    vec![
        Step {
            title: "Set a provider key",
            words: "So that phigate can ask a model on your behalf.",
            href: "/providers",
            link: "Set a key",
            done: has_provider,
            next: !has_provider,
        },
        Step {
            title: "Create an API key",
            words: "Your program sends it instead of the provider’s key.",
            href: "/keys",
            link: "Create a key",
            done: has_key,
            next: has_provider && !has_key,
        },
        Step {
            title: "Send the first request",
            words: "From the playground, or with the curl line that comes with the key.",
            href: "/playground",
            link: "Open the playground",
            done: false,
            next: has_provider && has_key,
        },
    ]
}

pub(super) fn figures(stats: &Stats, added_ms: Option<[f64; 2]>) -> Vec<Figure> {
    let blocked = done(&stats.by_action, Action::BLOCKED);
    let refused = done(&stats.by_action, Action::REFUSED);
    let [middle, most, nearly_all] = stats.total_ms;
    let slow_end = match (most, nearly_all) {
        (Some(most), Some(all)) => {
            format!("p95 {}, p99 {}", duration(most), duration(all))
        }
        _ => "no answers yet".to_owned(),
    };
    let half = added_ms.map(|[half, _]| half);
    let most_added = match added_ms {
        Some([_, most]) => format!("p95 ≤ {most} ms, added by phigate since it started"),
        None => "no requests since phigate started".to_owned(),
    };
    let figure = |label, value, note, href: &str| Figure {
        label,
        value,
        unit: "",
        note,
        href: format!("{}{href}", counted_log(stats)),
        tone: "",
    };
    vec![
        figure(
            "Requests",
            grouped(stats.requests),
            counted(stats.tokens, "token"),
            "",
        ),
        figure(
            "With PHI",
            percent(stats.with_phi, stats.requests),
            counted(stats.with_phi, "request"),
            "&record=phi",
        ),
        figure(
            "Blocked",
            grouped(blocked),
            format!("{} refused for other reasons", grouped(refused)),
            "&action=blocked",
        ),
        failed(stats, figure),
        figure(
            "Latency, median",
            middle.map_or_else(|| "–".to_owned(), duration),
            slow_end,
            "",
        ),
        figure(
            "Overhead, median",
            half.map_or_else(|| "–".to_owned(), |half| format!("≤ {half} ms")),
            most_added,
            "",
        ),
    ]
}

/// Returns the address of the log from the start of the figures, so that it lists what they count and no more.
pub(super) fn counted_log(stats: &Stats) -> String {
    let start = stats.buckets.first().map(|bucket| bucket.start);
    log_filter::since(start.unwrap_or_default())
}

/// Answers that failed at this end or at the provider's.
fn failed(stats: &Stats, figure: impl Fn(&'static str, String, String, &str) -> Figure) -> Figure {
    let answers: u64 = stats.by_status.values().sum();
    let failed = count(&stats.by_status, "5xx");
    let note = match failed {
        0 => "no answer was a 5xx".to_owned(),
        failed => format!("{} of answers were 5xx", percent(failed, answers)),
    };
    Figure {
        tone: if failed > 0 { "bad" } else { "" },
        ..figure("Failed", grouped(failed), note, "&status=5xx")
    }
}

/// Splits what was forwarded into clean and flagged; the rest is counted by action.
pub(super) fn slot(bucket: &Bucket) -> Slot {
    let forwarded = done(&bucket.by_action, Action::FORWARDED);
    let flagged = flagged(bucket).min(forwarded);
    Slot {
        start: bucket.start,
        counts: SERIES
            .iter()
            .map(|series| match series.of {
                Of::Clean => forwarded - flagged,
                Of::Flagged => flagged,
                Of::Action(action) => done(&bucket.by_action, action),
            })
            .collect(),
        flagged,
    }
}

/// Returns the slot of a bucket for requests with PHI alone.
pub(super) fn phi_slot(bucket: &Bucket) -> Slot {
    let slot = slot(bucket);
    let counts = SERIES.iter().map(|series| match series.of {
        Of::Clean => 0,
        Of::Flagged => slot.flagged,
        Of::Action(action) => done(&bucket.phi_by_action, action),
    });
    Slot {
        counts: counts.collect(),
        ..slot
    }
}

/// Requests with PHI that went on unchanged.
fn flagged(bucket: &Bucket) -> u64 {
    let counted: u64 = bucket.phi_by_action.values().sum();
    // An earlier version counted PHI without what was done; of these, what no mode changed was taken for forwarded.
    let uncounted = bucket.with_phi.saturating_sub(counted);
    let changed: u64 = Mode::all()
        .map(|mode| mode.action)
        .filter(|action| *action != Action::FORWARDED)
        .map(|action| {
            done(&bucket.by_action, action).saturating_sub(done(&bucket.phi_by_action, action))
        })
        .sum();
    done(&bucket.phi_by_action, Action::FORWARDED) + uncounted.saturating_sub(changed)
}

fn done(counts: &BTreeMap<String, u64>, action: Action) -> u64 {
    count(counts, action.code())
}

/// Rows of a list of counts that a page has room for.
const BARS: usize = 8;

/// Returns the bars of use with PHI, the most first: `12 of 340` requests.
pub(super) fn phi_bars(
    used: &BTreeMap<String, Use>,
    label: impl Fn(&str) -> String,
    href: impl Fn(&str) -> String,
) -> Vec<Bar> {
    let mut rows: Vec<(&String, &Use)> = used.iter().filter(|(_, one)| one.with_phi > 0).collect();
    rows.sort_by_key(|(_, one)| std::cmp::Reverse(one.with_phi));
    let most = rows.first().map_or(1, |(_, one)| one.with_phi);
    let bar = |(code, one): (&String, &Use)| Bar {
        label: label(code),
        percent: (one.with_phi * 100 / most).max(1),
        count: format!("{} of {}", grouped(one.with_phi), grouped(one.requests)),
        href: href(code),
    };
    rows.into_iter().take(BARS).map(bar).collect()
}

/// Counts by name, the most first.
pub(super) fn bars<'a>(
    counts: &BTreeMap<String, u64>,
    names: impl Iterator<Item = (&'a str, &'a str)>,
    href: impl Fn(&str) -> String,
) -> Vec<Bar> {
    let most = counts.values().copied().max().unwrap_or(0).max(1);
    let mut rows: Vec<(u64, &str, &str)> = names
        .map(|(code, label)| (count(counts, code), code, label))
        .filter(|(count, ..)| *count > 0)
        .collect();
    rows.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
    rows.into_iter()
        .map(|(count, code, label)| Bar {
            label: label.to_owned(),
            percent: (count * 100 / most).max(1),
            count: grouped(count),
            href: href(code),
        })
        .collect()
}

fn count(counts: &BTreeMap<String, u64>, code: &str) -> u64 {
    counts.get(code).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    /// A bucket of an earlier version, which did not count PHI by action.
    fn bucket(requests: u64, with_phi: u64, actions: &[(Action, u64)]) -> Bucket {
        Bucket {
            start: Timestamp::UNIX_EPOCH,
            requests,
            with_phi,
            by_action: by_code(actions),
            phi_by_action: BTreeMap::new(),
        }
    }

    fn by_code(actions: &[(Action, u64)]) -> BTreeMap<String, u64> {
        let row = |(action, count): &(Action, u64)| (action.to_string(), *count);
        actions.iter().map(row).collect()
    }

    #[test]
    fn refused_phi_request_is_not_counted_forwarded() {
        let actions = [
            (Action::FORWARDED, 5),
            (Action::REFUSED, 2),
            (Action::MASKED, 1),
        ];
        let exact = Bucket {
            phi_by_action: by_code(&[
                (Action::FORWARDED, 1),
                (Action::REFUSED, 2),
                (Action::MASKED, 1),
            ]),
            ..bucket(8, 4, &actions)
        };
        assert_eq!(slot(&exact).flagged, 1);
        assert_eq!(slot(&exact).counts, [4, 1, 1, 0, 0, 2, 0]);
    }

    #[test]
    fn forwarded_requests_split_into_clean_and_flagged() {
        for (bucket, counts) in [
            (
                bucket(10, 3, &[(Action::FORWARDED, 10)]),
                [7, 3, 0, 0, 0, 0, 0],
            ),
            (
                bucket(10, 4, &[(Action::FORWARDED, 6), (Action::MASKED, 4)]),
                [6, 0, 4, 0, 0, 0, 0],
            ),
            (
                bucket(
                    9,
                    5,
                    &[
                        (Action::FORWARDED, 5),
                        (Action::BLOCKED, 2),
                        (Action::REDACTED, 1),
                        (Action::REFUSED, 1),
                    ],
                ),
                [3, 2, 0, 1, 2, 1, 0],
            ),
        ] {
            assert_eq!(slot(&bucket).counts, counts);
        }
    }

    #[test]
    fn the_headline_reads_as_a_sentence() {
        let mut stats = Stats {
            requests: 1,
            ..Stats::default()
        };
        assert_eq!(
            headline(&stats, "today"),
            "1 request today. No PHI was found. None was blocked."
        );
        stats = Stats {
            requests: 1200,
            with_phi: 30,
            ..Stats::default()
        };
        stats.by_action.insert(Action::BLOCKED.to_string(), 2);
        assert_eq!(
            headline(&stats, "today"),
            "1,200 requests today. PHI was found in 30. 2 were blocked."
        );
        assert_eq!(headline(&Stats::default(), "today"), "No requests today.");
        let cut = Stats {
            requests: 10_000,
            newest: Some(10_000),
            ..Stats::default()
        };
        assert!(
            headline(&cut, "in the last hour")
                .starts_with("The newest 10,000 requests in the last hour. ")
        );
    }
}
