//! Every source of tokens and keys, against scripted endpoints.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::HashMap;
use std::sync::Mutex;

use async_trait::async_trait;
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use phigate_auth::{
    Answer, Ask, AuthError, Fetch, FetchError, Identity, Machine, Method, Place, Reason, Scheme,
    ToSign,
};
use serde_json::{Value, json};

/// Answers in turn, and records the requests.
#[derive(Default)]
struct Script {
    answers: Mutex<Vec<Result<Answer, FetchError>>>,
    asked: Mutex<Vec<Ask>>,
}

impl Script {
    fn new(answers: Vec<Answer>) -> Self {
        let answers = answers.into_iter().map(Ok).rev().collect();
        Self {
            answers: Mutex::new(answers),
            asked: Mutex::default(),
        }
    }

    fn asked(&self) -> Vec<(Method, String, Place, HashMap<String, String>)> {
        let asked = self.asked.lock().unwrap();
        let form = |ask: &Ask| {
            let text = ask.form.as_ref().map(|form| form.expose().to_owned());
            let pairs = text.unwrap_or_default();
            let pair = |pair: &str| {
                let (name, value) = pair.split_once('=')?;
                let value = percent_encoding::percent_decode_str(value)
                    .decode_utf8()
                    .ok()?;
                Some((name.to_owned(), value.into_owned()))
            };
            let mut fields: HashMap<_, _> = pairs.split('&').filter_map(pair).collect();
            for (name, value) in &ask.headers {
                fields.insert(format!("header {name}"), value.expose().to_owned());
            }
            fields
        };
        asked
            .iter()
            .map(|ask| (ask.method, ask.url.clone(), ask.place, form(ask)))
            .collect()
    }
}

#[async_trait]
impl Fetch for Script {
    async fn fetch(&self, ask: Ask) -> Result<Answer, FetchError> {
        self.asked.lock().unwrap().push(ask);
        let answer = self.answers.lock().unwrap().pop();
        answer.unwrap_or(Err(FetchError::Unreachable))
    }
}

fn answer(status: u16, body: &str) -> Answer {
    Answer {
        status,
        date: None,
        body: body.as_bytes().to_vec(),
    }
}

fn token(text: &str) -> Answer {
    answer(
        200,
        &json!({"access_token": text, "expires_in": 3599}).to_string(),
    )
}

fn lent_keys(id: &str) -> Answer {
    let keys = json!({"AccessKeyId": id, "SecretAccessKey": "s", "Token": "t", "Expiration": "2999-01-01T00:00:00Z"});
    answer(200, &keys.to_string())
}

/// The `authorization` header of a call, or the error.
async fn shown(identity: &Identity, script: &Script) -> Result<String, AuthError> {
    let uri = "https://a.example/model/m/converse".parse().unwrap();
    let call = ToSign {
        method: "POST",
        uri: &uri,
        headers: &[("content-type", "application/json")],
        body: b"{}",
    };
    let (headers, _) = identity.headers(script, &call).await?;
    let header = headers.iter().find(|(name, _)| name == "authorization");
    let (_, value) = header.expect("a call is shown by this header");
    assert!(value.is_sensitive() && !format!("{headers:?}").contains("Bearer"));
    Ok(value.to_str().unwrap().to_owned())
}

fn machine(variables: &[(&str, &str)]) -> Option<Machine> {
    let variables: HashMap<String, String> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Some(Machine::new(|name| variables.get(name).cloned()))
}

fn entra(secret: Option<&str>, machine: Option<Machine>) -> Identity {
    let scheme = Scheme::Entra {
        tenant: secret.map(|_| "tenant".to_owned()),
        client_id: secret.map(|_| "client".to_owned()),
        token_url: None,
        host: "kit.openai.azure.com".to_owned(),
    };
    Identity::new(scheme, secret, machine).unwrap()
}

fn aws(secret: Option<&str>, machine: Option<Machine>) -> Identity {
    let scheme = Scheme::Aws {
        region: "eu-west-1".to_owned(),
        token_url: None,
    };
    Identity::new(scheme, secret, machine).unwrap()
}

