//! Names of accounts, also of deleted ones.

use serde::Deserialize;

use crate::Result;
use crate::guard::Guard;
use crate::item::ItemKind;
use crate::store::SYSTEM;

/// The name in the row of an account or of a deleted account.
#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Guard {
    /// The name of an account, also of a deleted one; its id if there never was such an account. The installation
    /// itself has no name.
    pub(crate) async fn account_name(&self, account_id: &str) -> Result<String> {
        if account_id == SYSTEM {
            return Ok(String::new());
        }
        let places = [
            (account_id, ItemKind::Account),
            (SYSTEM, ItemKind::DeletedAccount),
        ];
        for (account, kind) in places {
            if let Some(item) = self.item(account, kind, account_id).await? {
                return Ok(item.read::<Named>()?.name);
            }
        }
        Ok(account_id.to_owned())
    }
}
