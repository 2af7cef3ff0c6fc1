//! API keys: `phg_`, or `pha_` for the admin API, + public id + `_` + secret + checksum.
//!
//! The checksum lets junk be refused before a secret is compared. What is stored is a keyed hash of
//! the whole key; a fast hash is right here, because the secret has 256 bits.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use aws_lc_rs::hmac;
use subtle::ConstantTimeEq;

use crate::keys::{random_base62, random_id};
use crate::{AdmitError, SecretString};

/// Prefix of callers' keys.
pub(crate) const CALLER: &str = "phg_";
/// Prefix of keys of the admin API.
pub(crate) const ADMIN: &str = "pha_";
const ID: usize = 12;
/// 43 base62 characters hold 256 bits.
const SECRET: usize = 43;
const CHECK: usize = 6;

/// A new key with this prefix, and its public id.
pub(crate) fn generate(prefix: &str) -> (String, SecretString) {
    let id = random_id(ID);
    let body = format!("{prefix}{id}_{}", random_base62(SECRET));
    let check = checksum(&body).map(char::from);
    let key = body.chars().chain(check).collect();
    (id, SecretString::new(key))
}

/// The text in the place of the public id, without validation of the rest.
pub(crate) fn claimed_id(key: &str) -> Option<&str> {
    key.strip_prefix(CALLER)?.get(..ID)
}

/// The public id of a well-formed key with this prefix.
pub(crate) fn public_id<'k>(prefix: &str, key: &'k str) -> Result<&'k str, AdmitError> {
    if key.is_empty() {
        return Err(AdmitError::Missing);
    }
    let well_formed = key.len() == prefix.len() + ID + 1 + SECRET + CHECK
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && key.starts_with(prefix)
        && key.as_bytes()[prefix.len() + ID] == b'_';
    if !well_formed {
        return Err(AdmitError::Malformed);
    }
    let (body, check) = key.split_at(key.len() - CHECK);
    if checksum(body) != *check.as_bytes() {
        return Err(AdmitError::Malformed);
    }
    Ok(&key[prefix.len()..prefix.len() + ID])
}

/// The stored keyed hash.
pub(crate) fn hash(pepper: &hmac::Key, key: &str) -> [u8; 32] {
    hmac::sign(pepper, key.as_bytes())
        .as_ref()
        .try_into()
        .expect("HMAC-SHA-256 gives 32 bytes")
}

/// Whether a key has this stored hash, compared in constant time.
pub(crate) fn matches(pepper: &hmac::Key, key: &str, stored: &[u8]) -> bool {
    hash(pepper, key).ct_eq(stored).into()
}

/// Cache id of a verified key, much cheaper than its hash: 128 bits of a keyed hash with a random seed of this process.
pub(crate) fn fingerprint(key: &str) -> [u64; 2] {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    [0, 1].map(|half: u8| SEED.hash_one((half, key)))
}

/// CRC-32 as six base62 characters.
fn checksum(text: &str) -> [u8; CHECK] {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = crc32(text.as_bytes()) as usize;
    let mut out = [b'0'; CHECK];
    for place in out.iter_mut().rev() {
        *place = LETTERS[rest % 62];
        rest /= 62;
    }
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    let next = |crc: u32, byte: &u8| (crc >> 8) ^ CRC_TABLE[usize::from(crc as u8 ^ byte)];
    !bytes.iter().fold(u32::MAX, next)
}

/// CRC-32 table, because every request computes a checksum.
static CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & 0u32.wrapping_sub(crc & 1));
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_crc() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn changed_key_is_refused() {
        let (id, key) = generate(CALLER);
        assert_eq!(public_id(CALLER, key.expose()).unwrap(), id);
        assert_eq!(claimed_id(key.expose()), Some(id.as_str()));
        for position in 0..key.expose().len() {
            let mut changed = key.expose().as_bytes().to_vec();
            changed[position] = if changed[position] == b'x' {
                b'y'
            } else {
                b'x'
            };
            let changed = String::from_utf8(changed).unwrap();
            assert!(public_id(CALLER, &changed).is_err(), "position {position}");
        }
        assert!(public_id(ADMIN, key.expose()).is_err());
        assert!(matches!(public_id(CALLER, ""), Err(AdmitError::Missing)));
        assert!(matches!(
            public_id(CALLER, "phg_ü"),
            Err(AdmitError::Malformed)
        ));
    }

    #[test]
    fn only_the_right_key_matches_its_hash() {
        let pepper = hmac::Key::new(hmac::HMAC_SHA256, &[1; 32]);
        let (_, key) = generate(CALLER);
        let (_, other) = generate(CALLER);
        let stored = hash(&pepper, key.expose());
        assert!(matches(&pepper, key.expose(), &stored));
        assert!(!matches(&pepper, other.expose(), &stored));
    }

    #[test]
    fn fingerprints_of_keys_differ() {
        let (_, key) = generate(CALLER);
        let of_key = fingerprint(key.expose());
        assert_eq!(fingerprint(key.expose()), of_key);
        assert_ne!(of_key[0], of_key[1]);
        for position in 0..key.expose().len() {
            let mut changed = key.expose().as_bytes().to_vec();
            changed[position] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            let of_changed = fingerprint(&changed);
            assert!(of_changed[0] != of_key[0] && of_changed[1] != of_key[1]);
        }
    }
}
