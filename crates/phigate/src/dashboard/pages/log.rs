//! What the tabs of the audit log share.

use phigate_store::Filter;

use crate::dashboard::Dash;
use crate::dashboard::fields::Fields;
use crate::dashboard::view::{Choice, choices, counted, grouped};
use crate::dashboard::visit::{PageError, SignedIn};

/// The tabs of the log: where, and what they are called.
static TABS: &[(&str, &str)] = &[
    // In their order.
    ("/audit", "Requests"),
    ("/audit/administration", "Administration"),
    ("/audit/find", "Find an identifier"),
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

/// How many there are, in words.
pub(super) async fn total(
    dash: &Dash,
    visit: &SignedIn,
    filter: &Filter,
    thing: &str,
) -> Result<String, PageError> {
    let figures = &dash.app.vault.figures;
    let most = COUNTED + 1;
    let number = figures.count(visit.account_id(), filter, most).await?;
    Ok(match number > COUNTED as u64 {
        true => format!("more than {} {thing}s", grouped(COUNTED as u64)),
        false => counted(number, thing),
    })
}

/// The same page of the log from another place on.
pub(super) fn page_address(tab: &str, query: &Fields, before: &str) -> String {
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

/// What an address asks for is shown, also where it is no choice any more.
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
