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
    /// The name of an account, also of a deleted one; its id where there never was such an account.
    pub(crate) async fn account_name(&self, account_id: &str) -> Result<String> {
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
