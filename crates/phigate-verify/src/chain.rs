//! Digests and signatures that tie the records of an account together.
//!
//! A record's *leaf* is the digest of the record alone; its *digest* covers the leaf and the digest before it, so the
//! last digest covers the whole chain.

use aws_lc_rs::digest::{self, Context, SHA256};
use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use uuid::Uuid;

/// Digest before the first record.
pub const START: [u8; 32] = [0; 32];

/// Digest of one record: account, id, time and exact text.
pub fn leaf(account: &str, id: Uuid, time_us: i64, body: &str) -> [u8; 32] {
    digest_joined(
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
    digest_joined(
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

/// Whether a signature over the end of a chain is valid.
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

/// SHA-256 over length-prefixed parts, so that two different lists of parts never hash the same bytes.
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

/// Digest of short parts that are not secret: one copy is cheaper to hash than each part.
fn digest_joined(label: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let all = || std::iter::once(&label).chain(parts);
    let mut bytes = Vec::with_capacity(all().map(|part| 8 + part.len()).sum());
    for part in all() {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part);
    }
    digest::digest(&SHA256, &bytes)
        .as_ref()
        .try_into()
        .expect("SHA-256 gives 32 bytes")
}

/// Signed statement about the end of a chain.
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

/// Parses a hexadecimal digest.
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
        for wrong in ["zz", &"zz".repeat(32), &"0".repeat(63), &"0".repeat(66)] {
            assert_eq!(digest_bytes(wrong), None, "{wrong}");
        }
    }

    /// Existing exports depend on these formats. The values were computed by another program (hashlib and cryptography
    /// of Python), from docs/decisions/audit-chain.md.
    #[test]
    fn hashed_and_signed_bytes_are_stable() {
        let id = Uuid::from_u128(0x0190_a1b2_c3d4_7e5f_8a9b_0c1d_2e3f_4a5b);
        let body = r#"{"record":"admin","note":"1"}"#;
        let leaf = leaf("clinic", id, 1_767_225_600_000_001, body);
        assert_eq!(
            hex(&leaf),
            "944da37b8a27e0b0c01360ec09a7026a29a67b86457e5f92e70c326776d0cd5d"
        );
        let digest = link("clinic", 2, 7, &[9; 32], &leaf);
        const DIGEST: &str = "a7d9dbbac42af7bbcc3fdefeede65a6aa6c1e8fd2a63572913e47274a31b613f";
        assert_eq!(hex(&digest), DIGEST);
        let signed_bytes = "7068696761746520636865636b706f696e742076310000000000000006636c696e6963\
                            00000000000000020000000000000007"
            .to_owned()
            + DIGEST;
        assert_eq!(hex(&statement("clinic", 2, 7, &digest)), signed_bytes);
        let [key, first, second] = [
            "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c",
            "355c5baaff675400fafa8066f2b5792bcda66b967fe486f0f471725451d55596",
            "4d8cab43bea00c99fd9b4a0a6c85a22ad39dbbde8cedfd63af570747a2c10f01",
        ]
        .map(|text| digest_bytes(text).unwrap());
        let signature = [first, second].concat();
        assert!(signed(&key, "clinic", 2, 7, &digest, &signature));
        assert!(!signed(&key, "clinic", 2, 8, &digest, &signature));
    }
}
