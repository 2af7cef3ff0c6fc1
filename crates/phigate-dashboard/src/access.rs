//! The one gate of the dashboard: origin of a request, sender, permission, and the headers of the response.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{self, FromRequest, Query, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::request::Parts;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use phigate_store::{Account, RevealRequest, SecretString, Session, StoreError};

use super::Dash;
use super::cookies::{self, Cookie};
use super::fields::{Fields, encode};
use super::layout::{Layout, Theme};
use super::visit::{Frame, Guest, PageError, RequestContext, SignedIn, redirect};
use phigate_edge::{ClientAddress, EdgeError, InflightPermit, Upload};
use phigate_types::{Approvals, Right, Roles};

/// Permission that a route requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// No permission: signing in, first run, assets.
    Nobody,
    /// No session and no form token, because the form holds a signed token of an identity provider.
    Provider,
    /// A person of any role.
    Member,
    /// A person whose role has this right.
    May(Right),
}

impl Needs {
    /// Whether roles are enough.
    pub(crate) fn admits(self, roles: Roles) -> bool {
        match self {
            Needs::Nobody | Needs::Provider | Needs::Member => true,
            Needs::May(right) => roles.may(right),
        }
    }

    /// The right that is needed, if any.
    fn right(self) -> Option<Right> {
        match self {
            Needs::Nobody | Needs::Provider | Needs::Member => None,
            Needs::May(right) => Some(right),
        }
    }
}

/// Permissions of an address of the dashboard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    /// To open it.
    pub(crate) opens: Needs,
    /// To send the form at the same address.
    pub(crate) changes: Needs,
}

/// The most a form may hold: a long text for the playground, percent-encoded, and a document in base64. Guests' forms
/// are far smaller.
const FORM_BYTES_MAX: u64 = 7 * 1024 * 1024;

/// Sent by the script of a page that refreshes itself.
const LIVE: HeaderName = HeaderName::from_static("x-live");

const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not `no-referrer`: with it browsers hide the origin of forms, which we check.
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=()",
    ),
];