fn file(name: &str, text: &str) -> String {
    let path = std::env::temp_dir().join(format!("phigate-auth-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

#[tokio::test]
async fn entra_renews_the_token_after_a_refusal() {
    let script = Script::new(vec![token("one"), token("two")]);
    let identity = entra(Some("s3cr~t &"), None);
    assert_eq!(shown(&identity, &script).await.as_deref(), Ok("Bearer one"));
    assert_eq!(shown(&identity, &script).await.as_deref(), Ok("Bearer one"));
    let (method, url, place, fields) = script.asked().remove(0);
    assert_eq!((method, place), (Method::Post, Place::Endpoint));
    assert_eq!(
        url,
        "https://login.microsoftonline.com/tenant/oauth2/v2.0/token"
    );
    for (name, value) in [
        ("grant_type", "client_credentials"),
        ("client_id", "client"),
        ("client_secret", "s3cr~t &"),
        ("scope", "https://cognitiveservices.azure.com/.default"),
    ] {
        assert_eq!(fields.get(name).map(String::as_str), Some(value));
    }
    let uri = "https://a.example/".parse().unwrap();
    let call = ToSign {
        method: "POST",
        uri: &uri,
        headers: &[],
        body: b"",
    };
    let (_, proof) = identity.headers(&script, &call).await.unwrap();
    assert!(identity.forget(&proof));
    assert_eq!(shown(&identity, &script).await.as_deref(), Ok("Bearer two"));
    assert_eq!(script.asked().len(), 2);
}

#[tokio::test]
async fn entra_finds_the_identity_of_the_machine() {
    let path = file("federated", "eyJ.one\n");
    let federated = [
        ("AZURE_FEDERATED_TOKEN_FILE", path.as_str()),
        ("AZURE_CLIENT_ID", "c"),
        ("AZURE_TENANT_ID", "t"),
        ("AZURE_AUTHORITY_HOST", "https://login.example/"),
    ];
    let script = Script::new(vec![token("x")]);
    assert!(
        shown(&entra(None, machine(&federated)), &script)
            .await
            .is_ok()
    );
    let (_, url, _, fields) = script.asked().remove(0);
    assert_eq!(url, "https://login.example/t/oauth2/v2.0/token");
    assert_eq!(
        fields.get("client_assertion").map(String::as_str),
        Some("eyJ.one")
    );

    let service = [
        ("IDENTITY_ENDPOINT", "http://127.0.0.1:41/MSI/token"),
        ("IDENTITY_HEADER", "h"),
    ];
    let script = Script::new(vec![token("x")]);
    assert!(
        shown(&entra(None, machine(&service)), &script)
            .await
            .is_ok()
    );
    let (_, url, place, fields) = script.asked().remove(0);
    assert_eq!(
        url,
        "http://127.0.0.1:41/MSI/token?api-version=2019-08-01&resource=https%3A%2F%2Fcognitiveservices.azure.com"
    );
    assert_eq!(
        (
            place,
            fields.get("header x-identity-header").map(String::as_str)
        ),
        (Place::Machine, Some("h"))
    );

    let script = Script::new(vec![answer(400, "{}")]);
    let refused = shown(&entra(None, machine(&[])), &script).await;
    assert_eq!(refused, Err(AuthError::Refused(Reason::NoIdentity)));
    assert!(
        script.asked()[0]
            .1
            .starts_with("http://169.254.169.254/metadata/identity/oauth2/token?")
    );
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one source after the other")]
async fn aws_credential_sources_follow_usual_order() {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "AKIA1"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
    ];
    let script = Script::default();
    let signed = shown(&aws(None, machine(&variables)), &script)
        .await
        .unwrap();
    assert!(
        signed.contains("Credential=AKIA1/") && signed.contains("/eu-west-1/bedrock/aws4_request")
    );
    assert!(script.asked().is_empty());

    let path = file("web", "eyJ.web");
    let web = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", path.as_str()),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/r"),
    ];
    let xml = "<R><AccessKeyId>ASIA2</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></R>";
    let script = Script::new(vec![answer(200, xml)]);
    let signed = shown(&aws(None, machine(&web)), &script).await.unwrap();
    assert!(signed.contains("Credential=ASIA2/") && signed.contains("x-amz-security-token"));
    let (_, url, place, fields) = script.asked().remove(0);
    assert_eq!(
        (url.as_str(), place),
        ("https://sts.eu-west-1.amazonaws.com/", Place::Endpoint)
    );
    assert_eq!(
        fields.get("WebIdentityToken").map(String::as_str),
        Some("eyJ.web")
    );

    let container = [
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x"),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "tok"),
    ];
    let script = Script::new(vec![lent_keys("ASIA3")]);
    assert!(
        shown(&aws(None, machine(&container)), &script)
            .await
            .unwrap()
            .contains("ASIA3")
    );
    let (_, url, place, fields) = script.asked().remove(0);
    assert_eq!(
        (url.as_str(), place),
        ("http://169.254.170.2/v2/x", Place::Machine)
    );
    assert_eq!(
        fields.get("header authorization").map(String::as_str),
        Some("tok")
    );

    let script = Script::new(vec![
        answer(200, "session"),
        answer(200, "my-role"),
        lent_keys("ASIA4"),
    ]);
    assert!(
        shown(&aws(None, machine(&[])), &script)
            .await
            .unwrap()
            .contains("ASIA4")
    );
    let asked = script.asked();
    assert_eq!(asked[0].0, Method::Put);
    assert!(asked[2].1.ends_with("/iam/security-credentials/my-role"));
    assert_eq!(
        asked[2]
            .3
            .get("header x-aws-ec2-metadata-token")
            .map(String::as_str),
        Some("session")
    );
}

#[tokio::test]
async fn disabled_or_odd_metadata_is_not_used() {
    let off = [("AWS_EC2_METADATA_DISABLED", "true")];
    let script = Script::default();
    let refused = shown(&aws(None, machine(&off)), &script).await;
    assert_eq!(
        (refused, script.asked().len()),
        (Err(AuthError::Refused(Reason::NoIdentity)), 0)
    );
    for role in ["../../x", "a b", ""] {
        let script = Script::new(vec![answer(200, "session"), answer(200, role)]);
        let refused = shown(&aws(None, machine(&[])), &script).await;
        assert_eq!(
            (refused, script.asked().len()),
            (Err(AuthError::Unreadable), 2),
            "{role}"
        );
    }
}

/// A service account with a fresh key, and the key's public half.
fn account(changes: &Value) -> (String, Vec<u8>) {
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: Pkcs8V1Der<'_> = pair.as_der().unwrap();
    let lines = STANDARD.encode(der.as_ref());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n");
    let mut file = json!({"type": "service_account", "client_email": "a@b.iam", "private_key_id": "k1", "private_key": pem, "token_uri": "https://elsewhere.example/token"});
    for (name, value) in changes.as_object().unwrap() {
        file[name] = value.clone();
    }
    (file.to_string(), pair.public_key().as_ref().to_vec())
}

#[tokio::test]
async fn google_gets_a_signed_assertion() {
    let (secret, public) = account(&json!({}));
    for (token_url, asked_at) in [
        (None, "https://oauth2.googleapis.com/token"),
        (
            Some("https://proxy.example/token"),
            "https://proxy.example/token",
        ),
    ] {
        let scheme = Scheme::Google {
            token_url: token_url.map(str::to_owned),
        };
        let identity = Identity::new(scheme, Some(&secret), None).unwrap();
        let script = Script::new(vec![token("g")]);
        assert_eq!(shown(&identity, &script).await.as_deref(), Ok("Bearer g"));
        let (_, url, _, fields) = script.asked().remove(0);
        assert_eq!(url, asked_at);
        let assertion = fields.get("assertion").unwrap();
        let (message, signature) = assertion.rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &public);
        key.verify(message.as_bytes(), &signature)
            .expect("the account signed it");
        let part = |number: usize| -> Value {
            let text = message.split('.').nth(number).unwrap();
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
        };
        let (header, claims) = (part(0), part(1));
        assert_eq!(
            (&header["alg"], &header["kid"]),
            (&json!("RS256"), &json!("k1"))
        );
        assert_eq!(
            (&claims["iss"], &claims["aud"]),
            (
                &json!("a@b.iam"),
                &json!("https://oauth2.googleapis.com/token")
            )
        );
        assert_eq!(
            claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(),
            3600
        );
    }
}

