//! Entry points to the guard and its parsers, for the fuzzer only.

use std::net::IpAddr;
use std::time::Duration;

use http::header::FORWARDED;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::chunked::{Chunked, Step};
use crate::client::ClientAddress;
use crate::guard::{Guard, GuardLimits};
use crate::head::{self, Found, Framing, HeadLimits};
use crate::proxies::TrustedProxies;

const LIMITS: HeadLimits = HeadLimits {
    bytes: 1024,
    fields: 16,
    uri_bytes: 256,
};

/// Request as delimited by the guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framed {
    /// The method.
    pub method: String,
    /// The target.
    pub target: String,
    /// Body, if its length is known and it is complete.
    pub body: Option<Vec<u8>>,
}

/// A connection behind a guard, as the server makes it.
pub fn guarded<I: AsyncRead + AsyncWrite + Unpin>(inner: I) -> impl AsyncRead + AsyncWrite + Unpin {
    let minute = Duration::from_secs(60);
    let limits = GuardLimits {
        head: LIMITS,
        header_read: minute,
        write_stall: minute,
    };
    Guard::new(inner, limits)
}

/// Requests on a connection as the strict parser delimits them, up to the first refused one.
pub fn framed(mut wire: &[u8]) -> Vec<Framed> {
    let mut requests = Vec::new();
    loop {
        while let Some(rest) = wire.strip_prefix(b"\r\n") {
            wire = rest;
        }
        let Ok(Found::End(end)) = head::find_end(wire, 0, &LIMITS) else {
            return requests;
        };
        let (head, rest) = wire.split_at(end);
        let Ok(framing) = head::check(head, &LIMITS) else {
            return requests;
        };
        let line = String::from_utf8_lossy(head);
        let mut words = line.split([' ', '\r']).map(str::to_owned);
        let (method, target) = (words.next(), words.next());
        let (body, after) = match framing {
            Framing::Length(length) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let body = rest.get(..length).map(<[u8]>::to_vec);
                (body, rest.get(length..))
            }
            Framing::Chunked => match Chunked::new().follow(rest) {
                Step::End(end) => (None, rest.get(end..)),
                Step::More | Step::Broken => (None, None),
            },
        };
        requests.push(Framed {
            method: method.unwrap_or_default(),
            target: target.unwrap_or_default(),
            body,
        });
        match after {
            Some(after) => wire = after,
            None => return requests,
        }
    }
}

/// End of a chunked body: its offset, `Some(None)` if incomplete, `None` if the framing is wrong.
pub fn chunked_end(pieces: &[&[u8]]) -> Option<Option<usize>> {
    let (mut chunked, mut before) = (Chunked::new(), 0);
    for piece in pieces {
        match chunked.follow(piece) {
            Step::More => before += piece.len(),
            Step::End(position) => return Some(Some(before + position)),
            Step::Broken => return None,
        }
    }
    Some(None)
}

/// Caller of a request with these headers; `10.0.0.0/8` are trusted proxies.
pub fn client_address(peer: IpAddr, list: Option<&[u8]>, standard: Option<&[u8]>) -> IpAddr {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (HeaderName::from_static("x-forwarded-for"), list),
        (FORWARDED, standard),
    ] {
        if let Some(value) = value.and_then(|value| HeaderValue::from_bytes(value).ok()) {
            headers.insert(name, value);
        }
    }
    let Ok(proxies) = TrustedProxies::parse(&["10.0.0.0/8".to_owned()]) else {
        return peer;
    };
    ClientAddress::of(peer, &headers, &proxies).0
}
