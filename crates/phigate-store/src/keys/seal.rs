//! Sealing: AES-256-GCM under a key made for one record, bound to the place of the value.
//!
//! Layout: version 1 ‖ data key id (8) ‖ salt (32) ‖ number (1) ‖ ciphertext ‖ tag (16). The values of a record share a
//! key, derived by HKDF from the data key and a random salt, and differ in their number, which is the nonce. So a data
//! key is safe for any number of records, and a record costs one derivation. The place (account, table, record, field)
//! is associated data: a sealed value that was copied to another row does not open there.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::keys::{expand, random};
use crate::{Result, SecretBytes, StoreError};

/// Id of a data key, as written in sealed values.
pub(super) type KeyId = [u8; 8];

const VERSION: u8 = 1;
const SALT: usize = 32;
const HEADER: usize = 1 + 8 + SALT + 1;

/// The place of a sealed value.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) account: &'a str,
    pub(crate) table: &'a str,
    pub(crate) record: &'a str,
    pub(crate) field: &'a str,
}

/// Seals a value for one place.
pub(crate) fn seal(key: &[u8; 32], id: KeyId, place: Place<'_>, plain: &[u8]) -> Vec<u8> {
    Sealer::new(key, id).seal(place, plain)
}

/// Seals the values of one record.
pub(crate) struct Sealer {
    aead: LessSafeKey,
    header: [u8; HEADER],
}

impl Sealer {
    pub(crate) fn new(key: &[u8; 32], id: KeyId) -> Self {
        let salt = random::<SALT>();
        let mut header = [0; HEADER];
        header[0] = VERSION;
        header[1..9].copy_from_slice(&id);
        header[9..9 + SALT].copy_from_slice(&salt);
        Self {
            aead: record_key(key, &salt),
            header,
        }
    }

    /// Seals one more value of the record, with the next number.
    pub(crate) fn seal(&mut self, place: Place<'_>, plain: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(HEADER + plain.len() + 16);
        sealed.extend_from_slice(&self.header);
        sealed.extend_from_slice(plain);
        let number = &mut self.header[HEADER - 1];
        let nonce = nonce(*number);
        *number = number
            .checked_add(1)
            .expect("a record has two values, not hundreds");
        let place = Aad::from(place.bytes(&sealed[1..9]));
        let tag = self
            .aead
            .seal_in_place_separate_tag(nonce, place, &mut sealed[HEADER..])
            .expect("a value is far below the size limit of AES-GCM");
        sealed.extend_from_slice(tag.as_ref());
        sealed
    }
}

/// The id of the data key that opens this value.
pub(crate) fn key_id(sealed: &[u8]) -> Result<KeyId> {
    match sealed {
        [VERSION, rest @ ..] if sealed.len() >= HEADER + 16 => {
            Ok(rest[..8].try_into().expect("eight bytes were taken"))
        }
        _ => Err(StoreError::Unreadable("sealed value")),
    }
}

/// Opens a value of this place.
pub(crate) fn open(key: &[u8; 32], place: Place<'_>, sealed: &[u8]) -> Result<SecretBytes> {
    let id = key_id(sealed)?;
    let aead = record_key(key, &sealed[9..9 + SALT]);
    let nonce = nonce(sealed[HEADER - 1]);
    let mut plain = Zeroizing::new(sealed[HEADER..].to_vec());
    let length = aead
        .open_in_place(nonce, Aad::from(place.bytes(&id)), &mut plain)
        .map_err(|_| StoreError::Unreadable("sealed value"))?
        .len();
    plain.truncate(length);
    Ok(SecretBytes::new(std::mem::take(&mut *plain)))
}

fn record_key(key: &[u8; 32], salt: &[u8]) -> LessSafeKey {
    let mut material = Zeroizing::new([0; 32]);
    expand(key, salt, b"phigate seal v1", &mut *material);
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &*material).expect("the key is 32 bytes"))
}

/// The nonce of a number. Nonces never repeat under one key: every record has a key, and every value of it a number.
fn nonce(number: u8) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[NONCE_LEN - 1] = number;
    Nonce::assume_unique_for_key(bytes)
}

impl Place<'_> {
    /// The place as bytes, length-prefixed, so that different places never have the same bytes.
    fn bytes(&self, id: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(160);
        bytes.extend_from_slice(b"phigate place v1");
        for part in [self.account, self.table, self.record, self.field] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes.extend_from_slice(id);
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
    fn sealed_value_opens_in_its_place() {
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
            // Equal characters, divided differently.
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
    fn values_of_a_record_have_distinct_nonces() {
        let mut sealer = Sealer::new(&[7; 32], [1; 8]);
        let (one, two) = (sealer.seal(HERE, b"same"), sealer.seal(HERE, b"same"));
        assert_eq!(one[..HEADER - 1], two[..HEADER - 1]);
        assert_ne!(one[HEADER..], two[HEADER..]);
        for sealed in [one, two] {
            assert_eq!(open(&[7; 32], HERE, &sealed).unwrap().expose(), b"same");
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
