//! Validation of a provider's configuration, shared by the command line and the dashboard.

use std::fmt;

use phigate_store::ProviderConfig;
use phigate_types::{ProviderOption, Secret};

use super::authorize::scheme_of;
use super::{BaseUrl, check_key};

/// The operator's rules.
#[derive(Debug, Clone, Copy)]
pub struct SetupRules {
    /// Allow providers on private addresses and with plain http.
    pub allow_private: bool,
    /// Allow use of the machine's identity.
    pub allow_ambient: bool,
}

/// The secret in a configuration.
#[derive(Clone, Copy)]
pub enum GivenSecret<'a> {
    /// Given now.
    Now(&'a str),
    /// Already stored, and kept.
    Stored,
    /// Missing.
    Missing,
}

/// The reason why a provider's configuration is refused. Never quotes a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--{option}: {why}")]
pub struct SetupError {
    /// The option at fault, as on the command line without its hyphens.
    pub option: &'static str,
    /// The problem.
    pub why: String,
}

const KEY: &str = "key-stdin";

impl SetupError {
    fn new(option: &'static str, why: impl fmt::Display) -> Self {
        Self {
            option,
            why: why.to_string(),
        }
    }
}

/// Checks a provider's configuration.
pub fn check_setup(
    config: &ProviderConfig,
    secret: GivenSecret<'_>,
    rules: SetupRules,
) -> Result<(), SetupError> {
    check_auth(config)?;
    for option in ProviderOption::all() {
        check_option(config, option, rules)?;
    }
    check_secret(config, secret, rules)
}

fn check_auth(config: &ProviderConfig) -> Result<(), SetupError> {
    let (kind, ways) = (config.kind, config.kind.auth_methods());
    if ways.contains(&config.auth()) {
        return Ok(());
    }
    let ways: Vec<&str> = ways.iter().map(|way| way.code()).collect();
    let why = format!("{kind} supports only {}", ways.join(", "));
    Err(SetupError::new("auth", why))
}

fn check_option(
    config: &ProviderConfig,
    option: ProviderOption,
    rules: SetupRules,
) -> Result<(), SetupError> {
    let (kind, auth) = (config.kind, config.auth());
    let wrong = |why: String| Err(SetupError::new(option.code(), why));
    let Some(value) = config.option(option) else {
        return match kind.needs().contains(&option) {
            true => wrong(format!("{kind} needs it: {}", option.words())),
            false => Ok(()),
        };
    };
    if !kind.options().contains(&option) && !auth.options().contains(&option) {
        return wrong(format!("{kind} with --auth {auth} does not use it"));
    }
    let is_address = matches!(option, ProviderOption::BaseUrl | ProviderOption::TokenUrl);
    if is_address {
        return check_address(value, rules).or_else(wrong);
    }
    match option.accepts(value) {
        true => Ok(()),
        false => wrong(format!("write {}", option.words())),
    }
}

/// Checks an address. If only the operator's permission is missing, the error names the option.
fn check_address(url: &str, rules: SetupRules) -> Result<(), String> {
    match BaseUrl::parse(url, rules.allow_private) {
        Ok(_) => Ok(()),
        Err(error) if BaseUrl::parse(url, true).is_ok() => Err(format!(
            "{error}; if that is intended, start the gateway with --allow-private-providers, or set PHIGATE_ALLOW_PRIVATE_PROVIDERS=true for this command too"
        )),
        Err(error) => Err(error.to_string()),
    }
}

fn check_secret(
    config: &ProviderConfig,
    secret: GivenSecret<'_>,
    rules: SetupRules,
) -> Result<(), SetupError> {
    let auth = config.auth();
    let wrong = |why: &str| Err(SetupError::new(KEY, why));
    let missing = auth
        .needs()
        .iter()
        .find(|need| config.option(**need).is_none());
    match (secret, auth.secret()) {
        (GivenSecret::Now(_), Secret::None) => wrong("--auth none takes no key"),
        (GivenSecret::Missing, Secret::Key) => {
            wrong("no key is stored yet: give it on standard input")
        }
        (GivenSecret::Missing, form) if form.can_be_ambient() && !rules.allow_ambient => {
            let why = format!(
                "give the {} on standard input; the machine's own identity is used only where the operator sets allow_ambient_credentials = true",
                auth.secret_words()
            );
            Err(SetupError::new(KEY, why))
        }
        (GivenSecret::Now(_) | GivenSecret::Stored, _) if missing.is_some() => {
            let need = missing.copied().unwrap_or(ProviderOption::Tenant);
            let why = format!("--auth {auth} needs it: {}", need.words());
            Err(SetupError::new(need.code(), why))
        }
        (GivenSecret::Now(text), _) => check_form(config, text),
        _ => Ok(()),
    }
}

