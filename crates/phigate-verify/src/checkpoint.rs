//! Checkpoints: signed ends of chains. A copy kept elsewhere shows a trail that was cut or rolled back.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::chain::{self, digest_bytes};

/// The signed end of one chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Id of the account; empty for the installation's own records.
    pub account: String,
    /// Lane of the chain.
    pub lane: i64,
    /// Number of records in it.
    pub seq: i64,
    /// Digest of all of them.
    pub digest: String,
    /// Signature, base64.
    pub signature: String,
    /// Time of the checkpoint.
    pub time: Timestamp,
}

impl Checkpoint {
    /// Whether the signature is valid.
    pub fn is_signed_by(&self, public_key: &str) -> bool {
        let (Ok(key), Ok(signature)) = (
            STANDARD.decode(public_key),
            STANDARD.decode(&self.signature),
        ) else {
            return false;
        };
        match digest_bytes(&self.digest) {
            Some(digest) => chain::signed(
                &key,
                &self.account,
                self.lane,
                self.seq,
                &digest,
                &signature,
            ),
            None => false,
        }
    }
}

/// Places that checkpoints name on one chain.
pub fn watched<'a>(
    outside: &'a [Checkpoint],
    account: &'a str,
    lane: i64,
) -> impl Iterator<Item = (i64, [u8; 32])> + 'a {
    let here =
        move |checkpoint: &&Checkpoint| checkpoint.account == account && checkpoint.lane == lane;
    outside
        .iter()
        .filter(here)
        .filter_map(|checkpoint| Some((checkpoint.seq, digest_bytes(&checkpoint.digest)?)))
}
