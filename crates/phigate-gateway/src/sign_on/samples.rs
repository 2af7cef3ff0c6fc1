//! Values of a login for the tests.

use phigate_store::{SecretString, SignOnConfig, SignOnSetup};
use serde_json::json;

use super::SignOnFlow;
use crate::discovery::Discovery;

const ISSUER: &str = "https://idp.example";

pub(super) fn discovery() -> Discovery {
    let document = json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://idp.example/authorize",
        "token_endpoint": "https://idp.example/token",
        "jwks_uri": "https://idp.example/keys",
    });
    Discovery::read(&document, ISSUER, None).unwrap()
}

pub(super) fn setup() -> SignOnSetup {
    SignOnSetup {
        account_id: "a".to_owned(),
        config: SignOnConfig {
            issuer: ISSUER.to_owned(),
            client_id: "gate".to_owned(),
            role: Vec::new(),
            groups_claim: "groups".to_owned(),
            require_acr: None,
        },
        secret: Some(SecretString::new("s-1".to_owned())),
    }
}

pub(super) fn flow() -> SignOnFlow {
    SignOnFlow {
        redirect_uri: "https://gate.example/login/sso/default".to_owned(),
        state: "state".to_owned(),
        nonce: "nonce".to_owned(),
        verifier: "verifier".to_owned(),
    }
}
