//! Calls to a fake provider that answers with raw bytes, for every kind of misbehaviour.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

mod lines;

use super::*;

/// The fake provider's treatment of one connection.
#[derive(Clone, Copy)]
enum Act {
    /// Answers one request with these bytes and closes.
    Say(&'static str),
    /// Answers every request of the connection with these bytes.
    Keep(&'static str),
    /// Answers with this and then stalls.
    Stall(&'static str),
    /// Answers with this and then `x` forever.
    Endless(&'static str),
}

struct Fake {
    base: BaseUrl,
    connections: Arc<AtomicUsize>,
    received: tokio::sync::mpsc::UnboundedReceiver<String>,
}

/// Starts a fake provider with these acts, one per connection; the last act is repeated.
async fn fake(acts: &'static [Act]) -> Fake {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let (sender, received) = tokio::sync::mpsc::unbounded_channel();
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            let act = acts[number.min(acts.len() - 1)];
            tokio::spawn(perform(stream, act, sender.clone()));
        }
    });
    Fake {
        base: BaseUrl::parse(&base, true).unwrap(),
        connections,
        received,
    }
}

async fn perform(
    mut stream: TcpStream,
    act: Act,
    seen: tokio::sync::mpsc::UnboundedSender<String>,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let _ = seen.send(String::from_utf8_lossy(&buffer[..count]).into_owned());
        let (Act::Say(answer) | Act::Keep(answer) | Act::Stall(answer) | Act::Endless(answer)) =
            act;
        stream.write_all(answer.as_bytes()).await.unwrap();
        match act {
            Act::Say(_) => return,
            Act::Keep(_) => {}
            Act::Stall(_) => {
                // Waits for the client to close the connection, and reports it.
                let _ = stream.read(&mut buffer).await;
                let _ = seen.send("hung up".to_owned());
                return;
            }
            Act::Endless(_) => while stream.write_all(&[b'x'; 8192]).await.is_ok() {},
        }
    }
}

fn provider(limits: Limits) -> Provider {
    Provider::new(&limits, rules(true), None).unwrap()
}

fn rules(allow_private: bool) -> SetupRules {
    SetupRules {
        allow_private,
        allow_ambient: false,
    }
}

fn call<'a>(base: &BaseUrl, account: &'a str) -> Outgoing<'a> {
    Outgoing {
        account,
        destination: destination(base),
        method: Method::POST,
        path: ["v1", "chat", "completions"].map(str::to_owned).to_vec(),
        query: None,
        body: Bytes::from_static(b"{}"),
        traceparent: None,
    }
}

fn destination(base: &BaseUrl) -> Destination {
    Destination {
        given: Vec::new(),
        base: base.clone(),
        headers: &[
            ("content-type", "application/json"),
            ("x-patient", "Jane Roe"),
        ],
        authorizer: Authorizer::Header(
            http::header::AUTHORIZATION,
            HeaderValue::from_static("Bearer k"),
        ),
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

#[tokio::test]
async fn call_has_only_allowed_headers() {
    let mut fake = fake(&[Act::Say(OK)]).await;
    let answer = provider(Limits::default())
        .send(call(&fake.base, "a"))
        .await
        .unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body.read_all().await.unwrap(), "ok");
    let seen = fake.received.recv().await.unwrap();
    assert!(
        seen.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{seen}"
    );
    assert!(seen.ends_with("\r\n\r\n{}"), "{seen}");
    let mut names: Vec<&str> = seen
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "accept-encoding",
            "authorization",
            "content-length",
            "content-type",
            "host",
            "user-agent"
        ]
    );
}

#[tokio::test]
async fn accounts_never_share_connections() {
    let fake = fake(&[Act::Keep(OK)]).await;
    let provider = provider(Limits::default());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(fake.connections.load(Ordering::SeqCst), 0);
    for (account, opened) in [("a", 1), ("a", 1), ("b", 2), ("a", 2), ("b", 2)] {
        provider
            .send(call(&fake.base, account))
            .await
            .unwrap()
            .body
            .read_all()
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(
            fake.connections.load(Ordering::SeqCst),
            opened,
            "account {account}"
        );
    }
}

