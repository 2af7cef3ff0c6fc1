//! A streamed answer: relayed as it arrives, and never made to look finished when it is not.
//!
//! The caller's connection pulls: when it stops reading, nothing more is read from the
//! provider; when it goes away, this is dropped, and the provider's connection with it.

use std::pin::Pin;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderValue, StatusCode, header};
use phigate_core::reply::ReplyStream;
use phigate_core::wire::{FailureKind, ProviderFailure, StreamTranslator};
use phigate_types::ErrorFormat;

use phigate_edge::{Drain, PollOnWake};

use crate::error::GatewayError;
use crate::failure::{self, Unanswered};
use crate::forward::Exchange;
use crate::outcome::{Ended, OutcomeDue};
use crate::provider::{Answer, Incoming, ProviderError};
use crate::reply::withheld;

/// Relays a stream. Its outcome is recorded when it ends, however it ends.
///
/// The first event or failure decides the caller's status: a provider that fails before its first event is answered
/// with an error status, not a stream. If another provider `can_be_asked`, it may be asked instead.
pub(crate) async fn stream(
    exchange: &Exchange,
    incoming: Incoming,
    outcome: OutcomeDue,
    (drain, can_be_asked): (Drain, bool),
) -> Result<Response, (Unanswered, OutcomeDue)> {
    let door = exchange.door;
    let mut source = Source {
        translator: door.open_stream(exchange.format, &exchange.context),
        stage: exchange.reply.stage(door, exchange.context.event_bytes_max),
        answer: incoming.body,
        cut: PollOnWake::new(Box::pin(async move { drain.cut().await })),
        keeps_last_words: can_be_asked,
    };
    let (first, step) = source.read().await;
    match step {
        Err(Broken::Provider(failure)) if first.is_empty() => {
            return Err((failure.into(), outcome));
        }
        _ => {}
    }
    source.keeps_last_words = false;
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream; charset=utf-8"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    outcome.write_stream_headers(&mut response);
    let relay = Relay {
        errors: door.errors,
        source,
        outcome,
        first: Some((first, step)),
    };
    *response.body_mut() =
        Body::from_stream(stream::unfold(State::Open(Box::new(relay)), State::next));
    Ok(response)
}

/// Time for the error event to reach the caller before the connection breaks off.
const LAST_EVENT: Duration = Duration::from_millis(50);

/// Buffered bytes at which a write begins.
const WRITE_BYTES: usize = 16 * 1024;

/// Next bytes to send, and whether more may follow.
type Step = (Vec<u8>, Result<(), Broken>);

/// Reason why a stream ends early.
enum Broken {
    /// The provider failed.
    Provider(ProviderFailure),
    /// The rest of the reply is withheld.
    Withheld(GatewayError),
}

/// The provider's stream, its translation, and the treatment of the reply.
struct Source {
    translator: Box<dyn StreamTranslator + Send>,
    /// Stage that rewrites the reply; `None` if the reply is passed on unchanged.
    stage: Option<ReplyStream>,
    answer: Answer,
    /// The end of the grace period. One future for the whole stream: all streams wait for it at one place.
    cut: PollOnWake<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Whether another provider may begin anew, so that words that were held of a stream that broke off stay here.
    keeps_last_words: bool,
}

struct Relay {
    /// Format of the error event for a stream that broke off.
    errors: ErrorFormat,
    source: Source,
    outcome: OutcomeDue,
    /// First step, read before the caller got a status.
    first: Option<Step>,
}

enum State {
    /// More may come.
    Open(Box<Relay>),
    /// An error event was sent: the connection is broken off, so that no reader takes the stream for finished.
    Broken,
    /// All was sent.
    Done,
}

/// Error of a stream that did not finish. Carries no detail: the caller has received an error event.
#[derive(Debug, thiserror::Error)]
#[error("the stream broke off")]
struct BrokenOff;

impl State {
    async fn next(self) -> Option<(Result<Bytes, BrokenOff>, State)> {
        match self {
            Self::Open(relay) => Some(relay.advance().await),
            Self::Broken => {
                // An error closes the connection immediately; the event before it needs time to leave.
                tokio::time::sleep(LAST_EVENT).await;
                Some((Err(BrokenOff), Self::Done))
            }
            Self::Done => None,
        }
    }
}

