//! Single sign-on: logins through an identity provider, back-channel logout, break-glass owners.

use std::process::Output;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::support::{Answer, Gateway, Provider, Reply, exchange};

const SECRET: &str = "invented-client-secret-51";
const PASSWORD: &str = "correct horse battery staple";
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// An identity provider: a stand-in whose next answers are prepared, and a key that signs.
struct Idp {
    site: Provider,
    pair: EcdsaKeyPair,
}

impl Idp {
    fn start() -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let site = Provider::start();
        Self { site, pair }
    }

    fn discovery(&self) -> Reply {
        let url = self.site.url();
        let document = json!({
            "issuer": url,
            "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"),
            "jwks_uri": format!("{url}/keys"),
        });
        Reply::Json(200, document.to_string())
    }

    fn keys(&self) -> Reply {
        let point = self.pair.public_key().as_ref();
        let part = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(&point[range]);
        let (x, y) = (part(1..33), part(33..65));
        let key = json!({"kty": "EC", "crv": "P-256", "kid": "one", "x": x, "y": y});
        Reply::Json(200, json!({ "keys": [key] }).to_string())
    }

    fn sign(&self, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = part(&json!({"alg": "ES256", "kid": "one"}));
        let signed = format!("{header}.{}", part(claims));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.unwrap().as_ref());
        format!("{signed}.{signature}")
    }

    /// Prepares the answers to a login that begins the discovery, or to a later one.
    fn answer_login(&self, claims: &Value, is_first: bool) {
        let token = json!({"id_token": self.sign(claims), "token_type": "Bearer"});
        self.site.answer_next(Reply::Json(200, token.to_string()));
        if is_first {
            self.site.answer_next(self.discovery());
            self.site.answer_next(self.keys());
        }
    }

    fn claims(&self, changes: &Value) -> Value {
        let now = jiff::Timestamp::now().as_second();
        let mut claims = json!({
            "iss": self.site.url(), "aud": "gate", "sub": "jane-1", "exp": now + 300, "iat": now,
            "email": "jane@clinic.example", "groups": ["Admins"], "sid": "s-1",
        });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
    }

    fn logout(&self, changes: &Value) -> String {
        let now = jiff::Timestamp::now().as_second();
        let mut claims = json!({
            "iss": self.site.url(), "aud": "gate", "sub": "jane-1", "iat": now, "jti": "t-1",
            "events": { LOGOUT_EVENT: {} },
        });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        self.sign(&claims)
    }

    fn set(&self, gateway: &Gateway) -> Output {
        let url = self.site.url();
        let head = ["sso", "set", "--issuer", &url, "--client-id", "gate"];
        let rest = [
            "--role",
            "owner=Admins",
            "--role",
            "viewer=All",
            "--client-secret-stdin",
        ];
        gateway.try_command(&[&head[..], &rest].concat(), SECRET)
    }
}

/// A browser: its cookies, and requests without following.
struct Browser<'a> {
    gateway: &'a Gateway,
    cookies: Vec<(String, String)>,
}

impl<'a> Browser<'a> {
    fn new(gateway: &'a Gateway) -> Self {
        let cookies = Vec::new();
        Self { gateway, cookies }
    }

    fn send(&mut self, head: &str, body: &str) -> Answer {
        let cookies = self.cookies.iter();
        let cookies: Vec<String> = cookies
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = format!(
            "{head} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.gateway.address,
            cookies.join("; "),
            body.len()
        );
        let answer = exchange(&self.gateway.address, request.as_bytes());
        for (name, line) in &answer.headers {
            if name.eq_ignore_ascii_case("set-cookie") {
                let pair = line.split(';').next().unwrap();
                let (name, value) = pair.split_once('=').unwrap();
                self.cookies.retain(|(known, _)| known != name);
                if !value.is_empty() {
                    self.cookies.push((name.to_owned(), value.to_owned()));
                }
            }
        }
        answer
    }

