//! Early refusal of requests over a limit, from the head alone.
//!
//! Under overload most requests are refused, and each refusal takes time from answers. A refused caller mostly retries
//! on its open connection, so the guard asks here before the HTTP library sees the request. Everything but a plain POST
//! with a complete body goes to the handler, which refuses it too.

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

/// Caller and path, as the head names them.
#[derive(Debug)]
pub struct Asked<'h> {
    /// Id of the request, generated on first use.
    pub request_id: LazyCell<Uuid>,
    /// The path, without a query.
    pub path: &'h str,
    /// `Authorization`.
    pub authorization: Option<&'h str>,
    /// `X-Api-Key`.
    pub api_key: Option<&'h str>,
}

/// A refusal, and the format of its door.
#[derive(Debug)]
pub struct TurnedAway {
    /// The refusal.
    pub error: ErrorBody,
    /// Format of the body.
    pub format: ErrorFormat,
}

/// Early limiter. It must not block.
pub trait EarlyLimiter: Send + Sync {
    /// Refuses a POST over a limit, counted and logged like a handler's refusal. `None` if the handler must see the
    /// request.
    fn turn_away(&self, asked: &Asked<'_>) -> Option<TurnedAway>;
}

impl<'h> Asked<'h> {
    /// Reads a checked head. `None` if it asks for more than a POST on a connection that stays open.
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

    /// Takes a field; `None` if it asks for special handling.
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
    /// Writes the complete answer.
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
