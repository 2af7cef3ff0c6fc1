//! Addresses of an identity provider, from its discovery document (OpenID Connect Discovery 1.0).

use phigate_auth::FetchError;
use serde_json::Value;

/// Algorithms that we verify.
const ALGORITHMS: [&str; 4] = ["RS256", "PS256", "ES256", "EdDSA"];

/// Reason why an identity provider cannot be used. It never holds what the provider says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DiscoveryError {
    /// No answer.
    #[error("its discovery document {0}")]
    Fetch(FetchError),
    /// Another status than 200.
    #[error("its discovery document answers with status {0}")]
    Status(u16),
    /// Not a JSON document.
    #[error("its discovery document is not JSON")]
    NotJson,
    /// The document names the issuer with or without a slash at the end, unlike the settings.
    #[error("it writes its issuer with a slash at the end, or without, unlike --issuer")]
    IssuerSlash,
    /// The document names another issuer.
    #[error("its discovery document names another issuer")]
    Issuer,
    /// An address is missing or not a web address.
    #[error("its discovery document has no usable {0}")]
    Address(&'static str),
    /// Signatures with other algorithms only.
    #[error("it signs ID tokens with none of RS256, PS256, ES256 and EdDSA")]
    Algorithms,
    /// No answer for the key set.
    #[error("its key set {0}")]
    Keys(FetchError),
    /// Another status than 200 for the key set.
    #[error("its key set answers with status {0}")]
    KeysStatus(u16),
    /// No key that we can use.
    #[error("its key set has no key for RS256, PS256, ES256 or EdDSA")]
    NoKeys,
    /// Too many reads in the last minute.
    #[error("it was asked too often in the last minute")]
    Often,
}

/// Used part of a discovery document.
#[derive(Debug, Clone)]
pub(crate) struct Discovery {
    /// Address to which browsers are sent.
    pub(crate) authorization: String,
    /// Address that exchanges a code for tokens.
    pub(crate) token: String,
    /// Address of the key set.
    pub(crate) keys: String,
    /// Scopes to ask for: those of a person, as far as the provider knows them.
    pub(crate) scope: String,
    /// Whether the client's secret travels in the form, because the provider does not take it in a header.
    pub(crate) secret_in_form: bool,
    /// Whether the answer to a browser must name the issuer (RFC 9207).
    pub(crate) names_issuer: bool,
    /// Claims that the provider says it can give; `None` if it does not say.
    pub(crate) claims: Option<Vec<String>>,
    /// Whether the provider says that it does not know PKCE with SHA-256.
    pub(crate) lacks_pkce: bool,
    /// Time at the provider, from its `Date` header.
    pub(crate) date: Option<String>,
}

impl Discovery {
    /// The address of an issuer's discovery document.
    pub(crate) fn address(issuer: &str) -> String {
        let issuer = issuer.trim_end_matches('/');
        format!("{issuer}/.well-known/openid-configuration")
    }

    /// The address of the key set in the document of an issuer: all that is needed for callers' tokens.
    pub(crate) fn keys(document: &Value, issuer: &str) -> Result<String, DiscoveryError> {
        let named = document.get("issuer").and_then(Value::as_str);
        match named {
            Some(named) if named == issuer => address(document, "jwks_uri"),
            Some(named) if named.trim_end_matches('/') == issuer.trim_end_matches('/') => {
                Err(DiscoveryError::IssuerSlash)
            }
            _ => Err(DiscoveryError::Issuer),
        }
    }