    fn get(&mut self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), "")
    }

    fn is_in(&mut self) -> bool {
        self.get("/").status == 200
    }

    /// Begins a login; the parameters of the address at the provider.
    fn begin(&mut self) -> std::collections::HashMap<String, String> {
        let answer = self.get("/login/sso/default?next=%2Fusers");
        assert_eq!(answer.status, 303, "{}", answer.text());
        let there = answer.header("location").unwrap().to_owned();
        let query = there.split_once('?').unwrap().1;
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap());
        pairs
            .map(|(name, value)| (name.to_owned(), decoded(value)))
            .collect()
    }

    /// A whole login with these claims over sound ones.
    fn sign_in(&mut self, idp: &Idp, changes: &Value, is_first: bool) -> Answer {
        if is_first {
            idp.site.answer_next(idp.discovery());
        }
        let asked = self.begin();
        let mut claims = idp.claims(&json!({"nonce": asked["nonce"]}));
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        idp.answer_login(&claims, is_first);
        self.get(&format!(
            "/login/sso/default/callback?code=c-1&state={}",
            asked["state"]
        ))
    }

    /// Signs in with a password.
    fn password(&mut self, email: &str) -> Answer {
        let page = self.get("/login").text();
        let token = page.split("name=\"csrf\" value=\"").nth(1).unwrap();
        let token = token.split('"').next().unwrap();
        let password = PASSWORD.replace(' ', "+");
        let body = format!("csrf={token}&email={email}&password={password}");
        self.send("POST /login", &body)
    }
}

fn decoded(text: &str) -> String {
    text.replace("%3A", ":")
        .replace("%2F", "/")
        .replace("%20", " ")
}

fn started(idp: &Idp) -> Gateway {
    let mut gateway = Gateway::offline();
    gateway.serve();
    let set = idp.set(&gateway);
    let told = String::from_utf8_lossy(&set.stderr).into_owned();
    assert_eq!(set.status.code(), Some(0), "{told}");
    assert!(told.contains("/login/sso/default/callback"), "{told}");
    assert!(
        told.contains("/login/sso/default/backchannel-logout"),
        "{told}"
    );
    assert!(
        told.contains("break-glass") && !told.contains(SECRET),
        "{told}"
    );
    gateway
}

#[test]
fn person_signs_in_with_roles_of_groups() {
    let idp = Idp::start();
    let gateway = started(&idp);
    let mut browser = Browser::new(&gateway);
    assert!(browser.get("/login").text().contains("/login/sso/default"));
    let answer = browser.sign_in(&idp, &json!({"groups": ["Other", "Admins"]}), true);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains("url=/users"));
    let users = browser.get("/users").text();
    assert!(users.contains("jane@clinic.example") && users.contains("jane-1"));
    // The provider got the secret of the client, and the value whose hash it had seen.
    let seen = idp.site.seen();
    let exchange = seen.iter().find(|seen| seen.target == "/token").unwrap();
    assert!(
        exchange
            .header("authorization")
            .unwrap()
            .starts_with("Basic ")
    );
    let records = gateway.command(&["audit", "export"]);
    let login = records
        .lines()
        .find(|line| line.contains("\"login\""))
        .unwrap();
    assert!(
        login.contains("jane-1 at http") && login.contains("owner"),
        "{login}"
    );
    assert!(!records.contains(SECRET) && !records.contains("c-1\""));
}

#[test]
fn verifier_belongs_to_challenge() {
    let idp = Idp::start();
    let gateway = started(&idp);
    let mut browser = Browser::new(&gateway);
    idp.site.answer_next(idp.discovery());
    let asked = browser.begin();
    assert_eq!(asked["code_challenge_method"], "S256");
    assert!(asked["redirect_uri"].ends_with("/login/sso/default/callback"));
    idp.answer_login(&idp.claims(&json!({"nonce": asked["nonce"]})), true);
    browser.get(&format!(
        "/login/sso/default/callback?code=c-1&state={}",
        asked["state"]
    ));
    let seen = idp.site.seen();
    let sent = &seen
        .iter()
        .find(|seen| seen.target == "/token")
        .unwrap()
        .body;
    let sent = String::from_utf8_lossy(sent).into_owned();
    let verifier = sent.split("code_verifier=").nth(1).unwrap();
    let verifier = verifier.split('&').next().unwrap();
    let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
    assert_eq!(challenge, asked["code_challenge"]);
}