/// Checks the form of a secret with the code that uses it.
fn check_form(config: &ProviderConfig, text: &str) -> Result<(), SetupError> {
    let auth = config.auth();
    if let (Secret::Json, Some(scheme)) = (auth.secret(), scheme_of(config)) {
        let checked = scheme.check_secret(text);
        return checked.map_err(|error| SetupError::new(KEY, error));
    }
    check_key(text).map_err(|error| match auth.secret() {
        Secret::Key => SetupError::new(KEY, error),
        _ => SetupError::new(KEY, format!("that is not the {}", auth.secret_words())),
    })
}

#[cfg(test)]
mod tests {
    use phigate_types::{AuthMethod, ProviderKind};

    use super::*;

    const RULES: SetupRules = SetupRules {
        allow_private: false,
        allow_ambient: false,
    };

    /// The option at fault when a provider of this kind is set with these options.
    fn blamed(
        kind: ProviderKind,
        auth: Option<AuthMethod>,
        options: &[(ProviderOption, &str)],
        secret: GivenSecret<'_>,
    ) -> Option<&'static str> {
        let mut config = ProviderConfig::new(kind);
        config.auth = auth;
        for (option, value) in options {
            config.set_option(*option, Some((*value).to_owned()));
        }
        let checked = check_setup(&config, secret, RULES);
        checked.err().map(|error| error.option)
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    fn wrong_combinations_name_the_option() {
        use AuthMethod::{Aws, Entra, None as NoAuth};
        use GivenSecret::{Missing, Now, Stored};
        use ProviderKind::{Azure, Bedrock, OpenAi, Vertex};
        use ProviderOption::{ApiVersion, BaseUrl, ClientId, Project, Region, Tenant, TokenUrl};
        const AZURE: (ProviderOption, &str) = (BaseUrl, "https://kit.openai.azure.com");
        const AWS: &str = r#"{"access_key_id":"AKIA","secret_access_key":"s"}"#;
        let entra = [AZURE, (Tenant, "t"), (ClientId, "c")];
        for (kind, auth, options, secret, wanted) in [
            (OpenAi, None, &[][..], Now("sk-1"), None),
            (OpenAi, None, &[], Stored, None),
            (OpenAi, None, &[], Missing, Some("key-stdin")),
            (OpenAi, None, &[], Now("two words"), Some("key-stdin")),
            (OpenAi, Some(NoAuth), &[], Missing, None),
            (OpenAi, Some(NoAuth), &[], Now("sk-1"), Some("key-stdin")),
            (OpenAi, Some(Entra), &[], Now("sk-1"), Some("auth")),
            (OpenAi, None, &[(Region, "r")], Now("sk-1"), Some("region")),
            (
                OpenAi,
                None,
                &[(BaseUrl, "https://10.0.0.1")],
                Stored,
                Some("base-url"),
            ),
            (Azure, None, &[], Now("k"), Some("base-url")),
            (Azure, None, &[AZURE], Now("k"), None),
            (
                Azure,
                None,
                &[AZURE, (ApiVersion, "latest")],
                Now("k"),
                Some("api-version"),
            ),
            (
                Azure,
                None,
                &[AZURE, (ClientId, "c")],
                Now("k"),
                Some("client-id"),
            ),
            (Azure, Some(Aws), &[AZURE], Now("k"), Some("auth")),
            (Azure, Some(Entra), &entra, Now("s"), None),
            (Azure, Some(Entra), &entra[..2], Now("s"), Some("client-id")),
            (Azure, Some(Entra), &[AZURE], Missing, Some("key-stdin")),
            (
                Azure,
                Some(Entra),
                &[AZURE, (TokenUrl, "http://a.example")],
                Now("s"),
                Some("token-url"),
            ),
            (Bedrock, None, &[], Now(AWS), Some("region")),
            (Bedrock, None, &[(Region, "us-east-1")], Now(AWS), None),
            (
                Bedrock,
                None,
                &[(Region, "us-east-1")],
                Now("AKIA:s"),
                Some("key-stdin"),
            ),
            (
                Bedrock,
                None,
                &[(Region, "us-east-1")],
                Missing,
                Some("key-stdin"),
            ),
            (Vertex, None, &[(Region, "r")], Now("{}"), Some("project")),
            (
                Vertex,
                None,
                &[(Region, "r"), (Project, "../x")],
                Now("{}"),
                Some("project"),
            ),
            (
                Vertex,
                None,
                &[(Region, "r"), (Project, "p")],
                Now("{}"),
                Some("key-stdin"),
            ),
        ] {
            let found = blamed(kind, auth, options, secret);
            assert_eq!(found, wanted, "{kind} {auth:?} {options:?}");
        }
    }
}
