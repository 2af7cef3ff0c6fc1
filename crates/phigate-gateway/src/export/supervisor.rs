//! Starts and stops exporters as owners change targets: one task per target that this process holds.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use phigate_store::{ExportInfo, StoreError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::exporter::{Exporter, Label};
use super::http::Way;
use super::kind::kind_of;
use crate::gateway::Gateway;

/// Interval of looking for changed targets.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Timeout of the exporters at a stop.
const STOP: Duration = Duration::from_secs(5);

/// The exporters of this process.
pub struct Exporters {
    gateway: Arc<Gateway>,
    way: Way,
    checkpoint_every: Duration,
    running: BTreeMap<(String, String), Running>,
}

/// A running exporter.
struct Running {
    version: i64,
    label: Label,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Exporters {
    /// No exporter yet. `checkpoint_every` is the interval of checkpoints to targets that want them.
    pub fn new(gateway: Arc<Gateway>, checkpoint_every: Duration) -> Self {
        Self {
            way: Way::of(&gateway),
            gateway,
            checkpoint_every,
            running: BTreeMap::new(),
        }
    }

    /// Keeps every target served until the gateway stops.
    pub async fn run(mut self) {
        let drain = self.gateway.drain.clone();
        while !drain.is_draining() {
            if let Err(error) = self.look().await {
                tracing::debug!("exports were not looked for: {error}");
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = drain.started() => {}
            }
        }
        for running in self.running.values() {
            running.stop.cancel();
        }
        let ended = async {
            for running in self.running.into_values() {
                let _ = running.task.await;
            }
        };
        let _ = tokio::time::timeout(STOP, ended).await;
    }

    async fn look(&mut self) -> Result<(), StoreError> {
        let targets = self.gateway.vault.exports.all().await?;
        self.stop_changed(&targets);
        let mut names: Option<HashMap<String, String>> = None;
        for target in targets.into_iter().filter(|target| !target.is_paused) {
            let key = (target.account_id.clone(), target.name.clone());
            if self.running.contains_key(&key) {
                continue;
            }
            if names.is_none() {
                let accounts = self.gateway.vault.accounts.accounts().await?;
                let named = accounts.into_iter().map(|one| (one.id, one.name));
                names = Some(named.collect());
            }
            let account = names.as_ref().and_then(|names| names.get(&key.0));
            let label = Label {
                account: account.cloned().unwrap_or_default(),
                target: target.name.clone(),
            };
            if let Some(running) = self.start(&target, label).await? {
                self.running.insert(key, running);
            }
        }
        Ok(())
    }

    /// Stops exporters whose target changed or is gone, and forgets those that ended.
    fn stop_changed(&mut self, targets: &[ExportInfo]) {
        let metrics = &self.gateway.metrics;
        self.running.retain(|(account, name), running| {
            let target = targets
                .iter()
                .find(|target| target.account_id == *account && target.name == *name);
            if target.is_none_or(|target| target.version != running.version) {
                running.stop.cancel();
            }
            let has_ended = running.task.is_finished();
            if has_ended && target.is_none() {
                metrics.export_gone(&running.label.account, &running.label.target);
            }
            !has_ended
        });
    }

    async fn start(
        &self,
        target: &ExportInfo,
        label: Label,
    ) -> Result<Option<Running>, StoreError> {
        let exports = &self.gateway.vault.exports;
        let Some(kind) = kind_of(&target.config.to) else {
            return Ok(None);
        };
        let Some(mut run) = exports.take(&target.account_id, &target.name).await? else {
            return Ok(None);
        };
        let (_, secret) = exports.target(&target.account_id, &target.name).await?;
        let sink = match (kind.open)(&target.config, secret, &self.way) {
            Ok(sink) => sink,
            Err(problem) => {
                run.failed(&problem.words).await?;
                run.release().await?;
                return Ok(None);
            }
        };
        let stop = CancellationToken::new();
        let exporter = Exporter {
            label: label.clone(),
            kind,
            sink,
            run,
            metrics: Arc::clone(&self.gateway.metrics),
            checkpoints: target.config.checkpoints.then_some(self.checkpoint_every),
            queue: VecDeque::new(),
            written: VecDeque::new(),
            failures: 0,
        };
        Ok(Some(Running {
            version: target.version,
            label,
            task: tokio::spawn(exporter.run(stop.clone())),
            stop,
        }))
    }
}
