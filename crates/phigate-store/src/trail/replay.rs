//! Replays of sealed originals, to try a policy on the past.

use std::collections::VecDeque;

use jiff::Timestamp;
use phigate_types::Act;

use crate::model::{AdminAct, Cursor, Decision, Filter, Record, RecordKind};
use crate::rows::AuditRow;
use crate::trail::Trail;
use crate::trail::read::parse;
use crate::{Result, SecretBytes};

/// Decisions read at once.
const PAGE: usize = 200;

/// Past requests with PHI and their original content, newest first.
pub struct Replay<'t> {
    trail: &'t Trail,
    account_id: &'t str,
    filter: Filter,
    rows: VecDeque<AuditRow>,
    after: Option<Cursor>,
    is_last_page: bool,
}

impl<'t> Replay<'t> {
    /// Begins a replay of every request with PHI since a time. The actor and the policy that is tried are recorded first.
    pub async fn begin(
        trail: &'t Trail,
        account_id: &'t str,
        since: Timestamp,
        (tried, actor): (&str, &str),
    ) -> Result<Self> {
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
        Ok(Self {
            trail,
            account_id,
            filter,
            rows: VecDeque::new(),
            after: None,
            is_last_page: false,
        })
    }

    /// The next request; `None` after the last. Requests whose content was deleted are left out.
    pub async fn next(&mut self) -> Result<Option<(Decision, SecretBytes)>> {
        loop {
            let Some(row) = self.rows.pop_front() else {
                if self.is_last_page {
                    return Ok(None);
                }
                self.read_page().await?;
                continue;
            };
            let Record::Decision(decision) = parse(&row)? else {
                continue;
            };
            let contents = self.trail.contents(self.account_id, &row).await?;
            let mut contents = contents.into_iter();
            if let Some((_, original)) = contents.find(|(field, _)| *field == "original") {
                return Ok(Some((decision, original)));
            }
        }
    }

    async fn read_page(&mut self) -> Result<()> {
        let page = self
            .trail
            .page(self.account_id, &self.filter, self.after, PAGE)
            .await?;
        self.rows.extend(page.items);
        self.after = page.next;
        self.is_last_page = self.after.is_none();
        Ok(())
    }
}
