//! Whether the store can be used right now.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::core::Core;
use crate::rows::Batch;
use crate::{Result, StoreError};

/// A store that does not answer within this time is taken for one that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the store can be used right now.
#[derive(Clone)]
pub struct Health {
    core: Arc<Core>,
}

impl Health {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Chains that lost acknowledged records and take no further ones.
    pub async fn retired_chains(&self) -> Result<Vec<i64>> {
        self.core.writer.retired().await
    }

    /// Number of chains that this process found without records that it had acknowledged.
    pub fn rollbacks(&self) -> u64 {
        self.core.writer.rollbacks.load(Ordering::Relaxed)
    }

    /// Whether the store answers and can be written: commits something empty.
    pub async fn ping(&self) -> Result<()> {
        self.core.store.generation().await?;
        let commit = self.core.store.commit(Arc::new(Batch::default()));
        match tokio::time::timeout(PATIENCE, commit).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(StoreError::Timeout),
        }
    }
}
