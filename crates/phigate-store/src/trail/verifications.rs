//! Verifications that are recorded: by night, and when a person asks on a page.

use std::sync::Arc;

use jiff::civil::Date;
use phigate_types::{Act, AlertCode};
use phigate_verify::{Checkpoint, Report};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::alerts::Alerts;
use crate::cause::NewAlert;
use crate::core::Core;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::model::{AdminAct, Filter, Record, RecordKind};
use crate::store::SYSTEM;
use crate::trail::Trail;

/// Name of the mark that says which night was verified.
const MARK: &str = "verified_night";

/// The night that was verified last.
#[derive(Serialize, Deserialize)]
struct Night {
    day: Date,
}

/// Verifications with their history.
#[derive(Clone)]
pub struct Verifications {
    core: Arc<Core>,
    trail: Trail,
    alerts: Alerts,
}

impl Verifications {
    pub(crate) fn new(core: Arc<Core>, trail: Trail, alerts: Alerts) -> Self {
        Self {
            core,
            trail,
            alerts,
        }
    }

    /// Verifies one account, or the installation's own records, and records the verdict. A fault raises an alert.
    pub async fn run(
        &self,
        account_id: &str,
        outside: &[Checkpoint],
        actor: &str,
    ) -> Result<Report> {
        let began = self.core.now();
        let report = self.trail.verify(Some(account_id), outside, |_| {}).await?;
        let took = self.core.now().duration_since(began);
        let account = match account_id {
            SYSTEM => String::new(),
            id => self.core.account_item(id).await?.1.name,
        };
        let verdict = match &report.fault {
            None => "intact".to_owned(),
            Some(fault) => fault.to_string(),
        };
        let act = AdminAct::new(self.core.now(), &account, actor, Act::AuditVerify)
            .detail("verdict", &verdict)
            .detail("records", &report.records)
            .detail("checkpoints_elsewhere", &report.outside_checkpoints)
            .detail("ms", &took.as_millis());
        self.core.record_act(Some(account_id), &act).await?;
        self.alert(&report).await?;
        Ok(report)
    }

    /// Raises an alert if a verification found a fault.
    pub async fn alert(&self, report: &Report) -> Result<()> {
        let Some(fault) = &report.fault else {
            return Ok(());
        };
        let requests = fault.request_id;
        let subject = format!("chain {}", fault.lane);
        let new = NewAlert {
            requests: requests.as_slice(),
            ..NewAlert::new(AlertCode::VerificationFailed, &subject)
        };
        let new = new.detail("fault", fault).detail("record", &fault.seq);
        // Rows beside the trail can belong to an account that is gone.
        let known = self.core.account_item(&fault.account).await.is_ok();
        let account = if known {
            fault.account.as_str()
        } else {
            SYSTEM
        };
        self.alerts.raise(account, &new).await.map(drop)
    }

    /// Whether a night is this process's to verify. The night in which an installation begins is not.
    pub async fn claim(&self, today: Date) -> Result<bool> {
        let night = Night { day: today };
        let found = self.core.store.item(SYSTEM, ItemKind::Meta, MARK).await?;
        let Some(item) = found else {
            let item = Item::new(SYSTEM, ItemKind::Meta, MARK, None, &night);
            let mark = Change::Put(item, Expect::Absent);
            self.core.change_quietly(vec![mark]).await?;
            return Ok(false);
        };
        let last: Night = item.read()?;
        match last.day < today {
            true => {
                self.core
                    .change_quietly(vec![item.replaced_by(&night)])
                    .await
            }
            false => Ok(false),
        }
    }

    /// The recorded verifications of an account, newest first.
    pub async fn history(&self, account_id: &str, most: usize) -> Result<Vec<AdminAct>> {
        let filter = Filter {
            record: Some(RecordKind::Admin),
            act: Some(Act::AuditVerify),
            ..Filter::default()
        };
        let page = self
            .trail
            .audit_list(account_id, &filter, None, most)
            .await?;
        let acts = page.items.into_iter().filter_map(|record| match record {
            Record::Admin(act) => Some(act),
            _ => None,
        });
        Ok(acts.collect())
    }
}
