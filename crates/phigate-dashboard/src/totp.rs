//! Time-based one-time codes (RFC 6238): six digits, thirty seconds, SHA-1, as every authenticator app expects.

use aws_lc_rs::{hmac, rand};
use data_encoding::BASE32_NOPAD;
use subtle::ConstantTimeEq;

use super::fields::encode;

const STEP_S: u64 = 30;
const SECRET_BYTES: usize = 20;

/// Returns a fresh secret in base32, the form that apps take; `None` if the system gives no randomness.
pub(crate) fn fresh_secret() -> Option<String> {
    let mut bytes = [0; SECRET_BYTES];
    rand::fill(&mut bytes).ok()?;
    Some(base32(&bytes))
}

/// The step at which a code is right, if it is: now, one before or one after, for clocks that differ a little.
/// The caller keeps the step and takes no code of that step or an earlier one again.
pub(crate) fn matching_step(secret: &str, code: &str, now_s: u64) -> Option<u64> {
    let key = decode(secret)?;
    let digits: String = code
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    let now = now_s / STEP_S;
    [now, now.saturating_sub(1), now + 1]
        .into_iter()
        .find(|step| bool::from(digits.as_bytes().ct_eq(code_at(&key, *step).as_bytes())))
}

/// The address that apps read from a QR code or a link.
pub(crate) fn address(secret: &str, email: &str) -> String {
    let label = encode(email);
    format!(
        "otpauth://totp/phigate:{label}?secret={secret}&issuer=phigate&algorithm=SHA1&digits=6&period=30"
    )
}

/// A secret in groups of four, for typing.
pub(crate) fn grouped(secret: &str) -> String {
    let letters: Vec<char> = secret.chars().collect();
    letters
        .chunks(4)
        .map(|group| group.iter().collect::<String>())
        .collect::<Vec<_>>()
        .join(" ")
}

fn code_at(key: &[u8], step: u64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let offset = usize::from(tag[tag.len() - 1] & 0x0f);
    let word = u32::from_be_bytes([
        tag[offset],
        tag[offset + 1],
        tag[offset + 2],
        tag[offset + 3],
    ]);
    format!("{:06}", (word & 0x7fff_ffff) % 1_000_000)
}

fn base32(bytes: &[u8]) -> String {
    BASE32_NOPAD.encode(bytes)
}

/// Reads a secret as people type it: in groups, in either case.
fn decode(text: &str) -> Option<Vec<u8>> {
    let letters = text.bytes().filter(|letter| *letter != b' ');
    let letters: Vec<u8> = letters.map(|letter| letter.to_ascii_uppercase()).collect();
    BASE32_NOPAD.decode(&letters).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 6238, appendix B: the secret is "12345678901234567890"; the last six of its eight digits.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = base32(b"12345678901234567890");
        for (now_s, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(
                matching_step(&secret, code, now_s),
                Some(now_s / 30),
                "at {now_s}"
            );
        }
    }

    #[test]
    fn code_is_valid_one_step_either_side() {
        let secret = base32(b"12345678901234567890");
        let step = 1_234_567_890 / 30;
        for (now_s, is_right) in [
            (0, true),
            (30, true),
            (-30, true),
            (60, false),
            (-60, false),
        ] {
            let found = matching_step(&secret, "005 924", (1_234_567_890 + now_s) as u64);
            assert_eq!(found, is_right.then_some(step), "{now_s} s away");
        }
    }

    #[test]
    fn nonsense_is_never_a_code() {
        let secret = fresh_secret().unwrap();
        for code in ["", "12345", "1234567", "abcdef", "０００００0"] {
            assert_eq!(matching_step(&secret, code, 1_000), None, "{code}");
        }
        assert_eq!(matching_step("not base32 !", "123456", 1_000), None);
    }

    #[test]
    fn secrets_survive_being_written_and_read() {
        let secret = fresh_secret().unwrap();
        assert_eq!(secret.len(), 32);
        assert_eq!(base32(&decode(&grouped(&secret)).unwrap()), secret);
        assert_ne!(secret, fresh_secret().unwrap());
    }

    #[test]
    fn addresses_hold_nothing_that_ends_them_early() {
        let address = address("ABC", "a&b?c#d@clinic.example");
        assert!(
            address
                .starts_with("otpauth://totp/phigate:a%26b%3Fc%23d%40clinic.example?secret=ABC&")
        );
    }
}
