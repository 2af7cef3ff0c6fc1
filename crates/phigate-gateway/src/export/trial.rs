//! Trials of a target on request: it is reached, and gets a line that says nothing about the trail.

use std::time::Duration;

use jiff::Timestamp;
use phigate_store::{ExportedLine, StoreError};

use super::http::Way;
use super::kind::kind_of;
use crate::gateway::Gateway;

/// Timeout of a trial.
const TRIAL: Duration = Duration::from_secs(20);

impl Gateway {
    /// Tries a target. The inner error says why it does not work.
    pub async fn try_export(
        &self,
        account_id: &str,
        name: &str,
    ) -> Result<Result<(), String>, StoreError> {
        let (info, secret) = self.vault.exports.target(account_id, name).await?;
        let Some(kind) = kind_of(&info.config.to) else {
            return Ok(Err("its address has an unknown scheme".to_owned()));
        };
        let now = Timestamp::now();
        let line = ExportedLine {
            json: format!("{{\"record\":\"test\",\"time\":\"{now}\",\"target\":\"{name}\"}}"),
            kind: "test",
            time: now,
        };
        let tried = async {
            let mut sink = (kind.open)(&info.config, secret, &Way::of(self))?;
            let tested = sink.test(&line).await;
            sink.finish().await;
            tested
        };
        Ok(match tokio::time::timeout(TRIAL, tried).await {
            Ok(tried) => tried.map_err(|problem| problem.words.into_owned()),
            Err(_) => Err("it did not answer in time".to_owned()),
        })
    }
}