#[test]
fn wrong_login_opens_nothing_and_is_recorded() {
    let idp = Idp::start();
    let gateway = started(&idp);
    assert!(
        Browser::new(&gateway)
            .sign_in(&idp, &json!({}), true)
            .status
            == 200
    );
    for (changes, cause) in [
        (json!({"groups": ["Other"]}), "no_role"),
        (json!({"groups": null}), "no_groups"),
        (json!({"_claim_names": {"groups": "src1"}}), "overage"),
        (json!({"aud": "other"}), "audience"),
        (json!({"exp": 1}), "clock"),
        (json!({"nonce": "another"}), "nonce"),
        (
            json!({"iss": format!("{}/", idp.site.url())}),
            "issuer_slash",
        ),
    ] {
        let mut browser = Browser::new(&gateway);
        let answer = browser.sign_in(&idp, &changes, false);
        assert_eq!(answer.status, 401, "{cause}: {}", answer.text());
        assert!(!browser.is_in(), "{cause}");
        let records = gateway.command(&["audit", "export"]);
        assert!(
            records.contains(&format!("\"cause\":\"{cause}\"")),
            "{cause}"
        );
    }
    // The state of one browser opens nothing in another.
    let (mut mine, mut theirs) = (Browser::new(&gateway), Browser::new(&gateway));
    let asked = mine.begin();
    theirs.begin();
    let path = format!(
        "/login/sso/default/callback?code=c-1&state={}",
        asked["state"]
    );
    assert_eq!(theirs.get(&path).status, 401);
}

#[test]
fn login_lowers_rights_of_other_sessions() {
    let idp = Idp::start();
    let gateway = started(&idp);
    let (mut first, mut second) = (Browser::new(&gateway), Browser::new(&gateway));
    first.sign_in(&idp, &json!({}), true);
    assert_eq!(first.get("/users").status, 200);
    second.sign_in(
        &idp,
        &json!({"groups": ["All"], "email": "new@clinic.example"}),
        false,
    );
    assert!(second.is_in());
    assert_eq!(first.get("/users").status, 403);
    let users = gateway.command(&["user", "list", "--json"]);
    assert_eq!(users.matches("jane-1").count(), 1, "{users}");
    // Without any role the sessions end.
    Browser::new(&gateway).sign_in(&idp, &json!({"groups": []}), false);
    assert!(!first.is_in() && !second.is_in());
}

#[test]
fn logout_token_ends_sessions_once() {
    let idp = Idp::start();
    let gateway = started(&idp);
    let mut browser = Browser::new(&gateway);
    browser.sign_in(&idp, &json!({}), true);
    assert!(browser.is_in());
    let send = |token: &str| {
        let body = format!("logout_token={token}");
        Browser::new(&gateway).send("POST /login/sso/default/backchannel-logout", &body)
    };
    for token in [
        "x".to_owned(),
        idp.logout(&json!({"aud": "other"})),
        idp.logout(&json!({"events": {}})),
        idp.logout(&json!({"nonce": "n"})),
    ] {
        assert_eq!(send(&token).status, 400);
        assert!(browser.is_in());
    }
    let token = idp.logout(&json!({"sid": "s-1"}));
    assert_eq!(send(&token).status, 200);
    assert!(!browser.is_in());
    browser.sign_in(&idp, &json!({}), false);
    assert_eq!(send(&token).status, 400);
    assert!(browser.is_in());
    let path = "/login/sso/default/backchannel-logout";
    assert_eq!(browser.get(path).status, 405);
}

