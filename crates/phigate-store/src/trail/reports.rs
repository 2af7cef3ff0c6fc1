//! Reports about an account: their record, their signature, and how far back the trail reaches.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use phigate_verify::report_statement;

use std::sync::Arc;

use crate::Result;
use crate::core::Core;
use crate::model::AdminAct;

/// Reports about accounts: their record and their signature.
#[derive(Clone)]
pub struct Reports {
    core: Arc<Core>,
}

impl Reports {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Records that a report is made: its kind, its format, and the choice that it is about. The choice must not contain
    /// an identifier.
    pub async fn record(
        &self,
        account_id: &str,
        actor: &str,
        kind: &str,
        details: &[(&str, String)],
    ) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::ReportMake);
        let add = |act: AdminAct, (name, value): &(&str, String)| act.detail(name, value);
        let act = details.iter().fold(act.target(kind), add);
        self.core.record_act(Some(account_id), &act).await
    }

    /// The signature over a report, base64, made with the key of the checkpoints.
    pub fn sign(&self, text: &str) -> String {
        let key = &self.core.keyring.root.signing;
        STANDARD.encode(key.sign(&report_statement(text.as_bytes())))
    }

    /// Time of the oldest record of an account that the store still holds.
    pub async fn oldest_record(&self, account_id: &str) -> Result<Option<Timestamp>> {
        let store = &self.core.store;
        let oldest = store.old_records(account_id, i64::MAX, 1).await?;
        let time = oldest.first().map(|row| row.time_us);
        Ok(time.and_then(|time_us| Timestamp::from_microsecond(time_us).ok()))
    }
}
