//! Replays of sealed originals, to try a policy on the past.

use jiff::Timestamp;
use phigate_types::Act;

use crate::model::{AdminAct, Decision, Filter, Record, RecordKind};
use crate::trail::Trail;
use crate::trail::read::parse;
use crate::{Result, SecretBytes};

/// Decisions read at once.
const PAGE: usize = 200;

/// Gives every request with PHI since a time to `visit`, with its original content, newest first. The actor and the
/// policy that is tried are recorded first. Requests whose content was deleted are left out.
pub async fn replay(
    trail: &Trail,
    account_id: &str,
    since: Timestamp,
    (tried, actor): (&str, &str),
    mut visit: impl FnMut(&Decision, &SecretBytes),
) -> Result<()> {
    let (_, account) = trail.core.account_item(account_id).await?;
    let act = AdminAct::new(trail.core.now(), &account.name, actor, Act::PolicyTry)
        .detail("policy", tried)
        .detail("since", &since);
    trail.core.record_act(Some(account_id), &act).await?;
    let filter = Filter {
        since: Some(since),
        record: Some(RecordKind::Decision),
        phi_detected: Some(true),
        ..Filter::default()
    };
    let mut after = None;
    loop {
        let page = trail.page(account_id, &filter, after, PAGE).await?;
        for row in &page.items {
            let Record::Decision(decision) = parse(row)? else {
                continue;
            };
            let contents = trail.contents(account_id, row).await?;
            for (_, original) in contents.iter().filter(|(field, _)| *field == "original") {
                visit(&decision, original);
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}
