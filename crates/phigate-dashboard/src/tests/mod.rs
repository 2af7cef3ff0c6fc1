//! Permissions: every route, walked as a guest, a person of every role and the owner of another account.

mod approvals;
mod figures;
mod pages;
mod roles;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, Method, Request, StatusCode, header};
use phigate_edge::Drain;
use phigate_gateway::{Gateway, Metrics, ProviderSettings};
use phigate_store::{
    Decision, MasterKeySource, NewDecision, NewSecret, Options, ProviderConfig, SecretString,
    SessionPolicy, Target, User, Vault,
};
use phigate_types::{Limits, ProviderKind, Role};
use serde_json::json;
use tower::ServiceExt;
use uuid::Uuid;

use super::access::Needs;
use super::cookies::form_token;
use super::routes::{ROUTES, Route};
use crate::Server;

const HOST: &str = "gate.example";

async fn open(folder: &std::path::Path) -> Arc<Vault> {
    let target = Target::Folder(folder.join("data"));
    let master_key = MasterKeySource::File(folder.join("master.key"));
    let vault = Vault::open(Options::new(target, master_key)).await;
    Arc::new(vault.unwrap())
}

/// Parts of an unconfigured server that the pages get.
fn server(vault: &Arc<Vault>) -> Server {
    let (limits, metrics) = (Limits::default(), Metrics::new());
    let providers = ProviderSettings {
        allow_private: false,
        allow_ambient: false,
        ca_file: None,
    };
    let gateway = Gateway::new(
        &limits,
        providers,
        Arc::clone(vault),
        Arc::clone(&metrics),
        Drain::default(),
    );
    Server {
        vault: vault.as_ref().into(),
        gateway: gateway.unwrap(),
        metrics,
        limits,
        checkpoint_files: Vec::new(),
        is_secure: false,
    }
}

/// A server with two accounts; the first has a person of every role, a key and a record.
struct World {
    vault: Arc<Vault>,
    router: Router,
    owner: User,
    auditor: User,
    /// The further people of the account.
    others: Vec<User>,
    stranger: User,
    key_id: String,
    request_id: Uuid,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let vault = open(folder.path()).await;
        let home = vault.accounts.find_account(None).await.unwrap();
        let elsewhere = vault
            .accounts
            .create_account("elsewhere", "test")
            .await
            .unwrap();
        let password = SecretString::new("an invented password".to_owned());
        let user = async |account: &str, email: &str, role| {
            vault
                .people
                .create_user(account, email, &password, role, "test")
                .await
                .unwrap()
        };
        let owner = user(&home.id, "owner@clinic.example", Role::Owner).await;
        let auditor = user(&home.id, "auditor@clinic.example", Role::Auditor).await;
        let mut others = Vec::new();
        for role in Role::all().filter(|role| !matches!(role, Role::Owner | Role::Auditor)) {
            others.push(user(&home.id, &format!("{role}@clinic.example"), role).await);
        }
        let stranger = user(&elsewhere.id, "owner@other.example", Role::Owner).await;
        let key_id = vault
            .access
            .create_api_key(&home.id, "intake", None, "test")
            .await
            .unwrap()
            .id;
        let key = SecretString::new("an-invented-key".to_owned());
        let config = ProviderConfig::new(ProviderKind::OpenAi);
        vault
            .access
            .set_provider(&home.id, "mine", &config, NewSecret::Set(&key), "test")
            .await
            .unwrap();
        let request_id = record(&vault, &home.id, &key_id).await;
        let (router, _) = super::dashboard(server(&vault));
        World {
            vault,
            router,
            owner,
            auditor,
            others,
            stranger,
            key_id,
            request_id,
            _folder: folder,
        }
    }

    /// The person of a role other than owner and auditor.
    fn person(&self, role: Role) -> &User {
        let mut others = self.others.iter();
        others.find(|person| person.roles.has(role)).unwrap()
    }

    /// Checks that no user was removed, and no key revoked.
    async fn check_untouched(&self) {
        let account = &self.owner.account_id;
        let users = self.vault.people.users(account).await.unwrap();
        assert_eq!(users.len(), Role::all().len());
        assert!(
            users
                .iter()
                .all(|user| user.email.starts_with(user.roles.first().code()))
        );
        let keys = self.vault.access.api_keys(account).await.unwrap();
        assert!(keys[0].revoked.is_none());
    }

    /// A fresh session's cookie value.
    async fn sign_in(&self, user: &User) -> String {
        let session = self
            .vault
            .sessions
            .begin_session(user, SessionPolicy::default(), "test")
            .await
            .unwrap();
        session.token.expose().to_owned()
    }

    async fn visit(&self, route: &Route, visitor: Option<&User>) -> Response {
        let session = match visitor {
            Some(user) => Some(self.sign_in(user).await),
            None => None,
        };
        let token = session.as_deref().map(form_token).unwrap_or_default();
        self.send(route, session.as_deref(), &token, HeaderMap::new())
            .await
    }

    async fn send(
        &self,
        route: &Route,
        session: Option<&str>,
        token: &str,
        headers: HeaderMap,
    ) -> Response {
        let path = route
            .path
            .replace("{request_id}", &self.request_id.to_string())
            .replace("{id}", &self.key_id)
            .replace("{family}", "openai")
            .replace("{token}", "invented")
            .replace("{preset}", "azure")
            .replace("{provider}", "mine")
            .replace("{name}", "style.css");
        let mut request = Request::builder()
            .uri(path)
            .header(header::HOST, HOST)
            .method(route.method.clone());
        if let Some(session) = session {
            request = request.header(header::COOKIE, format!("phigate={session}"));
        }
        let mut body = Body::empty();
        if is_write(route) {
            request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
            let fields = "overlap=24h&reason=a+test+of+walls&email=auditor%40clinic.example";
            body = Body::from(format!("csrf={token}&{fields}"));
        }
        let mut request = request.body(body).unwrap();
        request.headers_mut().extend(headers);
        self.router.clone().oneshot(request).await.unwrap()
    }
}

