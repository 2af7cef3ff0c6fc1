//! Claims about people: ID tokens of a login, and logout tokens of a back channel (OpenID Connect).

use serde_json::Value;

use crate::jwt::{JwtError, KeySet, Token};

/// Claim that says which claims are elsewhere: Microsoft Entra ID does so with too many groups.
const ELSEWHERE: &str = "_claim_names";
/// Microsoft Entra ID's other sign of too many groups.
const HAS_GROUPS: &str = "hasgroups";
/// Member of `events` that makes a token a logout token.
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
/// Most groups that are looked at.
const GROUPS_MAX: usize = 10_000;
/// Longest text of a claim that is kept, in bytes.
const TEXT_BYTES_MAX: usize = 500;
/// Age at which a logout token is refused, in seconds.
const LOGOUT_AGE_S: f64 = 600.0;

/// Reason why a token about a person is refused. It never holds what the token says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The token itself.
    #[error(transparent)]
    Token(#[from] JwtError),
    /// The issuer differs only by a slash at the end.
    #[error("the token's issuer differs by a slash at the end")]
    IssuerSlash,
    /// Another issuer.
    #[error("the token is of another issuer")]
    Issuer,
    /// The token is for another client.
    #[error("the token is for another client")]
    Audience,
    /// The token was given to another client.
    #[error("the token was given to another client")]
    AuthorizedParty,
    /// The token belongs to another login.
    #[error("the token belongs to another login")]
    Nonce,
    /// The level of authentication is not the required one.
    #[error("the login did not have the required level")]
    Level,
    /// Not a logout token, or an old one.
    #[error("the token does not end sessions")]
    NotLogout,
}

/// Values that the claims of a person's token must have.
#[derive(Debug, Clone, Copy)]
pub struct LoginWanted<'a> {
    /// Issuer, to the letter.
    pub issuer: &'a str,
    /// Our name at the issuer.
    pub client_id: &'a str,
    /// Name of the login.
    pub nonce: &'a str,
    /// Level of authentication.
    pub acr: Option<&'a str>,
    /// Claim with the groups.
    pub groups_claim: &'a str,
    /// The time, in seconds since 1970.
    pub now_s: i64,
}

/// Claims of a verified ID token.
#[derive(Clone, PartialEq, Eq)]
pub struct LoginClaims {
    /// The person.
    pub sub: String,
    /// E-mail address, for people to read.
    pub email: String,
    /// The provider's name of its session.
    pub session: Option<String>,
    /// Groups; `None` if the token has no claim with groups.
    pub groups: Option<Vec<String>>,
    /// Whether the token says that the groups are elsewhere. They are never fetched.
    pub is_overage: bool,
}

/// Claims of a verified logout token.
#[derive(Clone, PartialEq, Eq)]
pub struct LogoutClaims {
    /// The person.
    pub sub: Option<String>,
    /// The provider's name of its session.
    pub session: Option<String>,
    /// Name of the token.
    pub token_id: String,
}

impl Token {
    /// Verifies an ID token of a login.
    pub fn verify_login(
        &self,
        keys: &KeySet,
        wanted: &LoginWanted<'_>,
    ) -> Result<LoginClaims, LoginError> {
        self.check_signature(keys)?;
        self.check_issuer(wanted.issuer)?;
        self.check_audience(wanted.client_id)?;
        self.check_time(wanted.now_s as f64)?;
        if self.text("nonce") != Some(wanted.nonce) || self.claim("events").is_some() {
            return Err(LoginError::Nonce);
        }
        let sub = self.subject()?.to_owned();
        if wanted
            .acr
            .is_some_and(|level| self.text("acr") != Some(level))
        {
            return Err(LoginError::Level);
        }
        let names_groups = |names: &Value| names.get(wanted.groups_claim).is_some();
        let groups = groups(self.claim(wanted.groups_claim));
        let has_groups = self
            .claim(HAS_GROUPS)
            .is_some_and(|said| *said != Value::Bool(false));
        let is_overage =
            self.claim(ELSEWHERE).is_some_and(names_groups) || (groups.is_none() && has_groups);
        Ok(LoginClaims {
            sub,
            email: self.text("email").unwrap_or_default().to_owned(),
            session: self.kept("sid"),
            groups: groups.filter(|_| !is_overage),
            is_overage,
        })
    }

