//! A provider that answers at once, whole or as a stream.

use std::convert::Infallible;

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

/// Events of a stream besides the last.
const EVENTS: usize = 64;

type Body = BoxBody<Bytes, Infallible>;

/// Serves on a free port of loopback and says which.
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

async fn answer(request: Request<Incoming>) -> Result<Response<Body>> {
    let body = request.into_body().collect().await?.to_bytes();
    if !body.ends_with(br#""stream":true}"#) {
        let response = Response::builder().header("content-type", "application/json");
        return Ok(response.body(Full::new(Bytes::from_static(ANSWER.as_bytes())).boxed())?);
    }
    // Each event is a piece of its own, with a breath between, as a model writes.
    let events = stream::unfold(0, |sent| async move {
        tokio::task::yield_now().await;
        let text = match sent {
            ..EVENTS => EVENT,
            EVENTS => LAST,
            _ => return None,
        };
        Some((
            Ok(Frame::data(Bytes::from_static(text.as_bytes()))),
            sent + 1,
        ))
    });
    let response = Response::builder().header("content-type", "text/event-stream");
    Ok(response.body(StreamBody::new(events).boxed())?)
}