#[tokio::test]
async fn google_tokens_come_from_the_metadata_server() {
    let scheme = Scheme::Google { token_url: None };
    let identity = Identity::new(
        scheme,
        None,
        machine(&[("GCE_METADATA_HOST", "127.0.0.1:9")]),
    )
    .unwrap();
    let script = Script::new(vec![token("m")]);
    assert_eq!(shown(&identity, &script).await.as_deref(), Ok("Bearer m"));
    let (_, url, place, fields) = script.asked().remove(0);
    assert_eq!(
        url,
        "http://127.0.0.1:9/computeMetadata/v1/instance/service-accounts/default/token"
    );
    assert_eq!(
        (
            place,
            fields.get("header metadata-flavor").map(String::as_str)
        ),
        (Place::Machine, Some("Google"))
    );
}

#[tokio::test]
async fn ambient_identity_needs_permission() {
    let script = Script::default();
    for identity in [aws(None, None), entra(None, None)] {
        let refused = shown(&identity, &script).await;
        assert_eq!(refused, Err(AuthError::Refused(Reason::NotAllowed)));
    }
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn stored_secrets_win_and_are_not_renewed() {
    let secret = r#"{"access_key_id":"AKIAOWN","secret_access_key":"s"}"#;
    let identity = aws(
        Some(secret),
        machine(&[
            ("AWS_ACCESS_KEY_ID", "AKIAENV"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
        ]),
    );
    let script = Script::default();
    assert!(shown(&identity, &script).await.unwrap().contains("AKIAOWN"));
    assert_eq!(format!("{identity:?}"), "Identity(stored keys)");
}

#[tokio::test]
async fn endpoint_failures_are_distinguished_without_quotes() {
    for (answers, error) in [
        (vec![], AuthError::Unreachable),
        (vec![answer(500, "{}")], AuthError::Unreachable),
        (vec![answer(200, "<html>hunter2")], AuthError::Unreadable),
        (
            vec![answer(
                401,
                r#"{"error_description":"AADSTS7000215: hunter2"}"#,
            )],
            AuthError::Refused(Reason::WrongSecret),
        ),
        (vec![answer(302, "")], AuthError::Unreadable),
    ] {
        let refused = shown(&entra(Some("hunter2"), None), &Script::new(answers)).await;
        assert!(!format!("{refused:?}").contains("hunter2"));
        assert_eq!(refused, Err(error));
    }
}
