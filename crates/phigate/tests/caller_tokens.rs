//! Callers by token: an issuer's tokens act as a key, and the record names their subject.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::support::{CLEAN_TEXT, Gateway, Provider, Reply, ask};

/// An issuer whose documents a stand-in serves.
struct Issuer {
    site: Provider,
    pair: EcdsaKeyPair,
}

impl Issuer {
    fn start() -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let issuer = Self {
            site: Provider::start(),
            pair,
        };
        issuer.serve_keys();
        issuer
    }

    /// Serves discovery and key set to the next reader.
    fn serve_keys(&self) {
        let url = self.site.url();
        let point = self.pair.public_key().as_ref();
        let coordinate = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(&point[range]);
        let (x, y) = (coordinate(1..33), coordinate(33..65));
        let key = json!({"kty": "EC", "crv": "P-256", "kid": "one", "x": x, "y": y});
        let discovery = json!({"issuer": url, "jwks_uri": format!("{url}/keys")});
        self.site
            .answer_next(Reply::Json(200, discovery.to_string()));
        let keys = json!({ "keys": [key] });
        self.site.answer_next(Reply::Json(200, keys.to_string()));
    }

    fn token(&self, changes: &Value) -> String {
        let now = jiff::Timestamp::now().as_second();
        let mut claims =
            json!({"iss": self.site.url(), "aud": "api://gate", "sub": "intake", "exp": now + 300});
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!(
            "{}.{}",
            part(&json!({"alg": "ES256", "kid": "one"})),
            part(&claims)
        );
        let signature = self
            .pair
            .sign(&SystemRandom::new(), signed.as_bytes())
            .unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    fn set(&self, gateway: &Gateway, account: &str, key: &str, audience: &str) -> Option<i32> {
        let url = self.site.url();
        let id = key.split('_').nth(1).unwrap();
        let head = ["--account", account, "jwt", "set", "app", "--issuer", &url];
        let rest = ["--audience", audience, "--key", id];
        gateway
            .try_command(&[&head[..], &rest].concat(), "")
            .status
            .code()
    }
}

#[test]
fn token_acts_as_key_until_it_ends() {
    let (provider, issuer) = (Provider::start(), Issuer::start());
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    assert_eq!(issuer.set(&gateway, "default", &key, "api://gate"), Some(0));
    let token = issuer.token(&json!({}));
    let answer = gateway.chat(&token, &ask("gpt-4o", CLEAN_TEXT));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(
        !provider
            .last()
            .header("authorization")
            .unwrap()
            .contains(&token)
    );
    let records = gateway.records(&answer.request_id());
    assert_eq!(records[0]["subject"], "intake");
    assert_eq!(records[0]["key_id"], key.split('_').nth(1).unwrap());
    assert_eq!(gateway.get("/v1/models", &token).status, 200);
    for changes in [
        json!({"aud": "other"}),
        json!({"exp": 1}),
        json!({"sub": ""}),
        json!({"iss": "https://idp.example"}),
    ] {
        let refused = gateway.chat(&issuer.token(&changes), &ask("gpt-4o", CLEAN_TEXT));
        assert_eq!(refused.error().2, "invalid_api_key", "{changes}");
    }
    assert!(gateway.command(&["jwt", "list"]).contains("api://gate"));
    gateway.command(&["jwt", "remove", "app"]);
    assert_eq!(gateway.chat(&token, &ask("gpt-4o", CLEAN_TEXT)).status, 401);
    let acts = gateway.command(&["audit", "export"]);
    assert!(acts.contains("jwt.set") && acts.contains("jwt.remove"));
    assert!(
        acts.contains("token_expired") && acts.contains("token_subject"),
        "{acts}"
    );
    assert!(!acts.contains(&token));
}

#[test]
fn revoked_key_ends_its_tokens() {
    let (provider, issuer) = (Provider::start(), Issuer::start());
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    issuer.set(&gateway, "default", &key, "api://gate");
    let token = issuer.token(&json!({}));
    assert_eq!(gateway.chat(&token, &ask("gpt-4o", CLEAN_TEXT)).status, 200);
    gateway.command(&["key", "revoke", key.split('_').nth(1).unwrap()]);
    assert_eq!(gateway.chat(&token, &ask("gpt-4o", CLEAN_TEXT)).status, 401);
}

#[test]
fn issuer_and_audience_belong_to_one_account() {
    let issuer = Issuer::start();
    let mut gateway = Gateway::offline();
    gateway.set("PHIGATE_ALLOW_PRIVATE_PROVIDERS", "true");
    let key = gateway.key();
    gateway.command(&["account", "create", "north"]);
    let north = gateway.command(&["--account", "north", "key", "create"]);
    let north = north.trim();
    assert_eq!(issuer.set(&gateway, "default", &key, "api://gate"), Some(0));
    assert_eq!(issuer.set(&gateway, "north", north, "api://gate"), Some(2));
    assert_eq!(issuer.set(&gateway, "north", &key, "api://north"), Some(2));
    assert_eq!(issuer.set(&gateway, "north", north, "api://north"), Some(0));
    // Setting a name again changes its entry.
    assert_eq!(issuer.set(&gateway, "default", &key, "api://new"), Some(0));
    assert_eq!(issuer.set(&gateway, "north", north, "api://gate"), Some(0));
}