    /// Verifies a logout token (OpenID Connect Back-Channel Logout 1.0).
    pub fn verify_logout(
        &self,
        keys: &KeySet,
        issuer: &str,
        client_id: &str,
        now_s: i64,
    ) -> Result<LogoutClaims, LoginError> {
        self.check_signature(keys)?;
        self.check_issuer(issuer)?;
        if !self.audiences().contains(&client_id) {
            return Err(LoginError::Audience);
        }
        let issued = self.claim("iat").and_then(Value::as_f64);
        let now = now_s as f64;
        let is_young = issued.is_some_and(|issued| (now - issued).abs() < LOGOUT_AGE_S);
        let end = self.claim("exp").map(|end| end.as_f64().unwrap_or(0.0));
        let is_over = end.is_some_and(|end| end + 60.0 <= now);
        let event = self
            .claim("events")
            .and_then(|events| events.get(LOGOUT_EVENT));
        let is_logout = event.is_some_and(Value::is_object) && self.claim("nonce").is_none();
        let (sub, session) = (self.kept("sub"), self.kept("sid"));
        let token_id = self.kept("jti");
        match token_id.filter(|_| is_young && !is_over && is_logout) {
            Some(token_id) if sub.is_some() || session.is_some() => Ok(LogoutClaims {
                sub,
                session,
                token_id,
            }),
            _ => Err(LoginError::NotLogout),
        }
    }

    fn check_issuer(&self, wanted: &str) -> Result<(), LoginError> {
        let issuer = self.issuer().unwrap_or_default();
        if issuer == wanted {
            return Ok(());
        }
        match issuer.trim_end_matches('/') == wanted.trim_end_matches('/') {
            true => Err(LoginError::IssuerSlash),
            false => Err(LoginError::Issuer),
        }
    }

