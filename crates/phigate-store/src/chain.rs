//! Digests, keyed hashes and signatures that tie the records of an account together.
//!
//! Each account has one chain per writing process ("lane"). A record's *leaf* is the digest of the
//! record alone; its *digest* covers the leaf and the digest before it, so the last one stands for
//! the whole chain. The keyed hash lets a holder of the master key name the very record that was
//! changed; the signature at the end of every group lets anybody with the public key verify.

use crate::store::{Link, NewRecord};
use aws_lc_rs::digest::{Context, SHA256};
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};
use uuid::Uuid;

/// The digest before the first record.
pub(crate) const START: [u8; 32] = [0; 32];

/// Digest of one record: who, when, and its exact text.
pub(crate) fn leaf(account: &str, id: Uuid, time_us: i64, body: &str) -> [u8; 32] {
    digest(
        b"phigate leaf v1",
        &[
            account.as_bytes(),
            id.as_bytes(),
            &time_us.to_be_bytes(),
            body.as_bytes(),
        ],
    )
}

/// Digest of a chain up to and including a record.
pub(crate) fn link(
    account: &str,
    lane: i64,
    seq: i64,
    before: &[u8; 32],
    leaf: &[u8; 32],
) -> [u8; 32] {
    digest(
        b"phigate link v1",
        &[
            account.as_bytes(),
            &lane.to_be_bytes(),
            &seq.to_be_bytes(),
            before,
            leaf,
        ],
    )
}

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

/// Whether a signature over the end of a chain is right.
pub(crate) fn signed(
    public: &[u8],
    account: &str,
    lane: i64,
    seq: i64,
    digest: &[u8; 32],
    signature: &[u8],
) -> bool {
    UnparsedPublicKey::new(&ED25519, public)
        .verify(&statement(account, lane, seq, digest), signature)
        .is_ok()
}

/// SHA-256 over length-prefixed parts, so that no two lists of parts read the same.
pub(crate) fn digest(label: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    for part in std::iter::once(&label).chain(parts) {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    context
        .finish()
        .as_ref()
        .try_into()
        .expect("SHA-256 gives 32 bytes")
}

/// Appends rows to chains; remembers where each chain of this lane ends.
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

fn statement(account: &str, lane: i64, seq: i64, digest: &[u8; 32]) -> Vec<u8> {
    let mut bytes = b"phigate checkpoint v1".to_vec();
    bytes.extend_from_slice(&(account.len() as u64).to_be_bytes());
    bytes.extend_from_slice(account.as_bytes());
    bytes.extend_from_slice(&lane.to_be_bytes());
    bytes.extend_from_slice(&seq.to_be_bytes());
    bytes.extend_from_slice(digest);
    bytes
}
