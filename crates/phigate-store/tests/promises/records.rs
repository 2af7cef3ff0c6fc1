//! Writing the trail.

use crate::support::{PATIENCE, Site, account, answered, close, masked};

pub async fn a_decision_is_there_when_it_is_acknowledged(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let new = masked(&account);
    let request = new.decision.request_id;
    vault.record_decision(new, PATIENCE).await.unwrap();
    vault
        .record_outcome(&account, &answered(request), PATIENCE)
        .await
        .unwrap();
    close(vault).await;
}