/// Lets a request through to its page, or answers it here.
pub(crate) async fn gate(
    State((dash, access)): State<(Dash, Access)>,
    request: Request,
    next: Next,
) -> Response {
    let is_secure = dash.is_secure;
    let theme = theme(&dash, request.headers());
    let mut inside = None;
    let admitted = match access.opens {
        Needs::Nobody => admit_guest(&dash, request).await,
        Needs::Provider => admit_provider(&dash, request).await,
        Needs::Member | Needs::May(_) => admit_member(&dash, access, request).await,
    };
    let mut response = match admitted {
        Ok(request) => {
            let visit = request.extensions().get::<SignedIn>();
            inside = visit.map(|visit| visit.layout(""));
            let fresh = request.extensions().get::<FreshGuest>().cloned();
            let mut response = next.run(request).await;
            let is_page = response
                .headers()
                .get(header::CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
            if let Some(FreshGuest(cookie)) = fresh.filter(|_| is_page) {
                response
                    .headers_mut()
                    .append(header::SET_COOKIE, Cookie::Guest.set(&cookie, is_secure));
            }
            response
        }
        Err(answer) => *answer,
    };
    if let Some(error) = response.extensions_mut().remove::<PageError>() {
        let refused = response.extensions_mut().remove::<Layout>();
        let guest = || Layout {
            theme,
            ..Layout::default()
        };
        response = error.draw(&inside.or(refused).unwrap_or_else(guest));
    }
    protect(&mut response, is_secure);
    response
}

/// Renders the page for an address without a route.
pub(crate) async fn missing(dash: &Dash, headers: &HeaderMap) -> Response {
    let theme = theme(dash, headers);
    let layout = match Cookie::Session.read(headers, dash.is_secure) {
        Some(cookie) => member_layout(dash, &cookie, theme).await,
        None => None,
    };
    let guest = || Layout {
        theme,
        ..Layout::default()
    };
    let mut response = PageError::NotFound.draw(&layout.unwrap_or_else(guest));
    protect(&mut response, dash.is_secure);
    response
}

/// Returns the layout for the session of this cookie, if it is valid. Does not extend the session.
async fn member_layout(dash: &Dash, cookie: &str, theme: Theme) -> Option<Layout> {
    let session = session_of(dash, cookie, false).await.ok()??;
    let accounts = &dash.vault.accounts;
    let account = accounts.account(&session.user.account_id).await.ok()?;
    let frame = Frame {
        navigation: dash.navigation,
        theme,
        form_token: &cookies::form_token(cookie),
    };
    Some(frame.layout(&session, &account, ""))
}

fn theme(dash: &Dash, headers: &HeaderMap) -> Theme {
    Cookie::Theme
        .read(headers, dash.is_secure)
        .map_or(Theme::Auto, |code| Theme::from_code(&code))
}

/// Gives a page the headers that every page has.
pub(crate) fn protect(response: &mut Response, is_secure: bool) {
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    if is_secure {
        headers.insert(
            header::STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000"),
        );
    }
}

/// A cookie just made for a guest, to be set with the answer.
#[derive(Debug, Clone)]
struct FreshGuest(String);

async fn admit_guest(dash: &Dash, request: Request) -> Result<Request, Box<Response>> {
    let (mut parts, upload) = Upload::split(request);
    let known = Cookie::Guest.read(&parts.headers, dash.is_secure);
    let form = if is_write(&parts)? {
        // Without the cookie of a page of ours there is no token that could belong to it.
        let cookie = known
            .as_deref()
            .ok_or_else(|| refused(PageError::StaleForm))?;
        let read = upload.read_from_stranger().await;
        Some(Form::parse(&parts, read, cookie).await?)
    } else {
        None
    };
    let cookie = match known {
        Some(cookie) => cookie,
        None => {
            let fresh = cookies::random_token().ok_or_else(|| refused(PageError::Broken))?;
            parts.extensions.insert(FreshGuest(fresh.clone()));
            fresh
        }
    };
    let context = context(dash, &mut parts, form, &cookie).await;
    parts.extensions.insert(Guest(Arc::new(context)));
    Ok(Request::from_parts(parts, Body::empty()))
}

/// Admits a form that an identity provider posts. Its signed token is checked by the page.
async fn admit_provider(dash: &Dash, request: Request) -> Result<Request, Box<Response>> {
    let (mut parts, upload) = Upload::split(request);
    let read = upload.read_from_stranger().await;
    let Ok(form) = Form::read(&parts, read).await else {
        return Err(Box::new(StatusCode::BAD_REQUEST.into_response()));
    };
    let context = context(dash, &mut parts, Some(form), "").await;
    parts.extensions.insert(Guest(Arc::new(context)));
    Ok(Request::from_parts(parts, Body::empty()))
}

async fn admit_member(
    dash: &Dash,
    access: Access,
    request: Request,
) -> Result<Request, Box<Response>> {
    let (mut parts, upload) = Upload::split(request);
    let is_write = is_write(&parts)?;
    let cookie = Cookie::Session
        .read(&parts.headers, dash.is_secure)
        .ok_or_else(|| sign_in_first(&parts))?;
    // A page that refreshes itself does not extend the session.
    let is_alone = parts.headers.get(LIVE).is_some_and(|live| live == "1");
    let is_use = parts.method != Method::GET || !is_alone;
    let session = session_of(dash, &cookie, is_use)
        .await?
        .ok_or_else(|| sign_in_first(&parts))?;
    let accounts = &dash.vault.accounts;
    let account = accounts.account(&session.user.account_id).await;
    let account = account.map_err(|error| refused(error.into()))?;
    let refused_inside = |mut response: Box<Response>| {
        let frame = Frame {
            navigation: dash.navigation,
            theme: theme(dash, &parts.headers),
            form_token: &cookies::form_token(&cookie),
        };
        let layout = frame.layout(&session, &account, "");
        response.extensions_mut().insert(layout);
        response
    };
    if !access.opens.admits(session.user.roles) {
        let error = PageError::WrongRole(access.opens.right());
        return Err(refused_inside(refused(error)));
    }
    let form = if is_write {
        let read =
            upload.read_with_proof(FORM_BYTES_MAX, |start| begins_with_token(&cookie, start));
        let form = Form::parse(&parts, read.await, &cookie).await;
        Some(form.map_err(refused_inside)?)
    } else {
        None
    };
    let lacks_factor = account.settings.require_second_factor && lacks_factor(&session);
    if lacks_factor && !is_own_login(parts.uri.path()) {
        return Err(refused_inside(refused(PageError::NoSecondFactor)));
    }
    let waiting = waiting(dash, &session, &account).await;
    let waiting = waiting.map_err(|error| refused(error.into()))?;
    let context = context(dash, &mut parts, form, &cookie).await;
    let may_change = access.changes.admits(session.user.roles);
    parts.extensions.insert(SignedIn {
        waiting,
        context: Arc::new(context),
        actor: session.user.actor().into(),
        session: Arc::new(session),
        account,
        navigation: dash.navigation,
        may_change,
    });
    Ok(Request::from_parts(parts, Body::empty()))
}

/// Number of requests to reveal content that a person may approve.
async fn waiting(dash: &Dash, session: &Session, account: &Account) -> Result<usize, StoreError> {
    let takes_two = account.settings.reveal_approvals == Approvals::Two;
    if !takes_two || !session.user.roles.may(Right::Reveal) {
        return Ok(0);
    }
    let (open, actor) = (
        dash.vault.reveals.open(&account.id).await?,
        session.user.actor(),
    );
    let waits = |one: &&RevealRequest| !one.is_approved() && one.actor != actor;
    Ok(open.iter().filter(waits).count())
}

/// Whether a person has no second factor here. The identity provider asks for one from those who come from it.
fn lacks_factor(session: &Session) -> bool {
    !session.user.has_totp && session.user.subject.is_none()
}

/// Whether a path is about a person's own login, or is part of every page. If a second factor is required, a person
/// without one may use only these.
fn is_own_login(path: &str) -> bool {
    matches!(path, "/account" | "/logout" | "/theme") || path.starts_with("/account/")
}

async fn session_of(
    dash: &Dash,
    cookie: &str,
    is_use: bool,
) -> Result<Option<Session>, Box<Response>> {
    let vault = &dash.vault;
    let session = if is_use {
        vault.sessions.session(cookie).await
    } else {
        vault.sessions.peek_session(cookie).await
    };
    session.map_err(|error| refused(error.into()))
}

/// Whether a visit changes something, and so brings a form. That must come from one of our pages.
fn is_write(parts: &Parts) -> Result<bool, Box<Response>> {
    if matches!(parts.method, Method::GET | Method::HEAD) {
        return Ok(false);
    }
    if comes_from_us(parts) {
        Ok(true)
    } else {
        Err(refused(PageError::StaleForm))
    }
}

/// The form of a write, with its share of all bodies in flight.
struct Form {
    fields: Fields,
    inflight: InflightPermit,
}

impl Form {
    /// Takes what was read as a form whose token belongs to this cookie.
    async fn parse(
        parts: &Parts,
        read: Result<(Bytes, InflightPermit), EdgeError>,
        cookie: &str,
    ) -> Result<Self, Box<Response>> {
        let form = Self::read(parts, read).await?;
        if cookies::is_form_token(cookie, form.fields.get("csrf")) {
            Ok(form)
        } else {
            Err(refused(PageError::StaleForm))
        }
    }

    /// Takes what was read as a form, without a token.
    async fn read(
        parts: &Parts,
        read: Result<(Bytes, InflightPermit), EdgeError>,
    ) -> Result<Self, Box<Response>> {
        let (bytes, inflight) = read.map_err(|error| refused(unread(error)))?;
        let mut request = Request::new(Body::from(bytes));
        *request.method_mut() = parts.method.clone();
        *request.headers_mut() = parts.headers.clone();
        let form = extract::Form::<Vec<(String, String)>>::from_request(request, &()).await;
        let extract::Form(pairs) = form.map_err(|_| refused(PageError::StaleForm))?;
        let fields = Fields::new(pairs);
        Ok(Self { fields, inflight })
    }
}

/// Returns the page error for a form that could not be read.
fn unread(error: EdgeError) -> PageError {
    match error {
        EdgeError::BodyTooLarge => PageError::TooLarge,
        EdgeError::BodiesInFlight => PageError::Busy,
        _ => PageError::StaleForm,
    }
}

/// Whether a body begins with its form token, as every form of ours does. A large form is read on only if it does.
fn begins_with_token(cookie: &str, start: &[u8]) -> bool {
    let first = start.split(|byte| *byte == b'&').next();
    let token = first.and_then(|pair| pair.strip_prefix(b"csrf="));
    let token = token.and_then(|token| std::str::from_utf8(token).ok());
    token.is_some_and(|token| cookies::is_form_token(cookie, token))
}

/// Whether a write was sent by a page of ours, by the two headers that pages cannot forge.
/// Programs send neither; for them the form token decides alone.
fn comes_from_us(parts: &Parts) -> bool {
    let text = |name: HeaderName| {
        parts
            .headers
            .get(name)
            .map(|value| value.to_str().unwrap_or("?"))
    };
    let site = text(HeaderName::from_static("sec-fetch-site"));
    let is_same_origin = text(header::ORIGIN).is_none_or(|origin| {
        let authority = origin
            .strip_prefix("https://")
            .or_else(|| origin.strip_prefix("http://"));
        authority.is_some_and(|authority| authority == host(parts))
    });
    site.is_none_or(|site| site == "same-origin") && is_same_origin
}

/// The host as the browser knows it: HTTP/2 has it in the target, HTTP/1.1 in a header.
fn host(parts: &Parts) -> &str {
    let header = || {
        parts
            .headers
            .get(header::HOST)
            .and_then(|value| value.to_str().ok())
    };
    parts
        .uri
        .authority()
        .map(Authority::as_str)
        .or_else(header)
        .unwrap_or_default()
}

/// Sends a reader to the login and back; a writer gets the message that nothing was changed.
fn sign_in_first(parts: &Parts) -> Box<Response> {
    let is_page = parts.method == Method::GET && !parts.headers.contains_key(LIVE);
    if !is_page {
        return refused(PageError::SignedOut);
    }
    let wanted = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    Box::new(match wanted {
        "/" => redirect("/login"),
        wanted => redirect(&format!("/login?next={}", encode(wanted))),
    })
}

async fn context(
    dash: &Dash,
    parts: &mut Parts,
    form: Option<Form>,
    cookie: &str,
) -> RequestContext {
    let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    let text = |name: HeaderName| {
        parts
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    let (fields, inflight) = match form {
        Some(Form { fields, inflight }) => (fields, Some(inflight)),
        None => (Fields::default(), None),
    };
    let scheme = if dash.is_secure { "https" } else { "http" };
    let client = parts.extensions.get::<ClientAddress>();
    RequestContext {
        theme: theme(dash, &parts.headers),
        form_token: cookies::form_token(cookie),
        query: Fields::new(query.map(|Query(pairs)| pairs).unwrap_or_default()),
        form: fields,
        _inflight: inflight,
        origin: format!("{scheme}://{}", host(parts)),
        client: client.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |client| client.0),
        device: Cookie::Device
            .read(&parts.headers, dash.is_secure)
            .map(SecretString::new),
        sign_on: Cookie::SignOn
            .read(&parts.headers, dash.is_secure)
            .map(SecretString::new),
        agent: browser(text(header::USER_AGENT)),
    }
}

/// A browser and a system, in the words people use. Only our own words are kept of what the browser says.
fn browser(agent: &str) -> String {
    let first = |table: &'static [(&str, &str)]| {
        table
            .iter()
            .find(|(sign, _)| agent.contains(sign))
            .map(|(_, name)| *name)
    };
    // Most browsers also claim to be Chrome, and all to be Mozilla: the honest signs first.
    let browsers = &[
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    let systems = &[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    match (first(browsers), first(systems)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => "Unknown browser".to_owned(),
    }
}

fn refused(error: PageError) -> Box<Response> {
    Box::new(error.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(target: &str, pairs: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().uri(target);
        for (name, value) in pairs {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn writes_come_from_our_own_pages() {
        let host = ("host", "gate.example:8080");
        for (pairs, is_ours) in [
            (vec![host], true),
            (vec![host, ("origin", "https://gate.example:8080")], true),
            (
                vec![
                    host,
                    ("origin", "http://gate.example:8080"),
                    ("sec-fetch-site", "same-origin"),
                ],
                true,
            ),
            (vec![host, ("origin", "https://evil.example")], false),
            (
                vec![host, ("origin", "https://gate.example:8080.evil.example")],
                false,
            ),
            (vec![host, ("origin", "null")], false),
            (vec![host, ("sec-fetch-site", "cross-site")], false),
            (vec![host, ("sec-fetch-site", "same-site")], false),
            (vec![host, ("sec-fetch-site", "none")], false),
        ] {
            assert_eq!(comes_from_us(&parts("/keys", &pairs)), is_ours, "{pairs:?}");
        }
    }

    #[test]
    fn http2_origin_is_checked_against_target() {
        let target = "https://gate.example/keys";
        assert!(comes_from_us(&parts(
            target,
            &[("origin", "https://gate.example")]
        )));
        assert!(!comes_from_us(&parts(
            target,
            &[("origin", "https://evil.example")]
        )));
    }

    #[test]
    fn browsers_are_named_in_our_own_words() {
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        assert_eq!(browser(firefox), "Firefox on Linux");
        assert_eq!(browser("<script>"), "Unknown browser");
    }

    #[test]
    fn form_token_counts_only_in_first_position() {
        let token = cookies::form_token("session");
        for (start, is_proof) in [
            (format!("csrf={token}&text=abc"), true),
            (format!("csrf={token}"), true),
            (format!("text=abc&csrf={token}"), false),
            (
                format!("csrf={}&text=abc", cookies::form_token("other")),
                false,
            ),
            ("csrf=&text=abc".to_owned(), false),
            ("text=abc".to_owned(), false),
            (String::new(), false),
        ] {
            let start = start.as_bytes();
            assert_eq!(begins_with_token("session", start), is_proof);
        }
    }
}
