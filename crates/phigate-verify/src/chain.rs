//! Digests and signatures that tie the records of an account together.
//!
//! A record's *leaf* is the digest of the record alone; its *digest* covers the leaf and the digest before it, so the
//! last one stands for the whole chain.

use aws_lc_rs::digest::{Context, SHA256};
use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use uuid::Uuid;

/// The digest before the first record.
pub const START: [u8; 32] = [0; 32];

/// Digest of one record: who, when, and its exact text.
pub fn leaf(account: &str, id: Uuid, time_us: i64, body: &str) -> [u8; 32] {
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
pub fn link(account: &str, lane: i64, seq: i64, before: &[u8; 32], leaf: &[u8; 32]) -> [u8; 32] {
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

/// Whether a signature over the end of a chain is right.
pub fn signed(
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
pub fn digest(label: &[u8], parts: &[&[u8]]) -> [u8; 32] {
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

/// What is signed at the end of a chain.
pub fn statement(account: &str, lane: i64, seq: i64, digest: &[u8; 32]) -> Vec<u8> {
    let mut bytes = b"phigate checkpoint v1".to_vec();
    bytes.extend_from_slice(&(account.len() as u64).to_be_bytes());
    bytes.extend_from_slice(account.as_bytes());
    bytes.extend_from_slice(&lane.to_be_bytes());
    bytes.extend_from_slice(&seq.to_be_bytes());
    bytes.extend_from_slice(digest);
    bytes
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Reads a digest written as hexadecimal.
pub fn digest_bytes(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_read_back() {
        assert_eq!(digest_bytes(&hex(&[0xa5; 32])), Some([0xa5; 32]));
        assert_eq!(digest_bytes("zz"), None);
    }
}
