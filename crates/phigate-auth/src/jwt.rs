//! JSON Web Tokens: strict reading, signatures by the issuer's keys, and the claims of callers. `id_token.rs` has the
//! claims of people.
//!
//! The key of a signature comes from the key set of the issuer, and never from the token. Each of the four accepted
//! algorithms works with one type of key only.

use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    UnparsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::token_use::TokenUse;

/// Longest subject, in characters.
const SUBJECT_CHARS_MAX: usize = 255;
/// Most audiences of a token that are looked at.
const AUDIENCES_MAX: usize = 16;
/// Most keys of a set.
const KEYS_MAX: usize = 64;
/// Difference of clocks that is tolerated, in seconds.
const SKEW_S: f64 = 60.0;

/// Reason why a token is refused. It never holds what the token says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// Not three parts of base64 with JSON objects, or too long.
    #[error("the token is malformed")]
    Malformed,
    /// Another algorithm than RS256, PS256, ES256 and EdDSA.
    #[error("the token's algorithm is not accepted")]
    Algorithm,
    /// Extensions that must be understood, or a type that is not an access token.
    #[error("the token's header is not accepted")]
    Header,
    /// No key of the issuer has signed the token.
    #[error("the token's signature is wrong")]
    Signature,
    /// The time of the token is over, not yet come, or missing.
    #[error("the token has expired or is not valid yet")]
    Time,
    /// No subject of 1 to 255 characters.
    #[error("the token has no subject")]
    Subject,
    /// A claim that is asked for is missing or has another value.
    #[error("a claim of the token is not as asked for")]
    Claim,
}

/// A signature algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Rs256,
    Ps256,
    Es256,
    EdDsa,
}

impl Algorithm {
    fn read(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "PS256" => Some(Self::Ps256),
            "ES256" => Some(Self::Es256),
            "EdDSA" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// A public key of an issuer.
#[derive(Clone)]
enum Public {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Public {
    fn read(key: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| key.get(name)?.as_str();
        let bytes = |name: &str| {
            URL_SAFE_NO_PAD
                .decode(text(name)?.trim_end_matches('='))
                .ok()
        };
        match (text("kty")?, text("crv")) {
            ("RSA", None) => Some(Self::Rsa {
                n: bytes("n")?,
                e: bytes("e")?,
            }),
            ("EC", Some("P-256")) => {
                let point = [vec![4], bytes("x")?, bytes("y")?].concat();
                Some(Self::P256(point))
            }
            ("OKP", Some("Ed25519")) => Some(Self::Ed25519(bytes("x")?)),
            _ => None,
        }
    }

    /// Whether this key has signed a message with an algorithm of its kind.
    fn has_signed(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        match (self, algorithm) {
            (Self::Rsa { n, e }, Algorithm::Rs256 | Algorithm::Ps256) => {
                let parameters = match algorithm {
                    Algorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
                    _ => &RSA_PKCS1_2048_8192_SHA256,
                };
                let key = PublicKeyComponents { n, e };
                key.verify(parameters, message, signature).is_ok()
            }
            (Self::P256(point), Algorithm::Es256) => {
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
                key.verify(message, signature).is_ok()
            }
            (Self::Ed25519(point), Algorithm::EdDsa) => {
                let key = UnparsedPublicKey::new(&ED25519, point);
                key.verify(message, signature).is_ok()
            }
            _ => false,
        }
    }
}

/// Key of a set, with the words that choose it.
#[derive(Clone)]
struct Key {
    id: Option<String>,
    algorithm: Option<String>,
    public: Public,
}

/// Keys of an issuer. Those that sign with other algorithms are left out.
#[derive(Clone, Default)]
pub struct KeySet(Vec<Key>);

impl KeySet {
    /// Reads a key set (RFC 7517); `None` if it is not one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let set: Value = serde_json::from_slice(bytes).ok()?;
        let keys = set.get("keys")?.as_array()?.iter().take(KEYS_MAX);
        let key = |key: &Value| {
            let key = key.as_object()?;
            let text = |name: &str| key.get(name).and_then(Value::as_str).map(str::to_owned);
            let signs = text("use").is_none_or(|purpose| purpose == "sig");
            signs.then_some(Key {
                id: text("kid"),
                algorithm: text("alg"),
                public: Public::read(key)?,
            })
        };
        Some(Self(keys.filter_map(key).collect()))
    }

    /// Whether no key of the set can be used.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the set has the key that a token names, or for a token that names none, the key that signed it.
    pub fn has_key_of(&self, token: &Token) -> bool {
        match &token.key_id {
            None => token.check_signature(self).is_ok(),
            Some(id) => self.0.iter().any(|key| key.id.as_ref() == Some(id)),
        }
    }
}

/// A token whose signature is not verified.
pub struct Token {
    algorithm: Algorithm,
    key_id: Option<String>,
    claims: Map<String, Value>,
    signed: String,
    signature: Vec<u8>,
}

/// Claims that a token must have.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Issuer, to the letter.
    pub issuer: &'a str,
    /// Audience, to the letter.
    pub audience: &'a str,
    /// Further claims, each a text.
    pub claims: &'a [(String, String)],
    /// The time, in seconds since 1970.
    pub now_s: i64,
}

impl Token {
    /// Whether a credential has the form of a token: everything else is an API key.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("ey") && text.contains('.')
    }