impl Source {
    /// Waits for something to send. Reads on while a piece of the provider's stream says nothing to the caller, and while
    /// pieces that came together are at hand: each write costs more than all else that is done about an event.
    async fn read(&mut self) -> Step {
        let mut out = Vec::new();
        let mut translated = Vec::new();
        let mut piece = self.next().await;
        loop {
            let into = match self.stage {
                Some(_) => &mut translated,
                None => &mut out,
            };
            let step = match piece {
                Some(Ok(bytes)) => self.translator.push(&bytes, into),
                Some(Err(error)) => Err(failure::failure(error)),
                None => self.translator.finish(into),
            };
            let step = self.treat(step, &mut translated, &mut out);
            if step.is_err() || self.translator.is_done() || out.len() >= WRITE_BYTES {
                return (out, step);
            }
            piece = if out.is_empty() {
                self.next().await
            } else {
                match self.answer.next_at_hand().await {
                    None => return (out, step),
                    at_hand => at_hand,
                }
            };
        }
    }

    /// The next piece of the provider's stream.
    async fn next(&mut self) -> Option<Result<Bytes, ProviderError>> {
        tokio::select! {
            biased;
            // The grace period is over: better an error event than a silent cut.
            () = &mut self.cut => Some(Err(ProviderError::Broken)),
            piece = self.answer.next() => piece,
        }
    }

    /// Scans and restores translated text. Buffered text of a stream that broke off goes out before the error.
    fn treat(
        &mut self,
        step: Result<(), ProviderFailure>,
        translated: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), Broken> {
        let Some(stage) = &mut self.stage else {
            return step.map_err(Broken::Provider);
        };
        let mut treated = stage.push(translated, out);
        translated.clear();
        let gives_last_words = !(self.keeps_last_words && out.is_empty());
        if step.is_err() && treated.is_ok() && gives_last_words {
            treated = stage.break_off(out);
        }
        match treated {
            Ok(()) => step.map_err(Broken::Provider),
            Err(stop) => Err(Broken::Withheld(withheld(stop, stage.tally().kinds()))),
        }
    }
}

impl Relay {
    async fn advance(mut self: Box<Self>) -> (Result<Bytes, BrokenOff>, State) {
        let (out, step) = match self.first.take() {
            Some(first) => first,
            None => self.source.read().await,
        };
        let is_last = step.is_err() || self.source.translator.is_done();
        if let Some(stage) = &self.source.stage {
            let heard = if is_last { stage.heard() } else { None };
            self.outcome.saw_reply(stage.tally(), heard);
        }
        if let Err(broken) = step {
            return self.break_off(out, broken).await;
        }
        if self.source.translator.is_done() {
            return self.complete(out).await;
        }
        (Ok(Bytes::from(out)), State::Open(self))
    }

    async fn complete(mut self: Box<Self>, out: Vec<u8>) -> (Result<Bytes, BrokenOff>, State) {
        let summary = self.source.translator.summary().clone();
        // The vault keeps an outcome that it could not write and tries again; the caller's answer is complete either
        // way.
        let ended = Ended {
            status: StatusCode::OK,
            summary: Some(&summary),
            error: summary.failure.map(FailureKind::code),
        };
        self.outcome.take().close(ended).await;
        (Ok(Bytes::from(out)), State::Done)
    }

    async fn break_off(
        mut self: Box<Self>,
        mut out: Vec<u8>,
        broken: Broken,
    ) -> (Result<Bytes, BrokenOff>, State) {
        let error = match broken {
            Broken::Provider(failure) => GatewayError::Provider(failure),
            Broken::Withheld(error) => error,
        };
        let summary = self.source.translator.summary().clone();
        let number = match &self.source.stage {
            Some(stage) => stage.next_number(),
            None => summary.next_number,
        };
        out.extend_from_slice(&error.body().to_event(self.errors, number));
        let ended = Ended {
            status: StatusCode::OK,
            summary: Some(&summary),
            error: Some(error.code()),
        };
        self.outcome.take().close(ended).await;
        (Ok(Bytes::from(out)), State::Broken)
    }
}

impl Drop for Relay {
    /// Records a caller that left in the middle: the provider's text so far belongs to the outcome.
    fn drop(&mut self) {
        if let Some(stage) = &self.source.stage {
            self.outcome.saw_reply(stage.tally(), stage.heard());
        }
    }
}
