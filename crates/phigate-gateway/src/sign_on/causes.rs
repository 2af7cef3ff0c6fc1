//! Reasons why a login with an identity provider fails, each with its remedy: one table for pages, records and
//! `phigate sso test`.

use phigate_auth::{FetchError, JwtError, LoginError};

use crate::discovery::DiscoveryError;

macro_rules! causes {
    ($($name:ident $code:literal $title:literal $fix:literal;)*) => {
        /// Reason why a login with an identity provider fails.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum SignOnError {
            $(#[doc = $title] $name,)*
        }

        const ROWS: &[(SignOnError, &str, &str, &str)] = &[
            $((SignOnError::$name, $code, $title, $fix),)*
        ];
    };
}

causes! {
    // In the order of a login: variant, code in records, words, remedy.
    Unreachable "unreachable" "The identity provider does not answer" "Check the issuer, and that this server can reach it: the issuer’s address with /.well-known/openid-configuration must open from here. Owners marked as break-glass can sign in with their password meanwhile.";
    Document "document" "The issuer’s discovery document cannot be used" "Open the issuer’s address with /.well-known/openid-configuration. It must be JSON with issuer, authorization_endpoint, token_endpoint and jwks_uri, all over https.";
    IssuerSlash "issuer_slash" "The issuer differs by a slash at the end" "Set --issuer exactly as the discovery document writes it under issuer: Auth0 ends it with a slash; Entra ID, Okta, Keycloak and Google do not.";
    Issuer "issuer" "The identity provider names another issuer" "Set --issuer exactly as the discovery document writes it under issuer. With Entra ID it holds the tenant: https://login.microsoftonline.com/TENANT/v2.0, not common or organizations.";
    Algorithms "algorithms" "The identity provider signs with an algorithm that is not accepted" "Let it sign ID tokens of this client with RS256, PS256, ES256 or EdDSA.";
    Keys "keys" "The key of the token is not in the identity provider’s key set" "Check that jwks_uri of the discovery document opens from this server. New keys are read at most four times a minute: try again in a minute.";
    State "state" "That sign-in was begun in another browser, or too long ago" "Begin again on the login page, and finish within ten minutes in the same browser.";
    Denied "denied" "The identity provider refused the sign-in" "Assign the person, or one of their groups, to this application at the identity provider, and check that it knows the redirect address.";
    Redirect "redirect" "The identity provider does not know the redirect address" "Enter the redirect address at the identity provider exactly as `phigate sso set` and Settings show it: scheme, host, port and path.";
    Client "client" "The identity provider refuses the client id or its secret" "Compare --client-id, and set the secret again with --client-secret-stdin: it may have expired.";
    Code "code" "The identity provider refuses the code" "Codes work once and for about a minute. Check that the redirect address at the identity provider is the one that people use, and that no proxy repeats requests.";
    Answer "answer" "The identity provider’s answer has no ID token" "Check that the client is a web application with the authorization code flow, and that the scope openid is allowed.";
    Token "token" "The ID token cannot be read" "Check that the client’s ID tokens are signed and not encrypted.";
    Signature "signature" "The signature of the token is wrong" "Check that jwks_uri of the discovery document is the key set that signs for this client: an application with keys of its own has another one.";
    Audience "audience" "The token is for another client" "Set --client-id to the application’s client id, not to its name, object id or an API’s address.";
    Party "azp" "The token was given to another client" "Set --client-id to the client that signs people in, and do not pass on tokens of another application.";
    Clock "clock" "The token has expired or is not valid yet" "Compare the clocks of this server and of the identity provider: more than a minute apart is too much. Run NTP on both.";
    Nonce "nonce" "The token belongs to another sign-in" "Begin again on the login page. If it happens each time, a proxy between browser and gateway answers from its cache.";
    Subject "subject" "The token names no person" "Let the client’s ID tokens have sub, a text of 1 to 255 characters.";
    Level "level" "The sign-in did not have the required level" "Let the identity provider require it for this client (with Entra ID a conditional access policy, with Keycloak the acr mapping), or change --require-acr.";
    NoGroups "no_groups" "The token has no groups" "Let the ID token have a claim with groups: with Entra ID under Token configuration, with Okta as a groups claim of the authorization server, with Keycloak by a group membership mapper. If it has another name, set --groups-claim.";
    Overage "overage" "The token says that the groups are elsewhere" "Entra ID leaves groups out of tokens for people with more than 200. Choose “Groups assigned to the application” under Token configuration, or use app roles with --groups-claim roles. Nothing is fetched from the address in the token.";
    NoRole "no_role" "None of the person’s groups has a role" "Give a role to one of their groups with --role ROLE=GROUP, exactly as tokens write it: Entra ID writes object ids, Keycloak paths such as /staff.";
    NotLogout "not_logout" "The token does not end sessions" "Send a logout token of OpenID Connect Back-Channel Logout 1.0, not older than ten minutes.";
    Often "often" "Too many sign-ins from this address have failed" "Wait a minute and try again.";
    Off "off" "Single sign-on is off" "Sign in with your password.";
}

