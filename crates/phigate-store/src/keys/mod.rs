//! Keys: sources of the master key, the data keys that it wraps, sealing, API keys.

pub(crate) mod api_key;
pub(crate) mod keyring;
pub(crate) mod master;
mod opening;
pub(crate) mod root;
pub(crate) mod seal;
pub(crate) mod wrapped;

use aws_lc_rs::{hkdf, rand};
use zeroize::Zeroizing;

/// A 256-bit key, wiped when dropped.
pub(crate) type Key = Zeroizing<[u8; 32]>;

/// Random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::fill(&mut bytes)
        .expect("the operating system's random source works, or nothing may go on");
    bytes
}

/// A key for one purpose, derived from another key.
pub(crate) fn derive(key: &[u8; 32], purpose: &str) -> Key {
    let mut out = Zeroizing::new([0; 32]);
    expand(key, b"phigate derive v1", purpose.as_bytes(), &mut *out);
    out
}

/// HKDF-SHA-256.
pub(crate) fn expand(key: &[u8], salt: &[u8], info: &[u8], out: &mut [u8]) {
    struct Length(usize);
    impl hkdf::KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    hkdf::Salt::new(hkdf::HKDF_SHA256, salt)
        .extract(key)
        .expand(&[info], Length(out.len()))
        .and_then(|okm| okm.fill(out))
        .expect("at most 255 blocks are asked for");
}

/// Random text of lower-case letters and digits.
pub(crate) fn random_id(length: usize) -> String {
    pick(b"abcdefghijklmnopqrstuvwxyz0123456789", length)
}

/// Random text of letters and digits, about 5.95 bits each.
pub(crate) fn random_base62(length: usize) -> String {
    pick(
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        length,
    )
}

fn pick(alphabet: &[u8], length: usize) -> String {
    // Rejection sampling keeps all characters equally likely.
    let fair = 256 - 256 % alphabet.len();
    let mut text = String::with_capacity(length);
    while text.len() < length {
        for byte in random::<64>() {
            if usize::from(byte) < fair && text.len() < length {
                text.push(char::from(alphabet[usize::from(byte) % alphabet.len()]));
            }
        }
    }
    text
}
