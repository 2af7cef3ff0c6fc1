//! Fields of the form for single sign-on, and rows about what was tried.

use phigate_gateway::{FieldError, SignOnCheck, SignOnEdit};
use phigate_store::{GroupRole, SignOnConfig};
use phigate_types::Role;

use crate::fields::Fields;
use crate::view::in_sentence;

/// Contents of the form: stored, or typed. Never the secret.
#[derive(Debug, Default)]
pub(crate) struct SignOnFields {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    /// One ROLE=GROUP per line.
    pub(crate) roles: String,
    pub(crate) groups_claim: String,
    pub(crate) require_acr: String,
}

impl SignOnFields {
    /// The settings as stored.
    pub(super) fn stored(config: &SignOnConfig) -> Self {
        let roles: Vec<String> = config.role.iter().map(ToString::to_string).collect();
        Self {
            issuer: config.issuer.clone(),
            client_id: config.client_id.clone(),
            roles: roles.join("\n"),
            groups_claim: config.groups_claim.clone(),
            require_acr: config.require_acr.clone().unwrap_or_default(),
        }
    }

    /// The settings as typed.
    pub(super) fn typed(form: &Fields) -> Self {
        let text = |name: &str| form.get(name).to_owned();
        Self {
            issuer: text("issuer"),
            client_id: text("client_id"),
            roles: text("roles"),
            groups_claim: text("groups_claim"),
            require_acr: text("require_acr"),
        }
    }

    /// The settings that were typed; a field that is left empty has its default.
    pub(super) fn config(&self, allow_private: bool) -> Result<SignOnConfig, String> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let edit = SignOnEdit {
            issuer: given(&self.issuer),
            client_id: given(&self.client_id),
            role: self.group_roles()?,
            groups_claim: given(&self.groups_claim),
            require_acr: given(&self.require_acr),
        };
        edit.over(None, allow_private)
            .map_err(|error| sentence(&error))
    }

    fn group_roles(&self) -> Result<Vec<GroupRole>, String> {
        let lines = self.roles.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty());
        lines
            .map(|(at, line)| {
                let read = line.parse();
                read.map_err(|error| format!("Roles by group, line {}: {error}.", at + 1))
            })
            .collect()
    }
}

/// The error of a setting, by the label of its field.
fn sentence(error: &FieldError) -> String {
    let label = match error.field {
        "issuer" => "The issuer",
        "client_id" => "The client id",
        "role" => "The list of roles by group",
        "groups_claim" => "The claim with groups",
        _ => "The required level",
    };
    in_sentence(&format!("{label} {}", error.why))
}

/// One thing that was tried, as the page shows it.
#[derive(Debug)]
pub(crate) struct CheckRow {
    pub(crate) tone: &'static str,
    pub(crate) mark: &'static str,
    pub(crate) title: String,
    pub(crate) words: String,
}

impl From<SignOnCheck> for CheckRow {
    fn from(check: SignOnCheck) -> Self {
        let (tone, mark) = match check.works {
            Some(true) => ("ok", "Works"),
            Some(false) => ("bad", "Wrong"),
            None => ("warn", "Look"),
        };
        Self {
            tone,
            mark,
            title: check.title,
            words: check.words,
        }
    }
}

/// Codes of the roles, for the hint of the form.
pub(super) fn role_codes() -> String {
    Role::all().map(Role::code).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(pairs: &[(&str, &str)]) -> Result<SignOnConfig, String> {
        SignOnFields::typed(&Fields::of(pairs)).config(false)
    }

    #[test]
    fn typed_settings_are_read_and_errors_named() {
        let whole = [
            ("issuer", "https://idp.example"),
            ("client_id", " gate "),
            ("roles", "owner=Admins\r\n\r\n viewer=CN=All,OU=x \r\n"),
        ];
        let config = typed(&whole).unwrap();
        assert_eq!(config.client_id, "gate");
        assert_eq!(config.groups_claim, "groups");
        assert_eq!(config.role.len(), 2);
        assert_eq!(
            SignOnFields::stored(&config).roles,
            "owner=Admins\nviewer=CN=All,OU=x"
        );
        for (name, value, words) in [
            ("issuer", "", "The issuer is missing"),
            ("issuer", "http://idp.example", "The issuer cannot be used"),
            ("client_id", "", "The client id is missing"),
            ("roles", "", "list of roles by group is missing"),
            ("roles", "owner=a\nboss=b", "line 2: the roles are owner"),
            ("roles", "owner", "line 1: write a role"),
        ] {
            let mut fields = whole;
            fields
                .iter_mut()
                .filter(|(field, _)| *field == name)
                .for_each(|field| field.1 = value);
            let error = typed(&fields).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