    /// Reads the document of an issuer.
    pub(crate) fn read(
        document: &Value,
        issuer: &str,
        date: Option<String>,
    ) -> Result<Self, DiscoveryError> {
        let keys = Self::keys(document, issuer)?;
        let list = |name: &str| {
            let words = document.get(name)?.as_array()?.iter();
            Some(words.filter_map(Value::as_str).collect::<Vec<_>>())
        };
        let signs = list("id_token_signing_alg_values_supported");
        if signs.is_some_and(|signs| !signs.iter().any(|name| ALGORITHMS.contains(name))) {
            return Err(DiscoveryError::Algorithms);
        }
        let ways = list("token_endpoint_auth_methods_supported");
        let pkce = list("code_challenge_methods_supported");
        let claims = list("claims_supported");
        let scopes = list("scopes_supported");
        let names_issuer = document.get("authorization_response_iss_parameter_supported");
        Ok(Self {
            authorization: address(document, "authorization_endpoint")?,
            token: address(document, "token_endpoint")?,
            keys,
            scope: scope(scopes.as_deref()),
            secret_in_form: ways.is_some_and(|ways| {
                !ways.contains(&"client_secret_basic") && ways.contains(&"client_secret_post")
            }),
            names_issuer: names_issuer == Some(&Value::Bool(true)),
            claims: claims.map(|claims| claims.into_iter().map(str::to_owned).collect()),
            lacks_pkce: pkce.is_some_and(|pkce| !pkce.contains(&"S256")),
            date,
        })
    }
}

/// A web address of a document.
fn address(document: &Value, name: &'static str) -> Result<String, DiscoveryError> {
    let address = document.get(name).and_then(Value::as_str);
    let address = address.filter(|address| {
        let is_web = address.starts_with("https://") || address.starts_with("http://");
        let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic());
        is_web && is_plain && !address.contains('#') && address.len() <= 2_000
    });
    Ok(address.ok_or(DiscoveryError::Address(name))?.to_owned())
}

/// Scopes to ask for. An unknown scope is an error at some providers; `groups` is needed at others.
fn scope(known: Option<&[&str]>) -> String {
    let wanted = ["openid", "profile", "email", "groups"];
    let is_known = |name: &&&str| match known {
        Some(known) => **name == "openid" || known.contains(*name),
        None => **name != "groups",
    };
    let scopes: Vec<&str> = wanted.iter().filter(is_known).copied().collect();
    scopes.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ISSUER: &str = "https://idp.example/realm";

    fn read(changes: &Value) -> Result<Discovery, DiscoveryError> {
        let mut document = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://idp.example/authorize",
            "token_endpoint": "https://idp.example/token",
            "jwks_uri": "https://idp.example/keys",
        });
        for (name, value) in changes.as_object().unwrap() {
            document[name] = value.clone();
        }
        Discovery::read(&document, ISSUER, None)
    }

    #[test]
    fn wrong_document_is_refused_by_cause() {
        assert!(read(&json!({})).is_ok());
        for (changes, error) in [
            (
                json!({"issuer": "https://idp.example/realm/"}),
                DiscoveryError::IssuerSlash,
            ),
            (
                json!({"issuer": "https://other.example"}),
                DiscoveryError::Issuer,
            ),
            (json!({"issuer": null}), DiscoveryError::Issuer),
            (
                json!({"jwks_uri": "file:///etc/passwd"}),
                DiscoveryError::Address("jwks_uri"),
            ),
            (
                json!({"token_endpoint": null}),
                DiscoveryError::Address("token_endpoint"),
            ),
            (
                json!({"authorization_endpoint": "javascript:x"}),
                DiscoveryError::Address("authorization_endpoint"),
            ),
            (
                json!({"id_token_signing_alg_values_supported": ["HS256", "none"]}),
                DiscoveryError::Algorithms,
            ),
        ] {
            assert_eq!(read(&changes).err(), Some(error), "{changes}");
        }
    }

    #[test]
    fn known_scopes_are_asked_for() {
        assert_eq!(read(&json!({})).unwrap().scope, "openid profile email");
        let known = json!({"scopes_supported": ["openid", "email", "groups", "offline_access"]});
        assert_eq!(read(&known).unwrap().scope, "openid email groups");
    }

    #[test]
    fn secret_travels_as_the_provider_takes_it() {
        for (ways, in_form) in [
            (json!(null), false),
            (json!(["client_secret_basic", "client_secret_post"]), false),
            (json!(["client_secret_post"]), true),
        ] {
            let read = read(&json!({ "token_endpoint_auth_methods_supported": ways }));
            assert_eq!(read.unwrap().secret_in_form, in_form);
        }
    }
}