    /// Checks `aud` and `azp`: a token for several clients must say that it was given to this one.
    fn check_audience(&self, client_id: &str) -> Result<(), LoginError> {
        let audiences = self.audiences();
        if !audiences.contains(&client_id) {
            return Err(LoginError::Audience);
        }
        match self.claim("azp") {
            None if audiences.len() == 1 => Ok(()),
            Some(Value::String(party)) if party == client_id => Ok(()),
            _ => Err(LoginError::AuthorizedParty),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.claim(name).and_then(Value::as_str)
    }

    /// A text that is kept, if it is not empty and not too long.
    fn kept(&self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        let is_short = (1..=TEXT_BYTES_MAX).contains(&text.len());
        is_short.then(|| text.to_owned())
    }
}

/// Groups of a claim: a list of texts, or one text.
fn groups(claim: Option<&Value>) -> Option<Vec<String>> {
    match claim? {
        Value::String(group) => Some(vec![group.clone()]),
        Value::Array(groups) => {
            let groups = groups.iter().take(GROUPS_MAX).filter_map(Value::as_str);
            Some(groups.map(str::to_owned).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TokenUse;
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::json;

    const NOW: i64 = 1_800_000_000;
    const WANTED: LoginWanted<'_> = LoginWanted {
        issuer: "https://idp.example",
        client_id: "gate",
        nonce: "n-1",
        acr: None,
        groups_claim: "groups",
        now_s: NOW,
    };

    struct Idp(EcdsaKeyPair);

    impl Idp {
        fn new() -> Self {
            Self(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
        }

        fn keys(&self) -> KeySet {
            let point = self.0.public_key().as_ref();
            let part = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(&point[range]);
            let key = json!({"kty": "EC", "crv": "P-256", "x": part(1..33), "y": part(33..65)});
            KeySet::read(json!({ "keys": [key] }).to_string().as_bytes()).unwrap()
        }

        /// A token with these claims over sound ones; null removes a claim.
        fn sign(&self, kind: &str, sound: Value, changes: &Value) -> String {
            let mut claims = sound;
            for (name, value) in changes.as_object().unwrap() {
                claims[name] = value.clone();
            }
            claims
                .as_object_mut()
                .unwrap()
                .retain(|_, value| !value.is_null());
            let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let header = json!({"alg": "ES256", "typ": kind});
            let signed = format!("{}.{}", part(&header), part(&claims));
            let signature = self
                .0
                .sign(&SystemRandom::new(), signed.as_bytes())
                .unwrap();
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
        }

        fn login(
            &self,
            changes: &Value,
            wanted: &LoginWanted<'_>,
        ) -> Result<LoginClaims, LoginError> {
            let sound = json!({
                "iss": "https://idp.example", "aud": "gate", "sub": "jane", "nonce": "n-1",
                "exp": NOW + 300, "iat": NOW, "groups": ["A", "B"], "email": "jane@example.org",
            });
            let token = Token::read_for(&self.sign("JWT", sound, changes), TokenUse::Id)?;
            token.verify_login(&self.keys(), wanted)
        }

        fn logout(&self, changes: &Value) -> Result<LogoutClaims, LoginError> {
            let sound = json!({
                "iss": "https://idp.example", "aud": "gate", "sub": "jane", "sid": "s-1",
                "jti": "t-1", "exp": NOW + 120, "iat": NOW, "events": { LOGOUT_EVENT: {} },
            });
            let token = self.sign("logout+jwt", sound, changes);
            let token = Token::read_for(&token, TokenUse::Logout)?;
            token.verify_logout(&self.keys(), "https://idp.example", "gate", NOW)
        }
    }

    #[test]
    fn sound_login_gives_person_and_groups() {
        let claims = Idp::new().login(&json!({"sid": "s-1"}), &WANTED).unwrap();
        assert_eq!(
            (claims.sub.as_str(), claims.email.as_str()),
            ("jane", "jane@example.org")
        );
        assert_eq!(claims.groups.unwrap(), ["A", "B"]);
        assert_eq!(claims.session.as_deref(), Some("s-1"));
    }

    #[test]
    fn wrong_claims_are_refused_by_cause() {
        let idp = Idp::new();
        for (changes, cause) in [
            (
                json!({"iss": "https://idp.example/"}),
                LoginError::IssuerSlash,
            ),
            (json!({"iss": "https://other.example"}), LoginError::Issuer),
            (json!({"aud": "other"}), LoginError::Audience),
            (
                json!({"aud": ["gate", "other"]}),
                LoginError::AuthorizedParty,
            ),
            (json!({"azp": "other"}), LoginError::AuthorizedParty),
            (json!({"nonce": "n-2"}), LoginError::Nonce),
            (json!({"nonce": null}), LoginError::Nonce),
            (json!({"exp": NOW - 61}), LoginError::Token(JwtError::Time)),
            (json!({"exp": null}), LoginError::Token(JwtError::Time)),
            (json!({"sub": ""}), LoginError::Token(JwtError::Subject)),
        ] {
            assert_eq!(idp.login(&changes, &WANTED).err(), Some(cause), "{changes}");
        }
        let both = json!({"aud": ["gate", "other"], "azp": "gate"});
        assert!(idp.login(&both, &WANTED).is_ok());
    }

    #[test]
    fn required_level_is_compared_exactly() {
        let (idp, acr) = (Idp::new(), Some("mfa"));
        let wanted = LoginWanted { acr, ..WANTED };
        assert!(idp.login(&json!({"acr": "mfa"}), &wanted).is_ok());
        for acr in [json!(null), json!("mfa2"), json!(["mfa"])] {
            let refused = idp.login(&json!({ "acr": acr }), &wanted);
            assert_eq!(refused.err(), Some(LoginError::Level));
        }
    }

    #[test]
    fn groups_elsewhere_count_as_none() {
        let idp = Idp::new();
        let names = json!({"_claim_names": {"groups": "src1"}, "groups": ["A"]});
        for (changes, is_overage) in [
            (names, true),
            (json!({"groups": null, "hasgroups": true}), true),
            (json!({"groups": null}), false),
            (json!({"groups": {"A": 1}}), false),
        ] {
            let claims = idp.login(&changes, &WANTED).unwrap();
            assert_eq!(
                (claims.groups, claims.is_overage),
                (None, is_overage),
                "{changes}"
            );
        }
        let one = idp.login(&json!({"groups": "A"}), &WANTED).unwrap();
        assert_eq!(one.groups.unwrap(), ["A"]);
    }

    #[test]
    fn types_of_tokens_are_not_exchanged() {
        let (idp, claims) = (Idp::new(), json!({"sub": "jane"}));
        for (kind, purpose, is_read) in [
            ("logout+jwt", TokenUse::Id, false),
            ("at+jwt", TokenUse::Id, false),
            ("at+jwt", TokenUse::Logout, false),
            ("logout+jwt", TokenUse::Access, false),
            ("JWT", TokenUse::Id, true),
            ("logout+jwt", TokenUse::Logout, true),
        ] {
            let token = idp.sign(kind, claims.clone(), &json!({}));
            assert_eq!(Token::read_for(&token, purpose).is_ok(), is_read, "{kind}");
        }
        let events = json!({"events": {LOGOUT_EVENT: {}}});
        assert!(idp.login(&events, &WANTED).is_err());
    }

    #[test]
    fn logout_token_must_name_its_event() {
        let idp = Idp::new();
        assert!(idp.logout(&json!({"sid": null, "exp": null})).is_ok());
        for changes in [
            json!({"events": null}),
            json!({"events": {"urn:x": {}}}),
            json!({"events": [LOGOUT_EVENT]}),
            json!({"nonce": "n-1"}),
            json!({"jti": null}),
            json!({"iat": null}),
            json!({"iat": NOW - 3600, "exp": null}),
            json!({"iat": NOW + 3600}),
            json!({"exp": NOW - 300}),
            json!({"sub": null, "sid": null}),
            json!({"aud": "other"}),
            json!({"iss": "https://other.example"}),
        ] {
            assert!(idp.logout(&changes).is_err(), "{changes}");
        }
    }
}