async fn record(vault: &Vault, account_id: &str, key_id: &str) -> Uuid {
    let request_id = Uuid::now_v7();
    let decision: Decision = serde_json::from_value(json!({
        "request_id": request_id, "time": jiff::Timestamp::now(), "account": "default", "key_id": key_id,
        "mode": "flag", "action": "forwarded", "model": "gpt-4o", "family": "openai", "stream": false,
        "phi_detected": true, "types": {"name": 1}, "findings": [], "unscannable": [],
        "sizes": {"body": 10, "text": 5}, "detector_version": "test"
    }))
    .unwrap();
    let new = NewDecision {
        account_id: account_id.to_owned(),
        decision,
        original: Some(b"{}".as_slice().into()),
        sent: None,
        identifiers: Vec::new(),
        tokens: Vec::new(),
    };
    vault
        .trail
        .record_decision(new, Duration::from_secs(10))
        .await
        .unwrap();
    request_id
}

fn is_write(route: &Route) -> bool {
    route.method == Method::POST
}

fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// Whether a route takes no session.
fn is_open(needs: Needs) -> bool {
    matches!(needs, Needs::Nobody | Needs::Provider)
}

#[tokio::test]
async fn visitor_without_login_is_turned_away() {
    let world = World::new().await;
    for route in ROUTES.iter().filter(|route| !is_open(route.needs)) {
        let response = world.visit(route, None).await;
        if is_write(route) {
            assert_eq!(
                response.status(),
                StatusCode::UNAUTHORIZED,
                "{}",
                name(route)
            );
        } else {
            assert_eq!(response.status(), StatusCode::SEE_OTHER, "{}", name(route));
            let location = response.headers()[header::LOCATION].to_str().unwrap();
            assert!(
                location.starts_with("/login"),
                "{} leads to {location}",
                name(route)
            );
        }
    }
}

#[tokio::test]
async fn an_owner_may_use_every_route() {
    let world = World::new().await;
    for route in ROUTES.iter().filter(|route| !is_open(route.needs)) {
        let status = world.visit(route, Some(&world.owner)).await.status();
        let is_let_in = !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            && !status.is_server_error();
        assert!(is_let_in, "{} gives {status}", name(route));
        if !is_write(route) {
            assert_eq!(status, StatusCode::OK, "{}", name(route));
        }
    }
}

