//! Settings of single sign-on as people type them, over those stored: one check for the command line, the admin API and
//! the page.

use phigate_store::{GroupRole, SignOnConfig};

use crate::field_error::FieldError;
use crate::provider::BaseUrl;

/// Longest client id, claim and level, in bytes.
const WORD_BYTES_MAX: usize = 500;
/// Most groups with a role.
const GROUPS_MAX: usize = 500;
/// Claim with the groups, unless another is set.
const GROUPS_CLAIM: &str = "groups";
/// Level that takes a stored one back.
const NO_LEVEL: &str = "off";

/// Settings that were given; what is `None` or empty stays as it is stored.
#[derive(Debug, Clone, Default)]
pub struct SignOnEdit {
    /// Address of the identity provider, as its tokens write it.
    pub issuer: Option<String>,
    /// Name of this gateway at the identity provider.
    pub client_id: Option<String>,
    /// Roles by group; they replace all stored ones.
    pub role: Vec<GroupRole>,
    /// Claim with the groups.
    pub groups_claim: Option<String>,
    /// Level of authentication that a login must have; `off` for none.
    pub require_acr: Option<String>,
}

impl SignOnEdit {
    /// The settings: those given over those stored.
    pub fn over(
        self,
        old: Option<SignOnConfig>,
        allow_private: bool,
    ) -> Result<SignOnConfig, FieldError> {
        let (mut issuer, mut client_id, mut role) = (None, None, Vec::new());
        let (mut groups_claim, mut level) = (GROUPS_CLAIM.to_owned(), None);
        if let Some(old) = old {
            (issuer, client_id) = (Some(old.issuer), Some(old.client_id));
            (role, groups_claim, level) = (old.role, old.groups_claim, old.require_acr);
        }
        let issuer = self.issuer.or(issuer);
        let issuer = issuer.ok_or_else(|| FieldError::new("issuer", "is missing"))?;
        BaseUrl::parse(&issuer, allow_private)
            .map_err(|error| FieldError::new("issuer", format!("cannot be used: {error}")))?;
        let client_id = self.client_id.or(client_id);
        let client_id = client_id.ok_or_else(|| FieldError::new("client_id", "is missing"))?;
        if !self.role.is_empty() {
            role = self.role;
        }
        if role.len() > GROUPS_MAX {
            let why = format!("has more than {GROUPS_MAX} groups");
            return Err(FieldError::new("role", why));
        }
        if role.is_empty() {
            let why = "is missing: without a group that has a role nobody could sign in";
            return Err(FieldError::new("role", why));
        }
        let config = SignOnConfig {
            issuer,
            client_id,
            role,
            groups_claim: self.groups_claim.unwrap_or(groups_claim),
            require_acr: match self.require_acr {
                Some(level) if level == NO_LEVEL => None,
                given => given.or(level),
            },
        };
        check_words(&config)?;
        Ok(config)
    }
}

fn check_words(config: &SignOnConfig) -> Result<(), FieldError> {
    let level = config.require_acr.as_deref().unwrap_or(NO_LEVEL);
    for (field, text) in [
        ("client_id", config.client_id.as_str()),
        ("groups_claim", &config.groups_claim),
        ("require_acr", level),
    ] {
        let is_short = (1..=WORD_BYTES_MAX).contains(&text.len());
        let is_plain = !text.trim().is_empty() && !text.chars().any(char::is_control);
        if !is_short || !is_plain {
            let why = format!("takes 1 to {WORD_BYTES_MAX} bytes of text");
            return Err(FieldError::new(field, why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(role: &[&str]) -> SignOnEdit {
        SignOnEdit {
            role: role.iter().map(|pair| pair.parse().unwrap()).collect(),
            ..SignOnEdit::default()
        }
    }

    #[test]
    fn settings_not_given_keep_their_values() {
        let first = SignOnEdit {
            issuer: Some("https://idp.example".to_owned()),
            client_id: Some("gate".to_owned()),
            require_acr: Some("mfa".to_owned()),
            ..given(&["owner=Admins"])
        };
        let old = first.over(None, false).unwrap();
        assert_eq!(given(&[]).over(Some(old.clone()), false).unwrap(), old);
        let changed = SignOnEdit {
            require_acr: Some(NO_LEVEL.to_owned()),
            ..given(&["viewer=All"])
        };
        let new = changed.over(Some(old), false).unwrap();
        assert_eq!(new.role[0].to_string(), "viewer=All");
        assert_eq!(new.require_acr, None);
    }

    #[test]
    fn wrong_settings_are_named() {
        let whole = || SignOnEdit {
            issuer: Some("https://idp.example".to_owned()),
            client_id: Some("gate".to_owned()),
            ..given(&["owner=g"])
        };
        assert!(whole().over(None, false).is_ok());
        let text = |text: &str| Some(text.to_owned());
        for (field, edit) in [
            (
                "issuer",
                SignOnEdit {
                    issuer: None,
                    ..whole()
                },
            ),
            (
                "issuer",
                SignOnEdit {
                    issuer: text("https://127.0.0.1"),
                    ..whole()
                },
            ),
            (
                "issuer",
                SignOnEdit {
                    issuer: text("idp"),
                    ..whole()
                },
            ),
            (
                "client_id",
                SignOnEdit {
                    client_id: None,
                    ..whole()
                },
            ),
            (
                "client_id",
                SignOnEdit {
                    client_id: text("a\nb"),
                    ..whole()
                },
            ),
            (
                "role",
                SignOnEdit {
                    role: Vec::new(),
                    ..whole()
                },
            ),
            (
                "groups_claim",
                SignOnEdit {
                    groups_claim: text(" "),
                    ..whole()
                },
            ),
            (
                "require_acr",
                SignOnEdit {
                    require_acr: text(&"x".repeat(501)),
                    ..whole()
                },
            ),
        ] {
            assert_eq!(edit.over(None, false).unwrap_err().field, field);
        }
    }
}
