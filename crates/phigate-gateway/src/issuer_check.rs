//! Checks of a token issuer's settings: one place for the command line, the admin API and the page.

use phigate_store::IssuerConfig;
use phigate_types::is_provider_name;

use crate::field_error::FieldError;
use crate::provider::BaseUrl;

/// Longest audience, claim and value of a claim, in bytes.
const WORD_BYTES_MAX: usize = 500;
/// Most claims of an issuer.
const CLAIMS_MAX: usize = 16;

/// Checks the settings of an issuer whose tokens act as a key.
pub fn check_issuer(
    name: &str,
    config: &IssuerConfig,
    allow_private: bool,
) -> Result<(), FieldError> {
    if !is_provider_name(name) {
        let why = "takes 1 to 32 lower-case letters, digits and hyphens, and does not begin with a hyphen";
        return Err(FieldError::new("name", why));
    }
    BaseUrl::parse(&config.issuer, allow_private)
        .map_err(|error| FieldError::new("issuer", format!("cannot be used: {error}")))?;
    if !is_word(&config.audience) {
        let why = format!("takes 1 to {WORD_BYTES_MAX} bytes");
        return Err(FieldError::new("audience", why));
    }
    if config.claims.len() > CLAIMS_MAX {
        let why = format!("is given more than {CLAIMS_MAX} times");
        return Err(FieldError::new("claim", why));
    }
    let mut claims = config.claims.iter();
    if !claims.all(|(name, value)| is_word(name) && is_word(value)) {
        let why = format!("takes NAME=VALUE, each of 1 to {WORD_BYTES_MAX} bytes");
        return Err(FieldError::new("claim", why));
    }
    Ok(())
}

fn is_word(text: &str) -> bool {
    let is_short = (1..=WORD_BYTES_MAX).contains(&text.len());
    is_short && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_issuer_settings_are_named() {
        let config = |issuer: &str, audience: &str, claim: (&str, &str)| IssuerConfig {
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            claims: [(claim.0.to_owned(), claim.1.to_owned())].into(),
            key_id: "abcdefghijkl".to_owned(),
        };
        let (url, pair) = ("https://idp.example", ("azp", "a=b"));
        let field =
            |name: &str, config| check_issuer(name, &config, false).map_err(|error| error.field);
        assert_eq!(field("intake", config(url, "api", pair)), Ok(()));
        assert_eq!(field("In take", config(url, "api", pair)), Err("name"));
        assert_eq!(
            field("a", config("http://idp.example", "api", pair)),
            Err("issuer")
        );
        assert_eq!(
            field("a", config("https://127.0.0.1", "api", pair)),
            Err("issuer")
        );
        assert_eq!(field("a", config(url, "", pair)), Err("audience"));
        for pair in [("", "x"), ("azp", ""), ("a", "\n")] {
            assert_eq!(field("a", config(url, "api", pair)), Err("claim"));
        }
        let mut many = config(url, "api", pair);
        many.claims = (0..17)
            .map(|at| (format!("c{at}"), "v".to_owned()))
            .collect();
        assert_eq!(field("a", many), Err("claim"));
    }
}