#[test]
fn password_works_for_break_glass_owners_alone() {
    let idp = Idp::start();
    let gateway = started(&idp);
    let add = |email: &str, more: &[&str]| {
        let head = ["user", "add", email, "--password-stdin"];
        gateway
            .try_command(&[&head[..], more].concat(), PASSWORD)
            .status
            .code()
    };
    assert_eq!(
        add("glass@clinic.example", &["--break-glass", "on"]),
        Some(0)
    );
    assert_eq!(add("plain@clinic.example", &[]), Some(0));
    let not_owner = ["--role", "auditor", "--break-glass", "on"];
    assert_eq!(add("sam@clinic.example", &not_owner), Some(2));
    let mut glass = Browser::new(&gateway);
    assert_eq!(glass.password("glass%40clinic.example").status, 303);
    assert!(glass.is_in());
    let mut plain = Browser::new(&gateway);
    assert_eq!(plain.password("plain%40clinic.example").status, 401);
    let records = gateway.command(&["audit", "export"]);
    assert_eq!(records.matches("\"login.break_glass\"").count(), 1);
    let off = [
        "user",
        "set",
        "glass@clinic.example",
        "--break-glass",
        "off",
    ];
    gateway.command(&off);
    assert!(!glass.is_in());
    gateway.command(&["sso", "off"]);
    assert_eq!(plain.password("plain%40clinic.example").status, 303);
    assert!(!plain.get("/login").text().contains("/login/sso"));
}

#[test]
fn changed_settings_end_sessions_of_provider() {
    let idp = Idp::start();
    let gateway = started(&idp);
    let mut browser = Browser::new(&gateway);
    browser.sign_in(&idp, &json!({}), true);
    // Setting equal values again ends no session.
    idp.set(&gateway);
    assert!(browser.is_in());
    gateway.command(&["sso", "set", "--role", "auditor=Admins"]);
    assert!(!browser.is_in());
    let shown = gateway.command(&["sso", "show"]);
    assert!(
        shown.contains("auditor=Admins") && !shown.contains("viewer=All"),
        "{shown}"
    );
    assert!(shown.contains("client secret stored") && !shown.contains(SECRET));
}

#[test]
fn trial_names_mistakes() {
    let idp = Idp::start();
    let gateway = started(&idp);
    let trial = |replies: Vec<Reply>| {
        for reply in replies {
            idp.site.answer_next(reply);
        }
        let done = gateway.try_command(&["sso", "test"], "");
        (
            done.status.code(),
            String::from_utf8_lossy(&done.stdout).into_owned(),
        )
    };
    let refused = |error: &str| Reply::Json(400, json!({ "error": error }).to_string());
    let (code, told) = trial(vec![idp.discovery(), idp.keys(), refused("invalid_grant")]);
    assert_eq!(code, Some(0), "{told}");
    let (code, told) = trial(vec![idp.discovery(), idp.keys(), refused("invalid_client")]);
    assert!(
        code == Some(1) && told.contains("--client-secret-stdin"),
        "{told}"
    );
    let slash = json!({"issuer": format!("{}/", idp.site.url())});
    let (code, told) = trial(vec![Reply::Json(200, slash.to_string())]);
    assert!(code == Some(1) && told.contains("slash"), "{told}");
    let (code, told) = trial(vec![Reply::Json(404, "{}".to_owned())]);
    assert!(
        code == Some(1) && told.contains("openid-configuration"),
        "{told}"
    );
    assert!(!told.contains(SECRET));
}

#[test]
fn issuer_follows_rules_of_base_urls() {
    let mut gateway = Gateway::offline();
    gateway.set("PHIGATE_ALLOW_PRIVATE_PROVIDERS", "false");
    for issuer in [
        "http://idp.example",
        "https://127.0.0.1",
        "keycloak",
        "https://a:b@idp.example",
    ] {
        let set = [
            "sso",
            "set",
            "--issuer",
            issuer,
            "--client-id",
            "g",
            "--role",
            "owner=g",
        ];
        assert_eq!(
            gateway.try_command(&set, "").status.code(),
            Some(2),
            "{issuer}"
        );
    }
}
