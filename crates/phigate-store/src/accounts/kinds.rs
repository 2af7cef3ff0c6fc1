//! Kinds of PHI of an account: settings of detection and words of the policy, changed in one step.

use crate::Result;
use crate::accounts::Accounts;
use crate::model::{By, KindSettings, KindsAct};

use super::policy::{Changed, marked};

impl Accounts {
    /// The settings that say which kinds are looked for, and how.
    pub async fn kinds(&self, account_id: &str) -> Result<KindSettings> {
        let (_, stored) = self.core.account_item(account_id).await?;
        Ok(KindSettings {
            detection: stored.settings.detection,
            words: stored.policy,
        })
    }

    /// Changes the kinds of an account. Every call that starts after the return is scanned for the new ones. The change
    /// describes itself for the record, and is made again if another process changed the account meanwhile.
    pub async fn edit_kinds<'a>(
        &self,
        account_id: &str,
        change: impl Fn(&mut KindSettings) -> KindsAct,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        let by = by.into();
        self.change_policy(account_id, |stored| {
            let (_, body) = &stored.account;
            let mut kinds = KindSettings {
                detection: body.settings.detection.clone(),
                words: body.policy.clone(),
            };
            let said = change(&mut kinds);
            let act = by.act(self.core.now(), &body.name, said.act);
            let act = act.change(&said.from, &said.to);
            let act = match said.kind {
                Some(code) => act.target(code),
                None => act,
            };
            let listed = [("switched_on", said.on), ("switched_off", said.off)];
            let listed = listed.into_iter().filter(|(_, codes)| !codes.is_empty());
            let act = listed.fold(act, |act, (name, codes)| act.detail(name, &codes.join(",")));
            let mut words = stored.words.clone();
            words.account = kinds.words;
            Ok(Changed {
                words,
                detection: Some(kinds.detection),
                further: Vec::new(),
                act: marked(act, said.is_weaker),
            })
        })
        .await
    }
}