    /// Reads a caller's token strictly.
    pub fn read(text: &str) -> Result<Self, JwtError> {
        Self::read_for(text, TokenUse::Access)
    }

    /// Reads a token strictly that must be for a purpose.
    pub fn read_for(text: &str, purpose: TokenUse) -> Result<Self, JwtError> {
        if text.len() > purpose.bytes_max() {
            return Err(JwtError::Malformed);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(JwtError::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(JwtError::Malformed)?;
        let bytes = |part: &str| {
            URL_SAFE_NO_PAD
                .decode(part)
                .map_err(|_| JwtError::Malformed)
        };
        let object = |part: &str| {
            let bytes = bytes(part)?;
            serde_json::from_slice::<Map<String, Value>>(&bytes).map_err(|_| JwtError::Malformed)
        };
        let header = object(header)?;
        let word = |name: &str| match header.get(name) {
            None => Ok(None),
            Some(Value::String(word)) => Ok(Some(word.as_str())),
            Some(_) => Err(JwtError::Header),
        };
        let algorithm = word("alg")?.and_then(Algorithm::read);
        let is_accepted =
            word("typ")?.is_none_or(|kind| purpose.has_type(&kind.to_ascii_lowercase()));
        if header.contains_key("crit") || !is_accepted {
            return Err(JwtError::Header);
        }
        Ok(Self {
            algorithm: algorithm.ok_or(JwtError::Algorithm)?,
            key_id: word("kid")?.map(str::to_owned),
            claims: object(claims)?,
            signed: signed.to_owned(),
            signature: bytes(signature)?,
        })
    }

    /// Whether the token names its key.
    pub fn names_key(&self) -> bool {
        self.key_id.is_some()
    }

    /// The issuer that the token names.
    pub fn issuer(&self) -> Option<&str> {
        self.claims.get("iss")?.as_str()
    }

    /// The audiences that the token names.
    pub fn audiences(&self) -> Vec<&str> {
        match self.claims.get("aud") {
            Some(Value::String(audience)) => vec![audience],
            Some(Value::Array(audiences)) => {
                let audiences = audiences.iter().take(AUDIENCES_MAX);
                audiences.filter_map(Value::as_str).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A claim.
    pub fn claim(&self, name: &str) -> Option<&Value> {
        self.claims.get(name)
    }

    /// Verifies signature and claims of a caller's token, and returns the subject.
    pub fn verify(&self, keys: &KeySet, wanted: &Wanted<'_>) -> Result<&str, JwtError> {
        self.check_signature(keys)?;
        if self.issuer() != Some(wanted.issuer) || !self.audiences().contains(&wanted.audience) {
            return Err(JwtError::Claim);
        }
        self.check_time(wanted.now_s as f64)?;
        let is_said = |(name, value): &(String, String)| {
            self.claims.get(name).and_then(Value::as_str) == Some(value.as_str())
        };
        if !wanted.claims.iter().all(is_said) {
            return Err(JwtError::Claim);
        }
        self.subject()
    }

    /// Verifies the signature by the issuer's keys.
    pub(crate) fn check_signature(&self, keys: &KeySet) -> Result<(), JwtError> {
        let is_right = |key: &&Key| {
            let is_named = self.key_id.is_none() || key.id == self.key_id;
            let algorithm = key.algorithm.as_deref().map(Algorithm::read);
            is_named && algorithm.is_none_or(|of_key| of_key == Some(self.algorithm))
        };
        let message = self.signed.as_bytes();
        let mut keys = keys.0.iter().filter(is_right);
        let has_signed = |key: &Key| {
            key.public
                .has_signed(self.algorithm, message, &self.signature)
        };
        match keys.any(has_signed) {
            true => Ok(()),
            false => Err(JwtError::Signature),
        }
    }

    /// The subject: a text of 1 to 255 characters.
    pub(crate) fn subject(&self) -> Result<&str, JwtError> {
        let subject = self.claims.get("sub").and_then(Value::as_str);
        let subject = subject.ok_or(JwtError::Subject)?;
        let length = subject.chars().count();
        let is_plain = !subject.chars().any(char::is_control);
        match (1..=SUBJECT_CHARS_MAX).contains(&length) && is_plain {
            true => Ok(subject),
            false => Err(JwtError::Subject),
        }
    }

    /// Checks `exp`, which every token must have, and `nbf` and `iat`.
    pub(crate) fn check_time(&self, now: f64) -> Result<(), JwtError> {
        let time = |name: &str| match self.claims.get(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(JwtError::Time),
        };
        let has_begun = |start: Option<f64>| start.is_none_or(|start| start <= now + SKEW_S);
        let end = time("exp")?.ok_or(JwtError::Time)?;
        match end + SKEW_S > now && has_begun(time("nbf")?) && has_begun(time("iat")?) {
            true => Ok(()),
            false => Err(JwtError::Time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
    use serde_json::json;

    const NOW: i64 = 1_800_000_000;

    /// A key of an issuer, and its key set.
    struct Issuer(EcdsaKeyPair);

    impl Issuer {
        fn new() -> Self {
            Self(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
        }

        fn keys(&self, id: &str) -> KeySet {
            let point = self.0.public_key().as_ref();
            let coordinate = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(&point[range]);
            let (x, y) = (coordinate(1..33), coordinate(33..65));
            let key = json!({"kty": "EC", "crv": "P-256", "kid": id, "x": x, "y": y});
            KeySet::read(json!({ "keys": [key] }).to_string().as_bytes()).unwrap()
        }

        fn sign(&self, header: &Value, claims: &Value) -> String {
            let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let signed = format!("{}.{}", part(header), part(claims));
            let random = SystemRandom::new();
            let signature = self.0.sign(&random, signed.as_bytes()).unwrap();
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
        }
    }

    fn header() -> Value {
        json!({"alg": "ES256", "kid": "one", "typ": "JWT"})
    }

    fn claims() -> Value {
        json!({"iss": "https://idp.example", "aud": "api://gate", "sub": "app", "exp": NOW + 300, "azp": "a"})
    }

    fn subject(keys: &KeySet, token: &str) -> Result<String, JwtError> {
        let claims = [("azp".to_owned(), "a".to_owned())];
        let wanted = Wanted {
            issuer: "https://idp.example",
            audience: "api://gate",
            claims: &claims,
            now_s: NOW,
        };
        Token::read(token)?.verify(keys, &wanted).map(str::to_owned)
    }

    #[test]
    fn right_token_gives_its_subject() {
        let issuer = Issuer::new();
        let keys = issuer.keys("one");
        let token = issuer.sign(&header(), &claims());
        assert_eq!(subject(&keys, &token).as_deref(), Ok("app"));
        for (name, value) in [
            ("aud", json!(["other", "api://gate"])),
            ("exp", json!(4_102_444_800.25)),
            ("sub", json!("Zoë/李")),
        ] {
            let mut claims = claims();
            claims[name] = value;
            assert!(
                subject(&keys, &issuer.sign(&header(), &claims)).is_ok(),
                "{name}"
            );
        }
    }

    #[test]
    fn wrong_claim_is_refused() {
        let issuer = Issuer::new();
        let keys = issuer.keys("one");
        for (name, value, error) in [
            ("iss", json!("https://idp.example/"), JwtError::Claim),
            ("iss", json!(["https://idp.example"]), JwtError::Claim),
            ("aud", json!("API://GATE"), JwtError::Claim),
            ("aud", json!(""), JwtError::Claim),
            ("azp", json!(["a"]), JwtError::Claim),
            ("azp", Value::Null, JwtError::Claim),
            ("exp", json!(NOW - 600), JwtError::Time),
            ("exp", json!("4102444800"), JwtError::Time),
            ("exp", Value::Null, JwtError::Time),
            ("nbf", json!(NOW + 3_600), JwtError::Time),
            ("iat", json!(NOW + 7_200), JwtError::Time),
            ("sub", json!(""), JwtError::Subject),
            ("sub", json!(7), JwtError::Subject),
            ("sub", json!("s".repeat(256)), JwtError::Subject),
            ("sub", json!("two\nlines"), JwtError::Subject),
        ] {
            let mut claims = claims();
            claims[name] = value;
            let told = subject(&keys, &issuer.sign(&header(), &claims));
            assert_eq!(told, Err(error), "{name}");
        }
        for name in ["iss", "aud", "azp", "exp", "sub"] {
            let mut claims = claims();
            claims.as_object_mut().unwrap().remove(name);
            assert!(
                subject(&keys, &issuer.sign(&header(), &claims)).is_err(),
                "{name}"
            );
        }
    }

    #[test]
    fn forged_token_is_refused() {
        let (issuer, stranger) = (Issuer::new(), Issuer::new());
        let keys = issuer.keys("one");
        assert!(subject(&keys, &stranger.sign(&header(), &claims())).is_err());
        let token = issuer.sign(&header(), &claims());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        for forged in [
            format!("{signed}."),
            signed.to_owned(),
            format!("{token}.x"),
            format!("ey$.{}", signed.split_once('.').unwrap().1),
            format!("AAAA.{signature}.{signature}"),
            format!("{signed}.{}AAAAAA", &signature[..signature.len() - 6]),
        ] {
            assert!(subject(&keys, &forged).is_err(), "{forged}");
        }
        for header in [
            json!({"alg": "none"}),
            json!({"alg": "HS256", "kid": "one"}),
            json!({"alg": "RS256", "kid": "one"}),
            json!({"alg": "ES256", "kid": "other"}),
            json!({"alg": "ES256", "kid": "one", "crit": ["x"]}),
            json!({"alg": "ES256", "kid": "one", "typ": "logout+jwt"}),
            json!({"alg": "ES256", "kid": 1}),
            json!({"kid": "one"}),
        ] {
            let token = issuer.sign(&header, &claims());
            assert!(subject(&keys, &token).is_err(), "{header}");
        }
    }

    #[test]
    fn key_set_without_keys_signs_nothing() {
        assert!(KeySet::read(b"{}").is_none() && KeySet::read(b"[]").is_none());
        let issuer = Issuer::new();
        let token = Token::read(&issuer.sign(&header(), &claims())).unwrap();
        assert!(issuer.keys("one").has_key_of(&token));
        assert!(!issuer.keys("two").has_key_of(&token));
        let oct = br#"{"keys": [{"kty": "oct", "k": "AAAA", "kid": "one"}]}"#;
        assert!(!KeySet::read(oct).unwrap().has_key_of(&token));
    }
}
