//! Extension of chains, for holders of the keys. Digests and verification are in `phigate_verify`.
//!
//! Each account has one chain per writing process ("lane"). The keyed hash lets a holder of the master key name the
//! very record that was changed; the signature at the end of every group can be verified with the public key alone.

use aws_lc_rs::hmac;
use aws_lc_rs::signature::Ed25519KeyPair;
use phigate_verify::chain::{START, link, statement};

use crate::rows::{Link, NewRecord};

/// Keyed hash of a digest.
pub(crate) fn mac(key: &hmac::Key, digest: &[u8; 32]) -> [u8; 16] {
    hmac::sign(key, digest).as_ref()[..16]
        .try_into()
        .expect("sixteen bytes were taken")
}

/// Signature over the end of a chain.
pub(crate) fn sign(
    key: &Ed25519KeyPair,
    account: &str,
    lane: i64,
    seq: i64,
    digest: &[u8; 32],
) -> Vec<u8> {
    key.sign(&statement(account, lane, seq, digest))
        .as_ref()
        .to_vec()
}

/// Appends rows to chains; remembers the last row of each chain of this lane.
pub(crate) struct Linker {
    pub(crate) lane: i64,
    pub(crate) heads: std::collections::HashMap<String, (i64, [u8; 32])>,
}

impl Linker {
    /// Links a row to the end of its account's chain, which must be known.
    pub(crate) fn append(&mut self, key: &hmac::Key, account: &str, leaf: [u8; 32]) -> Link {
        let (seq, before) = self.heads.get(account).copied().unwrap_or((0, START));
        let seq = seq + 1;
        let digest = link(account, self.lane, seq, &before, &leaf);
        match self.heads.get_mut(account) {
            Some(end) => *end = (seq, digest),
            None => drop(self.heads.insert(account.to_owned(), (seq, digest))),
        }
        Link {
            lane: self.lane,
            seq,
            leaf,
            digest,
            mac: mac(key, &digest),
            signature: None,
        }
    }
}

/// Signs the last link of every account in a group.
pub(crate) fn sign_ends(key: &Ed25519KeyPair, records: &mut [NewRecord]) {
    let mut done: Vec<&str> = Vec::new();
    for NewRecord { row, link, .. } in records.iter_mut().rev() {
        let is_last = !done.contains(&row.account.as_str());
        if is_last {
            done.push(&row.account);
            link.signature = Some(sign(key, &row.account, link.lane, link.seq, &link.digest));
        }
    }
}
