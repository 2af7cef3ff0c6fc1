//! Shared parts of the audit log's tabs.

use jiff::Timestamp;
use phigate_store::{Cursor, Filter, Page};

use super::log_filter;
use crate::Dash;
use crate::fields::Fields;
use crate::view::{Choice, When, choices, counted, grouped};
use crate::visit::{PageError, SignedIn};

/// Tabs of the log: address and label.
static TABS: &[(&str, &str)] = &[
    // In their order.
    ("/audit", "Requests"),
    ("/audit/administration", "Administration"),
    ("/audit/looks", "Reveals"),
    ("/audit/find", "Find an identifier"),
    ("/audit/alerts", "Alerts"),
    ("/audit/reports", "Reports"),
    ("/audit/integrity", "Integrity"),
];

/// The tabs, with the one that is open.
pub(super) fn tabs(open: &str) -> Vec<Choice> {
    choices(TABS.iter().copied(), open)
}

/// Rows of one page.
pub(super) const ROWS: usize = 50;
/// Records are counted no further: a page need not wait for a count of millions.
const COUNTED: usize = 10_000;

/// Returns the number of records, in words.
pub(super) async fn total(
    dash: &Dash,
    visit: &SignedIn,
    filter: &Filter,
    thing: &str,
) -> Result<String, PageError> {
    let figures = &dash.vault.figures;
    let most = COUNTED + 1;
    let count = figures.count(visit.account_id(), filter, most).await?;
    Ok(match count {
        count if count.number > COUNTED as u64 => {
            format!("more than {} {thing}s", grouped(COUNTED as u64))
        }
        count if count.is_least => format!("at least {}", counted(count.number, thing)),
        count => counted(count.number, thing),
    })
}

/// Shared parts of both lists of the log: the chosen time, the number of records, and the position in the list.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The list's own address, without filters.
    pub(crate) address: &'static str,
    pub(crate) ranges: Vec<Choice>,
    pub(crate) since: String,
    pub(crate) until: String,
    pub(crate) is_filtered: bool,
    /// Whether it begins with the newest, so that new ones appear by themselves.
    pub(crate) is_tail: bool,
    pub(crate) total: String,
    pub(crate) newer: String,
    pub(crate) older: String,
    /// Time up to which the search went, if the page is not full and there may be more.
    pub(crate) looked_back_to: Option<When>,
}

/// Records read for a page of the log.
pub(super) struct Listed<T> {
    pub(super) rows: Vec<T>,
    next: Option<Cursor>,
    looked_back_to: Option<Timestamp>,
    total: String,
}

impl<T> Listed<T> {
    /// Makes the listed rows as the page shows them, with their total.
    pub(super) fn new<R>(page: &Page<R>, row: impl FnMut(&R) -> Option<T>, total: String) -> Self {
        Self {
            rows: page.items.iter().filter_map(row).collect(),
            next: page.next,
            looked_back_to: page.looked_back_to,
            total,
        }
    }

    /// Lists nothing, because the filter cannot be understood.
    pub(super) fn none() -> Self {
        Self {
            rows: Vec::new(),
            next: None,
            looked_back_to: None,
            total: String::new(),
        }
    }
}

impl Listing {
    /// The list at an address, as it is asked for.
    pub(super) fn new(address: &'static str, query: &Fields) -> Self {
        let is_tail = Self::before(query).is_none();
        Self {
            address,
            ranges: log_filter::ranges(query),
            since: query.get("since").to_owned(),
            until: query.get("until").to_owned(),
            is_tail,
            newer: match is_tail {
                true => String::new(),
                false => page_address(address, query, ""),
            },
            ..Self::default()
        }
    }

    /// Returns the position before which the page begins; `None` for the newest.
    pub(super) fn before(query: &Fields) -> Option<Cursor> {
        Cursor::decode(query.get("before"))
    }

    /// Adds the records that were read: the start of the next page, and the total.
    pub(super) fn read<T>(self, query: &Fields, listed: &Listed<T>) -> Self {
        let older = |next: Cursor| page_address(self.address, query, &next.encode());
        Self {
            older: listed.next.map(older).unwrap_or_default(),
            looked_back_to: listed.looked_back_to.map(When::at),
            total: listed.total.clone(),
            ..self
        }
    }
}

/// Returns the address of this page of the log from another position on.
fn page_address(tab: &str, query: &Fields, before: &str) -> String {
    format!("{tab}?{}", query.query_with("before", before))
}

/// The choice of no filter, before those of one.
pub(super) fn chosen<'a>(
    none: &'a str,
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
    code: &str,
) -> Vec<Choice> {
    let all = choices(std::iter::once(("", none)).chain(pairs), code);
    with_unknown(all, code)
}

/// Adds the value of an address to the choices, even if it is no longer a choice.
fn with_unknown(mut all: Vec<Choice>, code: &str) -> Vec<Choice> {
    if !code.is_empty() && !all.iter().any(|choice| choice.chosen) {
        all.push(Choice {
            code: code.to_owned(),
            label: code.to_owned(),
            chosen: true,
        });
    }
    all
}
