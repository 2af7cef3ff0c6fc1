//! Rules for a provider's key, which is sent in a header.

const BYTES_MAX: usize = 1_000;

/// The reason why a text cannot be a provider's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "that does not look like an API key: it holds spaces or unusual characters, or is too long"
)]
pub struct KeyError;

/// Refuses a key that no header can carry, before it is stored and fails at the first request.
pub fn check_key(key: &str) -> Result<(), KeyError> {
    let fits = key.len() <= BYTES_MAX && key.bytes().all(|byte| byte.is_ascii_graphic());
    if fits { Ok(()) } else { Err(KeyError) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_must_fit_a_header() {
        assert_eq!(check_key("sk-invented_key.123"), Ok(()));
        let long = "x".repeat(BYTES_MAX + 1);
        for key in ["two words", "line\nbreak", "schlüssel", &long] {
            assert_eq!(check_key(key), Err(KeyError), "{key}");
        }
    }
}
