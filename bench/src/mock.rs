//! A provider that answers at once, whole or as a stream. Now and then a stream repeats a token of the request, cut in
//! two, as a model does when it mentions a masked name.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

const ANSWER: &str = r#"{"id":"chatcmpl-bench","object":"chat.completion","created":1700000000,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"A lower dose may help; talk about sleep, timing of the dose and other medication first."},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":20,"total_tokens":40}}"#;

const EVENT: &str = "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"gpt-4o\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"finish_reason\":null}]}\n\n";

const LAST: &str = "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"gpt-4o\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Events of a stream, without the last.
const EVENTS: usize = 64;

/// Text that requests a long stream instead.
const LONG: &str = "a very long answer";
const LONG_EVENTS: usize = 100_000;

/// One in this many events starts with a token of the request, which the next event completes.
const TOKEN_EVERY: usize = 16;

/// Bytes of a body that are read before other tasks run.
const TURN_BYTES: usize = 64 * 1024;

type Body = BoxBody<Bytes, Infallible>;

/// Serves on a free loopback port and prints it.
pub(crate) async fn serve() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            let _ = connection
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
        });
    }
}

/// Number of requests received.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Reads a body in turns: here a large one must not delay small ones, because the delay would count against the
/// gateway.
async fn read(mut body: Incoming) -> Result<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            whole.extend_from_slice(&data);
        }
        if whole.len() > TURN_BYTES {
            tokio::task::yield_now().await;
        }
    }
    Ok(whole)
}

async fn answer(request: Request<Incoming>) -> Result<Response<Body>> {
    if request.uri().path() == "/count" {
        let count = COUNT.load(Ordering::Relaxed).to_string();
        return Ok(Response::new(Full::new(Bytes::from(count)).boxed()));
    }
    COUNT.fetch_add(1, Ordering::Relaxed);
    let body = read(request.into_body()).await?;
    if !body.ends_with(br#""stream":true}"#) {
        let response = Response::builder().header("content-type", "application/json");
        return Ok(response.body(Full::new(Bytes::from_static(ANSWER.as_bytes())).boxed())?);
    }
    let pieces = token(&body).map(|token| {
        let (head, tail) = token.split_at(token.len() / 2);
        [head, tail].map(|piece| Bytes::from(EVENT.replace("word ", piece)))
    });
    // Each event is a separate chunk with a pause between, as from a model.
    let is_long = String::from_utf8_lossy(&body).contains(LONG);
    let count = if is_long { LONG_EVENTS } else { EVENTS };
    let events = stream::unfold((0, pieces), move |(sent, pieces)| async move {
        tokio::task::yield_now().await;
        let plain = Bytes::from_static(EVENT.as_bytes());
        let event = match (sent, &pieces) {
            (sent, Some(pieces)) if sent < count && sent % TOKEN_EVERY >= TOKEN_EVERY - 2 => {
                pieces[sent % TOKEN_EVERY + 2 - TOKEN_EVERY].clone()
            }
            (sent, _) if sent < count => plain,
            (sent, _) if sent == count => Bytes::from_static(LAST.as_bytes()),
            _ => return None,
        };
        Some((Ok(Frame::data(event)), (sent + 1, pieces)))
    });
    let response = Response::builder().header("content-type", "text/event-stream");
    Ok(response.body(StreamBody::new(events).boxed())?)
}

/// First token of a masked value in a request: `[NAME_7K3QD]`.
fn token(body: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(body).ok()?;
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        let word = &rest[at..];
        let end = word.find(']')? + 1;
        let is_token = word[1..end - 1]
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        if is_token && word[..end].contains('_') {
            return Some(&word[..end]);
        }
        rest = &word[1..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_from_other_brackets() {
        let body = br#"{"messages":[{"content":"[a] [NAME] then [NAME_7K3QD] said"}]}"#;
        assert_eq!(token(body), Some("[NAME_7K3QD]"));
        assert_eq!(token(br#"{"messages":[{"content":"[NAME]"}]}"#), None);
    }
}
