//! Drills: whether a backup can be restored, recorded in the installation's trail.

use std::path::{Path, PathBuf};

use phigate_types::Act;

use crate::Result;
use crate::installation::Installation;
use crate::model::{AccountInfo, AdminAct, Filter, Record, RecordKind};
use crate::store::SYSTEM;

impl Installation {
    /// The file of the newest backup that was recorded.
    pub async fn newest_backup(&self) -> Result<Option<PathBuf>> {
        let filter = Filter {
            record: Some(RecordKind::Admin),
            act: Some(Act::InstallationBackup),
            ..Filter::default()
        };
        let mut cursor = None;
        loop {
            let page = self.trail.audit_list(SYSTEM, &filter, cursor, 50).await?;
            let file = page.items.into_iter().find_map(|record| match record {
                Record::Admin(act) => act.target,
                _ => None,
            });
            cursor = page.next;
            if file.is_some() || cursor.is_none() {
                return Ok(file.map(PathBuf::from));
            }
        }
    }

    /// Records a drill with its verdict and figures. With an account it is recorded there as well, so that the exports of
    /// the account carry it.
    pub async fn record_drill(
        &self,
        file: &Path,
        account: Option<&AccountInfo>,
        actor: &str,
        details: &[(&str, String)],
    ) -> Result<()> {
        for account in std::iter::once(None).chain(account.map(Some)) {
            let name = account.map_or("", |account| &account.name);
            let act = AdminAct::new(self.core.now(), name, actor, Act::InstallationDrill)
                .target(&file.display().to_string());
            let add = |act: AdminAct, (name, value): &(&str, String)| act.detail(name, value);
            let act = details.iter().fold(act, add);
            let id = account.map(|account| account.id.as_str());
            self.core.record_act(id, &act).await?;
        }
        Ok(())
    }
}