#[rustfmt::skip] // one row per line
const MISBEHAVIOUR: &[(&str, &[Act], ProviderError)] = &[
    // Misbehaviour, acts, expected error.
    ("redirects", &[Act::Say("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n")], ProviderError::Redirect),
    ("speaks something else", &[Act::Say("SSH-2.0-nothing\r\n\r\n")], ProviderError::Broken),
    ("hangs up", &[Act::Say("")], ProviderError::Broken),
    ("says two lengths", &[Act::Say("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab")], ProviderError::Broken),
    ("stops in the middle", &[Act::Say("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab")], ProviderError::Broken),
    ("stops between chunks", &[Act::Say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n")], ProviderError::Broken),
    ("compresses unasked", &[Act::Say("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\na")], ProviderError::Broken),
    ("never answers", &[Act::Stall("")], ProviderError::Timeout),
    ("falls silent", &[Act::Stall("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab")], ProviderError::Timeout),
    ("never ends", &[Act::Endless("HTTP/1.1 200 OK\r\n\r\n")], ProviderError::TooLarge),
    ("sends a header without end", &[Act::Endless("HTTP/1.1 200 OK\r\nx: ")], ProviderError::Broken),
];

#[tokio::test]
async fn misbehaviour_has_a_name() {
    let limits = Limits {
        first_byte_ms: 200,
        stream_idle_ms: 200,
        response_bytes: 100_000,
        provider_retries: 0,
        ..Limits::default()
    };
    for (what, acts, error) in MISBEHAVIOUR {
        let fake = fake(acts).await;
        let got = match provider(limits).send(call(&fake.base, "a")).await {
            Ok(answer) => answer.body.read_all().await.err(),
            Err(error) => Some(error),
        };
        assert_eq!(got, Some(*error), "a provider that {what}");
    }
}

#[tokio::test]
async fn retryable_answer_is_retried() {
    const BUSY: &str = "HTTP/1.1 429 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n";
    let again = fake(&[Act::Say(BUSY), Act::Say(OK)]).await;
    assert_eq!(
        provider(Limits::default())
            .send(call(&again.base, "a"))
            .await
            .unwrap()
            .status,
        200
    );
    let busy = fake(&[Act::Say(BUSY)]).await;
    assert_eq!(
        provider(Limits::default())
            .send(call(&busy.base, "a"))
            .await
            .unwrap()
            .status,
        429
    );
    assert_eq!(
        busy.connections.load(Ordering::SeqCst),
        3,
        "two further attempts and no more"
    );
    let failing = fake(&[Act::Say("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n")]).await;
    assert_eq!(
        provider(Limits::default())
            .send(call(&failing.base, "a"))
            .await
            .unwrap()
            .status,
        500
    );
    assert_eq!(failing.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn closed_port_is_unreachable() {
    let address = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let base = BaseUrl::parse(&format!("http://{address}"), true).unwrap();
    assert_eq!(
        provider(Limits::default())
            .send(call(&base, "a"))
            .await
            .err(),
        Some(ProviderError::Unreachable)
    );
}

#[tokio::test]
async fn address_turned_private_is_not_contacted() {
    let fake = fake(&[Act::Say(OK)]).await;
    let strict = Provider::new(&Limits::default(), rules(false), None).unwrap();
    assert_eq!(
        strict.send(call(&fake.base, "a")).await.err(),
        Some(ProviderError::Forbidden)
    );
    assert_eq!(fake.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn pieces_received_together_are_read_together() {
    const PIECES: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
                          1\r\na\r\n1\r\nb\r\n1\r\nc\r\n1\r\nd\r\n";
    let fake = fake(&[Act::Stall(PIECES)]).await;
    let provider = provider(Limits::default());
    let mut answer = provider.send(call(&fake.base, "a")).await.unwrap().body;
    let mut together = answer.next().await.unwrap().unwrap().to_vec();
    while let Some(piece) = answer.next_at_hand().await {
        together.extend_from_slice(&piece.unwrap());
    }
    assert_eq!(together, b"abcd");
}

#[tokio::test]
async fn dropping_an_answer_closes_the_call() {
    for head_first in [false, true] {
        let acts: &[Act] = if head_first {
            &[Act::Stall(
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n",
            )]
        } else {
            &[Act::Stall("")]
        };
        let mut fake = fake(acts).await;
        let provider = provider(Limits::default());
        if head_first {
            let mut answer = provider.send(call(&fake.base, "a")).await.unwrap();
            assert_eq!(answer.body.next().await.unwrap().unwrap(), "ab");
            drop(answer);
        } else {
            let sent = tokio::time::timeout(
                Duration::from_millis(100),
                provider.send(call(&fake.base, "a")),
            )
            .await;
            assert!(sent.is_err());
        }
        assert!(fake.received.recv().await.unwrap().starts_with("POST"));
        let next = tokio::time::timeout(Duration::from_secs(1), fake.received.recv()).await;
        assert_eq!(
            next.expect("the connection stayed open"),
            Some("hung up".to_owned())
        );
    }
}

#[tokio::test]
async fn probe_returns_the_response() {
    let fake = fake(&[Act::Say(
        "HTTP/1.1 401 No\r\ncontent-length: 8\r\n\r\nJane Roe",
    )])
    .await;
    let probe = phigate_core::wire::probe_of_kind(phigate_types::ProviderKind::OpenAi).unwrap();
    let provider = provider(Limits::default());
    let told = provider.probe("a", destination(&fake.base), probe).await;
    let told = told.unwrap();
    assert_eq!(told.status, StatusCode::UNAUTHORIZED);
    assert_eq!(told.body, "Jane Roe");
}

const TOKEN: &str =
    "HTTP/1.1 200 OK\r\ncontent-length: 41\r\n\r\n{\"access_token\":\"one\",\"expires_in\":3599}\n";
const TOKEN_TWO: &str =
    "HTTP/1.1 200 OK\r\ncontent-length: 41\r\n\r\n{\"access_token\":\"two\",\"expires_in\":3599}\n";
const NO: &str = "HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n";

/// A call with a token of Entra, from this endpoint.
fn with_token<'a>(base: &BaseUrl, token_url: &str) -> Outgoing<'a> {
    let scheme = phigate_auth::Scheme::Entra {
        tenant: Some("t".to_owned()),
        client_id: Some("c".to_owned()),
        token_url: Some(token_url.to_owned()),
        host: String::new(),
    };
    let secret = Some(phigate_store::SecretString::from("hunter2"));
    let mut call = call(base, "a");
    let claim = Box::new(identities::Claim { scheme, secret });
    call.destination.authorizer = Authorizer::Identity(claim);
    call
}

#[tokio::test]
async fn refused_token_is_renewed_once() {
    for (acts, status, calls) in [
        (&[Act::Say(OK)][..], 200, 1),
        (&[Act::Say(NO), Act::Say(OK)], 200, 2),
        (&[Act::Say(NO)], 401, 2),
    ] {
        let mut tokens = fake(&[Act::Say(TOKEN), Act::Say(TOKEN_TWO)]).await;
        let mut service = fake(acts).await;
        let provider = provider(Limits::default());
        let token_url = format!("{}/t/token", tokens.base);
        let answer = provider.send(with_token(&service.base, &token_url)).await;
        assert_eq!(answer.unwrap().status, status);
        assert_eq!(service.connections.load(Ordering::SeqCst), calls);
        let asked = tokens.received.recv().await.unwrap();
        assert!(asked.starts_with("POST /t/token HTTP/1.1\r\n"), "{asked}");
        assert!(asked.contains("client_secret=hunter2"), "{asked}");
        for token in ["one", "two"].into_iter().take(calls) {
            let seen = service.received.recv().await.unwrap();
            assert!(
                seen.contains(&format!("authorization: Bearer {token}\r\n")),
                "{seen}"
            );
        }
    }
}

#[tokio::test]
async fn token_is_cached_by_its_credentials() {
    let tokens = fake(&[Act::Say(TOKEN), Act::Say(TOKEN_TWO)]).await;
    let mut service = fake(&[Act::Say(OK)]).await;
    let provider = provider(Limits::default());
    let token_url = format!("{}/t/token", tokens.base);
    for _ in 0..3 {
        let call = with_token(&service.base, &token_url);
        provider.send(call).await.unwrap();
        assert!(
            service
                .received
                .recv()
                .await
                .unwrap()
                .contains("Bearer one")
        );
    }
    let mut call = with_token(&service.base, &token_url);
    call.account = "b";
    provider.send(call).await.unwrap();
    assert!(
        service
            .received
            .recv()
            .await
            .unwrap()
            .contains("Bearer two")
    );
    assert_eq!(tokens.connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn token_endpoint_failures_are_bounded_and_distinct() {
    use phigate_auth::Reason;
    let limits = Limits {
        first_byte_ms: 300,
        ..Limits::default()
    };
    for (act, error) in [
        (Act::Say(NO), AuthError::Refused(Reason::Other)),
        (
            Act::Say("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"),
            AuthError::Unreachable,
        ),
        (
            Act::Say(
                "HTTP/1.1 302 No\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
            ),
            AuthError::Unreadable,
        ),
        (
            Act::Say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
            AuthError::Unreadable,
        ),
        (Act::Say("nonsense"), AuthError::Unreadable),
        (
            Act::Endless("HTTP/1.1 200 OK\r\n\r\n"),
            AuthError::Unreadable,
        ),
        (Act::Stall(""), AuthError::Timeout),
    ] {
        let acts: &'static [Act] = Box::leak(Box::new([act]));
        let (tokens, service) = (fake(acts).await, fake(&[Act::Say(OK)]).await);
        let token_url = format!("{}/t/token", tokens.base);
        let started = Instant::now();
        let answer = provider(limits)
            .send(with_token(&service.base, &token_url))
            .await;
        assert_eq!(answer.err(), Some(ProviderError::Token(error)));
        assert!(started.elapsed() < Duration::from_secs(3));
        assert_eq!(service.connections.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn token_endpoints_follow_the_provider_rules() {
    let (tokens, service) = (fake(&[Act::Say(TOKEN)]).await, fake(&[Act::Say(OK)]).await);
    let strict = Provider::new(&Limits::default(), rules(false), None).unwrap();
    let port = tokens
        .base
        .to_string()
        .rsplit(':')
        .next()
        .unwrap()
        .to_owned();
    for url in [
        format!("{}/t/token", tokens.base),
        format!("https://127.0.0.1:{port}/t/token"),
        format!("https://localhost:{port}/t/token"),
    ] {
        let answer = strict.send(with_token(&service.base, &url)).await;
        assert_eq!(
            answer.err(),
            Some(ProviderError::Token(AuthError::Unreachable)),
            "{url}"
        );
    }
    assert_eq!(tokens.connections.load(Ordering::SeqCst), 0);
}
