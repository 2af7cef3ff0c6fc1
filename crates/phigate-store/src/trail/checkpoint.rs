//! Checkpoints: signed ends of chains. A copy kept elsewhere shows a trail that was cut or rolled back.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;

use aws_lc_rs::signature::KeyPair;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use phigate_verify::chain::{digest_bytes, hex};
use phigate_verify::{Checkpoint, Fault, FaultKind, Follower};

use crate::rows::Head;
use crate::trail::Trail;
use crate::{Result, StoreError};

impl Trail {
    /// The key that verifies checkpoints and exports, base64. It is not a secret: keep it with the exports.
    pub fn public_key(&self) -> String {
        STANDARD.encode(self.core.keyring.root.signing.public_key().as_ref())
    }

    /// The signed ends of all chains now.
    pub async fn checkpoints(&self) -> Result<Vec<Checkpoint>> {
        let heads = self.core.store.heads(None).await?;
        Ok(heads
            .into_iter()
            .map(|head| self.checkpoint(&head))
            .collect())
    }

    /// Compares the store with checkpoints of it, and returns the first chain that differs.
    pub async fn compare_checkpoints(&self, outside: &[Checkpoint]) -> Result<Option<Fault>> {
        let public_key = self.public_key();
        let mut chains: BTreeMap<(&str, i64), Vec<&Checkpoint>> = BTreeMap::new();
        for one in outside {
            let chain = chains.entry((&one.account, one.lane)).or_default();
            chain.push(one);
        }
        for ((account, lane), mut chain) in chains {
            // The last checkpoint covers those before it; checkpoints without our signature are ignored.
            chain.sort_by_key(|one| std::cmp::Reverse(one.seq));
            let mut signed = chain.iter().filter(|one| one.is_signed_by(&public_key));
            let Some(one) = signed.next() else { continue };
            let Some(expected) = digest_bytes(&one.digest) else {
                continue;
            };
            let kind = match self.core.store.link_digest(account, lane, one.seq).await? {
                Some(found) if found == expected => continue,
                Some(_) => FaultKind::Changed,
                None => FaultKind::Truncated,
            };
            return Ok(Some(Follower::new(account, lane).at(kind, one.seq)));
        }
        Ok(None)
    }

    fn checkpoint(&self, head: &Head) -> Checkpoint {
        let signature = head.signature.clone().unwrap_or_default();
        Checkpoint {
            account: head.account.clone(),
            lane: head.lane,
            seq: head.seq,
            digest: hex(&head.digest),
            signature: STANDARD.encode(signature),
            time: self.core.now(),
        }
    }
}

/// Adds checkpoints to a file, one JSON line each, on disk when this returns.
pub fn append_checkpoints(path: &Path, checkpoints: &[Checkpoint]) -> Result<()> {
    let written = (|| {
        let mut text = String::new();
        for checkpoint in checkpoints {
            text.push_str(&serde_json::to_string(checkpoint)?);
            text.push('\n');
        }
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    })();
    written.map_err(|error| {
        StoreError::Unavailable(format!("cannot write checkpoints: {}", error.kind()))
    })
}

/// Reads such a file.
pub fn read_checkpoints(path: &Path) -> Result<Vec<Checkpoint>> {
    let unreadable = |_| StoreError::Unreadable("checkpoint file");
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut checkpoints = Vec::new();
    for line in std::io::BufReader::new(file).lines() {
        let line = line.map_err(unreadable)?;
        checkpoints.push(
            serde_json::from_str(&line).map_err(|_| StoreError::Unreadable("checkpoint file"))?,
        );
    }
    Ok(checkpoints)
}
