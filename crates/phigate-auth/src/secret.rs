//! Secrets: text that is never shown, and owners' secrets for each way to authenticate.

use std::fmt;

use serde::Deserialize;
use zeroize::Zeroizing;

use crate::rsa_key::SigningKey;

/// Text that must not be printed: zeroed on drop, shown as a length only.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes ownership of the text.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text. The name stands out in review.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Secret({} bytes)", self.0.len())
    }
}

/// Reason why a secret is refused, without quoting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Not the JSON of AWS credentials.
    #[error(
        "the secret must be JSON with access_key_id, secret_access_key and, for temporary credentials, session_token"
    )]
    Aws,
    /// Not the JSON of a service account.
    #[error(
        "the secret must be the JSON file of a Google service account (type service_account, with client_email and private_key)"
    )]
    Google,
    /// The private key inside cannot be read.
    #[error("the private_key of the service account cannot be read: it must be an RSA key in PEM")]
    GoogleKey,
}

/// AWS credentials as an owner enters them.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AwsSecret {
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: Secret,
    #[serde(default)]
    pub(crate) session_token: Option<Secret>,
}

impl AwsSecret {
    pub(crate) fn read(secret: &str) -> Result<Self, SecretError> {
        // `serde_json` quotes unexpected input, so its message is dropped.
        let read: Self = serde_json::from_str(secret).map_err(|_| SecretError::Aws)?;
        let is_id = (4..=128).contains(&read.access_key_id.len())
            && read
                .access_key_id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_key = |key: &Secret| !key.expose().is_empty() && is_visible(key.expose());
        let token_is_fine = read.session_token.as_ref().is_none_or(is_key);
        if is_id && is_key(&read.secret_access_key) && token_is_fine {
            Ok(read)
        } else {
            Err(SecretError::Aws)
        }
    }
}

/// A service account file of Google, as far as it is needed.
#[derive(Deserialize)]
struct AccountFile {
    r#type: String,
    client_email: String,
    private_key: Secret,
    #[serde(default)]
    private_key_id: Option<String>,
}

/// A service account that can sign.
pub(crate) struct ServiceAccount {
    pub(crate) email: String,
    pub(crate) key_id: Option<String>,
    pub(crate) key: SigningKey,
}

impl ServiceAccount {
    pub(crate) fn read(secret: &str) -> Result<Self, SecretError> {
        let file: AccountFile = serde_json::from_str(secret).map_err(|_| SecretError::Google)?;
        let is_whole = file.r#type == "service_account"
            && file.client_email.contains('@')
            && is_visible(&file.client_email);
        if !is_whole {
            return Err(SecretError::Google);
        }
        let key = SigningKey::read(file.private_key.expose()).ok_or(SecretError::GoogleKey)?;
        Ok(Self {
            email: file.client_email,
            key_id: file.private_key_id,
            key,
        })
    }
}

/// Whether a text can be a header's value.
pub(crate) fn is_visible(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aws_credentials_are_read_strictly() {
        let good = r#"{"access_key_id":"AKIAIOSFODNN7EXAMPLE","secret_access_key":"a/b+c"}"#;
        assert!(AwsSecret::read(good).is_ok_and(|read| read.session_token.is_none()));
        let session = good.replace('}', r#","session_token":"IQoJ"}"#);
        assert!(AwsSecret::read(&session).is_ok_and(|read| read.session_token.is_some()));
        for bad in [
            "AKIA:secret",
            r#"{"access_key_id":"AKIA"}"#,
            r#"{"access_key_id":"AKIA","secretAccessKey":"x"}"#,
            r#"{"access_key_id":"AKIA","secret_access_key":""}"#,
            r#"{"access_key_id":"AK IA","secret_access_key":"x"}"#,
            r#"{"access_key_id":"AKIA","secret_access_key":"x","extra":1}"#,
        ] {
            assert_eq!(AwsSecret::read(bad).err(), Some(SecretError::Aws), "{bad}");
        }
    }

    #[test]
    fn service_account_requires_usable_signing_key() {
        for (text, error) in [
            ("ya29.token", SecretError::Google),
            (
                r#"{"type":"authorized_user","client_email":"a@b.c","private_key":"x"}"#,
                SecretError::Google,
            ),
            (
                r#"{"type":"service_account","client_email":"a@b.c","private_key":"x"}"#,
                SecretError::GoogleKey,
            ),
        ] {
            assert_eq!(ServiceAccount::read(text).err(), Some(error), "{text}");
        }
    }

    #[test]
    fn debug_shows_only_the_length() {
        assert_eq!(format!("{:?}", Secret::from("hunter2")), "Secret(7 bytes)");
    }
}