#[tokio::test]
async fn owner_of_another_account_sees_nothing() {
    let world = World::new().await;
    for route in ROUTES
        .iter()
        .filter(|route| route.path.contains("{id}") || route.path.contains("{request_id}"))
    {
        let status = world.visit(route, Some(&world.stranger)).await.status();
        assert_eq!(status, StatusCode::NOT_FOUND, "{}", name(route));
    }
    for route in ROUTES.iter().filter(|route| !is_open(route.needs)) {
        let body = world.visit(route, Some(&world.stranger)).await.into_body();
        let body = axum::body::to_bytes(body, 1 << 22).await.unwrap();
        // A form that could not be taken shows what the stranger typed into it.
        let text = String::from_utf8_lossy(&body).replace("value=\"auditor@clinic.example\"", "");
        for secret in ["clinic.example", world.key_id.as_str()] {
            assert!(!text.contains(secret), "{} shows {secret}", name(route));
        }
    }
    world.check_untouched().await;
}

#[tokio::test]
async fn write_needs_form_token_and_same_origin() {
    let world = World::new().await;
    // An identity provider's form holds a signed token instead.
    let is_form = |route: &&Route| is_write(route) && route.needs != Needs::Provider;
    for route in ROUTES.iter().filter(is_form) {
        let session = world.sign_in(&world.owner).await;
        let token = form_token(&session);
        let forbidden = async |token: &str, header: Option<(&'static str, &'static str)>| {
            let pairs = header
                .into_iter()
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            let status = world
                .send(route, Some(&session), token, pairs.collect())
                .await
                .status();
            assert_eq!(
                status,
                StatusCode::FORBIDDEN,
                "{} with {header:?}",
                name(route)
            );
        };
        forbidden("", None).await;
        forbidden(&form_token("another session"), None).await;
        forbidden(&token, Some(("origin", "https://evil.example"))).await;
        forbidden(&token, Some(("origin", "null"))).await;
        forbidden(&token, Some(("sec-fetch-site", "cross-site"))).await;
        forbidden(&token, Some(("sec-fetch-site", "same-site"))).await;
    }
}

#[tokio::test]
async fn every_answer_carries_the_protecting_headers() {
    let world = World::new().await;
    for route in ROUTES {
        for visitor in [None, Some(&world.owner)] {
            let response = world.visit(route, visitor).await;
            let header = |name: &str| {
                response
                    .headers()
                    .get(name)
                    .map(|value| value.to_str().unwrap().to_owned())
            };
            let policy = header("content-security-policy").unwrap_or_default();
            assert!(
                policy.starts_with("default-src 'none'; script-src 'self';"),
                "{}",
                name(route)
            );
            assert!(!policy.contains("unsafe"), "{}", name(route));
            assert_eq!(
                header("x-frame-options").as_deref(),
                Some("DENY"),
                "{}",
                name(route)
            );
            assert_eq!(
                header("x-content-type-options").as_deref(),
                Some("nosniff"),
                "{}",
                name(route)
            );
            let is_asset = route.path.starts_with("/assets/");
            assert_eq!(
                header("cache-control").as_deref() == Some("no-store"),
                !is_asset,
                "{}",
                name(route)
            );
        }
    }
}

#[tokio::test]
async fn ended_session_is_refused_at_once() {
    let world = World::new().await;
    let overview = ROUTES.iter().find(|route| route.path == "/").unwrap();
    let session = world.sign_in(&world.owner).await;
    let token = form_token(&session);
    let response = world
        .send(overview, Some(&session), &token, HeaderMap::new())
        .await;
    assert_eq!(response.status(), StatusCode::OK);
    let logout = ROUTES.iter().find(|route| route.path == "/logout").unwrap();
    let response = world
        .send(logout, Some(&session), &token, HeaderMap::new())
        .await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let response = world
        .send(overview, Some(&session), &token, HeaderMap::new())
        .await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
}
