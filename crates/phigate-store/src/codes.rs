//! Keyed codes of texts: equal texts have equal codes, and without the key a code says nothing.

use aws_lc_rs::{cmac, hmac};

/// A key for short codes: AES-CMAC, which takes a fifth of the time of an HMAC. Every value of a request gets one.
pub(crate) fn short_key(key: [u8; 32]) -> cmac::Key {
    cmac::Key::new(cmac::AES_256, &key).expect("the key has the length of an AES-256 key")
}

/// Keyed code of several texts, see [`sign`].
pub(crate) fn short_code(key: &cmac::Key, parts: &[&str]) -> [u8; 16] {
    let mut context = cmac::Context::with_key(key);
    for (position, part) in parts.iter().enumerate() {
        let border: &[u8] = if position > 0 { &[0] } else { &[] };
        for bytes in [border, part.as_bytes()] {
            context.update(bytes).expect("texts are short enough");
        }
    }
    let tag = context.sign().expect("an AES key signs");
    let mut out = [0; 16];
    out.copy_from_slice(tag.as_ref());
    out
}

/// Keyed hash of several texts. A NUL separates them, because account ids, kinds and ids never contain it; the last
/// text may hold anything.
pub(crate) fn sign(key: &hmac::Key, parts: &[&str]) -> [u8; 32] {
    let mut context = hmac::Context::with_key(key);
    for (position, part) in parts.iter().enumerate() {
        if position > 0 {
            context.update(&[0]);
        }
        context.update(part.as_bytes());
    }
    let mut out = [0; 32];
    out.copy_from_slice(context.sign().as_ref());
    out
}