impl SignOnError {
    /// Code in records.
    pub fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// The reason in a few words.
    pub fn title(self) -> &'static str {
        ROWS[self as usize].2
    }

    /// The remedy, for the person who runs the gateway or the identity provider.
    pub fn remedy(self) -> &'static str {
        ROWS[self as usize].3
    }

    /// The reason with this code in a record.
    pub fn from_code(code: &str) -> Option<Self> {
        let row = ROWS.iter().find(|row| row.1 == code);
        row.map(|row| row.0)
    }

    /// Whether the identity provider is at fault, rather than the person or the settings.
    pub fn is_outage(self) -> bool {
        matches!(self, Self::Unreachable | Self::Document)
    }
}

impl From<JwtError> for SignOnError {
    fn from(error: JwtError) -> Self {
        match error {
            JwtError::Malformed | JwtError::Header | JwtError::Claim => Self::Token,
            JwtError::Algorithm => Self::Algorithms,
            JwtError::Signature => Self::Signature,
            JwtError::Time => Self::Clock,
            JwtError::Subject => Self::Subject,
        }
    }
}

impl From<LoginError> for SignOnError {
    fn from(error: LoginError) -> Self {
        match error {
            LoginError::Token(error) => error.into(),
            LoginError::IssuerSlash => Self::IssuerSlash,
            LoginError::Issuer => Self::Issuer,
            LoginError::Audience => Self::Audience,
            LoginError::AuthorizedParty => Self::Party,
            LoginError::Nonce => Self::Nonce,
            LoginError::Level => Self::Level,
            LoginError::NotLogout => Self::NotLogout,
        }
    }
}

impl From<DiscoveryError> for SignOnError {
    fn from(error: DiscoveryError) -> Self {
        match error {
            DiscoveryError::Fetch(FetchError::Unreadable) => Self::Document,
            DiscoveryError::Fetch(_) | DiscoveryError::Often => Self::Unreachable,
            DiscoveryError::Status(500..) => Self::Unreachable,
            DiscoveryError::Status(_) | DiscoveryError::NotJson | DiscoveryError::Address(_) => {
                Self::Document
            }
            DiscoveryError::IssuerSlash => Self::IssuerSlash,
            DiscoveryError::Issuer => Self::Issuer,
            DiscoveryError::Algorithms => Self::Algorithms,
            DiscoveryError::Keys(_) | DiscoveryError::KeysStatus(_) | DiscoveryError::NoKeys => {
                Self::Keys
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_found_by_code() {
        for (at, row) in ROWS.iter().enumerate() {
            assert_eq!(row.0 as usize, at);
            assert_eq!(SignOnError::from_code(row.1), Some(row.0));
            assert!(row.3.ends_with('.'), "{}", row.1);
        }
        assert_eq!(SignOnError::from_code("code of another kind"), None);
    }
}
