//! Sealing: AES-256-GCM under a key made for this one value, bound to the place the value belongs.
//!
//! Layout: version 1 ‖ data key id (8) ‖ salt (32) ‖ ciphertext ‖ tag (16). Each value gets its own
//! key and nonce by HKDF from the data key and a random salt, so no number of values wears a data
//! key out. The place (account, table, record, field) is associated data: a sealed value copied to
//! another row does not open there.

use crate::keys::{expand, random};
use crate::{Result, SecretBytes, StoreError};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

/// Names a data key inside sealed values.
pub(crate) type KeyId = [u8; 8];

const VERSION: u8 = 1;
const SALT: usize = 32;
const HEADER: usize = 1 + 8 + SALT;

/// Where a sealed value belongs.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) account: &'a str,
    pub(crate) table: &'a str,
    pub(crate) record: &'a str,
    pub(crate) field: &'a str,
}

/// Seals a value for one place.
pub(crate) fn seal(key: &[u8; 32], id: KeyId, place: Place<'_>, plain: &[u8]) -> Vec<u8> {
    let salt = random::<SALT>();
    let mut sealed = Vec::with_capacity(HEADER + plain.len() + 16);
    sealed.push(VERSION);
    sealed.extend_from_slice(&id);
    sealed.extend_from_slice(&salt);
    sealed.extend_from_slice(plain);
    let (aead, nonce) = value_key(key, &salt);
    let tag = aead
        .seal_in_place_separate_tag(nonce, Aad::from(place.bytes(id)), &mut sealed[HEADER..])
        .expect("a value is far below the size limit of AES-GCM");
    sealed.extend_from_slice(tag.as_ref());
    sealed
}

/// Which data key opens this value.
pub(crate) fn key_id(sealed: &[u8]) -> Result<KeyId> {
    match sealed {
        [VERSION, rest @ ..] if sealed.len() >= HEADER + 16 => {
            Ok(rest[..8].try_into().expect("eight bytes were taken"))
        }
        _ => Err(StoreError::Unreadable("sealed value")),
    }
}

/// Opens a value in its place.
pub(crate) fn open(key: &[u8; 32], place: Place<'_>, sealed: &[u8]) -> Result<SecretBytes> {
    let id = key_id(sealed)?;
    let (aead, nonce) = value_key(key, &sealed[9..HEADER]);
    let mut plain = Zeroizing::new(sealed[HEADER..].to_vec());
    let length = aead
        .open_in_place(nonce, Aad::from(place.bytes(id)), &mut plain)
        .map_err(|_| StoreError::Unreadable("sealed value"))?
        .len();
    plain.truncate(length);
    Ok(SecretBytes::new(std::mem::take(&mut *plain)))
}

fn value_key(key: &[u8; 32], salt: &[u8]) -> (LessSafeKey, Nonce) {
    let mut material = Zeroizing::new([0; 44]);
    expand(key, salt, b"phigate seal v1", &mut *material);
    let aead = UnboundKey::new(&AES_256_GCM, &material[..32]).expect("the key is 32 bytes");
    let nonce = Nonce::try_assume_unique_for_key(&material[32..]).expect("the nonce is 12 bytes");
    (LessSafeKey::new(aead), nonce)
}

impl Place<'_> {
    /// Length-prefixed, so that no two places read the same.
    fn bytes(&self, id: KeyId) -> Vec<u8> {
        let mut bytes = b"phigate place v1".to_vec();
        for part in [self.account, self.table, self.record, self.field] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes.extend_from_slice(&id);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Place<'_> = Place {
        account: "a",
        table: "t",
        record: "r",
        field: "f",
    };

    #[test]
    fn what_was_sealed_opens_in_its_place() {
        let sealed = seal(&[7; 32], [1; 8], HERE, b"Jane Roe");
        assert_eq!(open(&[7; 32], HERE, &sealed).unwrap().expose(), b"Jane Roe");
        assert_eq!(key_id(&sealed).unwrap(), [1; 8]);
    }

    #[test]
    fn no_sealed_value_opens_elsewhere_or_changed() {
        let sealed = seal(&[7; 32], [1; 8], HERE, b"Jane Roe");
        let elsewhere = [
            Place {
                account: "b",
                ..HERE
            },
            Place { table: "u", ..HERE },
            Place {
                record: "s",
                ..HERE
            },
            Place { field: "g", ..HERE },
            // The same letters, cut differently.
            Place {
                account: "at",
                table: "",
                ..HERE
            },
        ];
        for place in elsewhere {
            assert!(open(&[7; 32], place, &sealed).is_err());
        }
        assert!(open(&[8; 32], HERE, &sealed).is_err());
        for position in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[position] ^= 1;
            assert!(open(&[7; 32], HERE, &changed).is_err(), "byte {position}");
            assert!(
                open(&[7; 32], HERE, &sealed[..position]).is_err(),
                "cut at {position}"
            );
        }
    }

    #[test]
    fn sealing_twice_gives_different_bytes() {
        assert_ne!(
            seal(&[7; 32], [1; 8], HERE, b"x"),
            seal(&[7; 32], [1; 8], HERE, b"x")
        );
    }
}
