//! Single sign-on: the identity provider of an account, and the people who come from it.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use phigate_types::{Role, Roles};
use serde::{Deserialize, Serialize};

use crate::SecretString;
use crate::model::{NewSession, Subject, User};

/// Longest group, in bytes.
const GROUP_BYTES_MAX: usize = 500;

/// A group of the identity provider, and the role of its members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GroupRole {
    /// The role.
    pub role: Role,
    /// The group, as tokens write it.
    pub group: String,
}

/// Reason why a text is not of the form ROLE=GROUP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GroupRoleError {
    /// No equals sign, or nothing behind it.
    #[error("write a role and a group as ROLE=GROUP")]
    Form,
    /// No such role.
    #[error("the roles are {0}")]
    Role(String),
}

impl FromStr for GroupRole {
    type Err = GroupRoleError;

    fn from_str(text: &str) -> Result<Self, GroupRoleError> {
        let (role, group) = text.split_once('=').ok_or(GroupRoleError::Form)?;
        let role = role.trim().parse().map_err(|_| {
            let codes: Vec<_> = Role::all().map(Role::code).collect();
            GroupRoleError::Role(codes.join(", "))
        })?;
        let is_plain = !group.trim().is_empty() && !group.chars().any(char::is_control);
        match is_plain && group.len() <= GROUP_BYTES_MAX {
            true => Ok(Self {
                role,
                group: group.to_owned(),
            }),
            false => Err(GroupRoleError::Form),
        }
    }
}

impl TryFrom<String> for GroupRole {
    type Error = GroupRoleError;

    fn try_from(text: String) -> Result<Self, GroupRoleError> {
        text.parse()
    }
}

impl From<GroupRole> for String {
    fn from(pair: GroupRole) -> Self {
        pair.to_string()
    }
}

impl fmt::Display for GroupRole {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}={}", self.role, self.group)
    }
}

/// Settings of single sign-on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignOnConfig {
    /// Address of the identity provider, as its tokens write it.
    pub issuer: String,
    /// Name of this gateway at the identity provider.
    pub client_id: String,
    /// Roles by group.
    pub role: Vec<GroupRole>,
    /// Claim with the groups.
    pub groups_claim: String,
    /// Level of authentication that a login must have (`acr`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_acr: Option<String>,
}

impl SignOnConfig {
    /// Roles of a member of these groups.
    pub fn roles_of(&self, groups: &[String]) -> Roles {
        let held = self.role.iter().filter(|pair| groups.contains(&pair.group));
        held.map(|pair| pair.role).collect()
    }
}

/// Single sign-on of an account, without the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignOnInfo {
    /// The settings.
    #[serde(flatten)]
    pub config: SignOnConfig,
    /// Whether a client secret is stored.
    pub has_secret: bool,
    /// Time of the last change.
    pub updated: Timestamp,
    /// The actor of the last change.
    pub updated_by: String,
}

/// Single sign-on of an account, with what a login needs.
#[derive(Debug, Clone)]
pub struct SignOnSetup {
    /// The account.
    pub account_id: String,
    /// The settings.
    pub config: SignOnConfig,
    /// Secret of the client; `None` for a public client.
    pub secret: Option<SecretString>,
}

/// A person whose token was verified.
#[derive(Debug, Clone)]
pub struct SignOnPerson {
    /// The identity.
    pub subject: Subject,
    /// E-mail address that the identity provider gives, for people to read; it proves nothing.
    pub email: String,
    /// Groups.
    pub groups: Vec<String>,
    /// Cause to record if no group has a role.
    pub without_role: &'static str,
    /// The provider's name of its session, for a later logout.
    pub session: Option<String>,
}

/// Result of a login with a verified token.
#[derive(Debug)]
pub enum SignOnOutcome {
    /// The person is in.
    Entered(Box<User>, NewSession),
    /// No group of the person has a role. Their sessions have ended.
    NoRole,
}

/// The sessions that a logout token ends.
#[derive(Debug, Clone)]
pub struct SignOut {
    /// Address of the identity provider.
    pub issuer: String,
    /// The person: all their sessions, unless one is named.
    pub sub: Option<String>,
    /// The provider's name of one session.
    pub session: Option<String>,
    /// Name of the token.
    pub token_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> SignOnConfig {
        let role = ["owner=Admins", "auditor=CN=Audit,OU=Groups", "viewer=All"];
        SignOnConfig {
            issuer: "https://idp.example".to_owned(),
            client_id: "phigate".to_owned(),
            role: role.iter().map(|pair| pair.parse().unwrap()).collect(),
            groups_claim: "groups".to_owned(),
            require_acr: None,
        }
    }

    #[test]
    fn several_groups_give_several_roles() {
        let groups = ["CN=Audit,OU=Groups", "All", "Other"].map(str::to_owned);
        assert_eq!(config().roles_of(&groups).codes(), "auditor, viewer");
        assert!(config().roles_of(&["admins".to_owned()]).is_empty());
        assert!(config().roles_of(&[]).is_empty());
    }

    #[test]
    fn malformed_pairs_are_refused() {
        for text in [
            "owner", "owner=", "owner= ", "admin=g", "=g", "", "owner=\n",
        ] {
            assert!(text.parse::<GroupRole>().is_err(), "{text:?}");
        }
        let long = format!("owner={}", "g".repeat(GROUP_BYTES_MAX + 1));
        assert!(long.parse::<GroupRole>().is_err());
    }

    #[test]
    fn settings_are_stored_as_options() {
        let json = serde_json::to_value(config()).unwrap();
        assert_eq!(json["role"][1], "auditor=CN=Audit,OU=Groups");
        assert_eq!(
            serde_json::from_value::<SignOnConfig>(json).unwrap(),
            config()
        );
    }
}
