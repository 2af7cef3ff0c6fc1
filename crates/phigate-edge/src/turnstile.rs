//! Turning away, by its head alone, a request whose caller is beyond a limit.
//!
//! Beyond what the gateway can do, refusals are most of what it does, and each takes time from the answers. A caller that
//! is refused asks again, mostly over the connection it has. So the guard asks here before the HTTP library sees such a
//! request. Whatever is not a plain POST with a body that is here already takes the usual way, which refuses it too.

use std::cell::LazyCell;
use std::io::Write as _;
use std::time::SystemTime;

use bytes::BytesMut;
use http::StatusCode;
use httpdate::HttpDate;
use phigate_types::ErrorFormat;
use uuid::Uuid;

use crate::envelope::{ErrorBody, REQUEST_ID};
use crate::head;

/// What a head says about who asks.
#[derive(Debug)]
pub struct Asked<'h> {
    /// The id of the request, made when somebody asks for it.
    pub request_id: LazyCell<Uuid>,
    /// The path, without a query.
    pub path: &'h str,
    /// `Authorization`.
    pub authorization: Option<&'h str>,
    /// `X-Api-Key`.
    pub api_key: Option<&'h str>,
}

/// A refusal, and how the door writes it.
#[derive(Debug)]
pub struct TurnedAway {
    /// The refusal.
    pub error: ErrorBody,
    /// How it is written.
    pub format: ErrorFormat,
}

/// Knows who is beyond a limit. It may not wait.
pub trait Turnstile: Send + Sync {
    /// The refusal of a POST, counted and logged like one that a handler gives. None for what a handler has to see.
    fn turn_away(&self, asked: &Asked<'_>) -> Option<TurnedAway>;
}

impl<'h> Asked<'h> {
    /// Reads a head that was checked. None where it asks for more than a POST on a connection that stays open.
    pub(crate) fn read(head: &'h [u8]) -> Option<Self> {
        let (line, mut rest) = head::first_line(head);
        let target = line.strip_prefix(b"POST ")?.strip_suffix(b" HTTP/1.1")?;
        let target = std::str::from_utf8(target).ok()?;
        let mut asked = Self {
            request_id: LazyCell::new(Uuid::now_v7),
            path: target.split('?').next()?,
            authorization: None,
            api_key: None,
        };
        loop {
            let line;
            (line, rest) = head::first_line(rest);
            if line.is_empty() {
                return Some(asked);
            }
            let (name, value) = head::split(line)?;
            asked.note(name, value)?;
        }
    }

    /// None for a field that says more than who asks.
    fn note(&mut self, name: &[u8], value: &'h [u8]) -> Option<()> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let place = if is("authorization") {
            &mut self.authorization
        } else if is("x-api-key") {
            &mut self.api_key
        } else {
            let is_plain = !is("expect")
                && !is("content-encoding")
                && (!is("connection") || value.eq_ignore_ascii_case(b"keep-alive"));
            return is_plain.then_some(());
        };
        let value = std::str::from_utf8(value).ok()?;
        place.replace(value).is_none().then_some(())
    }
}

impl TurnedAway {
    /// Writes the whole answer.
    pub(crate) fn write(&self, request_id: Uuid, now: SystemTime, out: &mut BytesMut) {
        let error = &self.error;
        let mut buffer = Uuid::encode_buffer();
        let id: &str = request_id.hyphenated().encode_lower(&mut buffer);
        let body = error.to_answer(self.format, id);
        // Enough for the head.
        let mut head = Vec::with_capacity(512);
        let status = error.status;
        let reason = StatusCode::canonical_reason(&status).unwrap_or_default();
        let _ = write!(
            head,
            "HTTP/1.1 {} {reason}\r\ncontent-type: application/json\r\n",
            status.as_str()
        );
        if let Some(seconds) = error.retry_after_s {
            let _ = write!(head, "retry-after: {seconds}\r\n");
        }
        let _ = write!(
            head,
            "content-length: {}\r\n{REQUEST_ID}: {id}\r\ncache-control: no-store\r\ndate: {}\r\n\r\n",
            body.len(),
            HttpDate::from(now),
        );
        out.reserve(head.len() + body.len());
        out.extend_from_slice(&head);
        out.extend_from_slice(&body);
    }
}
