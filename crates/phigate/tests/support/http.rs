//! HTTP by hand, so that a test can send what no client library would and see every byte of the answer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// An answer as it came over the socket.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the body ended as its framing says.
    pub is_whole: bool,
}

impl Answer {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    /// Status, type and code of an error.
    pub fn error(&self) -> (u16, String, String) {
        let error = &self.json()["error"];
        let word = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        assert!(!word("message").is_empty());
        (self.status, word("type"), word("code"))
    }

    /// The request's id.
    pub fn request_id(&self) -> String {
        self.header("x-gateway-request-id")
            .expect("every answer carries the request's id")
            .to_owned()
    }
}

/// Sends bytes on a separate connection and reads the answer to its end.
pub fn exchange(address: &str, request: &[u8]) -> Answer {
    let mut socket = TcpStream::connect(address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    // A refusal may come, and the connection close, before all of a large body is sent.
    socket.write_all(request).ok();
    read_answer(&mut socket)
}

/// Reads the answer on a connection to its end.
pub fn read_answer(socket: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).ok();
    parse(&bytes)
}

/// Reads one answer of known length on a connection that stays open.
pub fn next_answer(socket: &mut TcpStream) -> Answer {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte).expect("an answer");
        bytes.extend(byte);
    }
    let length = parse(&bytes).header("content-length").unwrap().parse();
    let mut body = vec![0; length.unwrap()];
    socket.read_exact(&mut body).expect("a whole answer");
    bytes.extend(body);
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Answer {
    let end = bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .expect("an answer with a head");
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .and_then(|code| code.parse().ok())
        .unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let rest = &bytes[end + 4..];
    let mut answer = Answer {
        status,
        headers,
        body: rest.to_vec(),
        is_whole: true,
    };
    if answer.header("transfer-encoding").is_some() {
        (answer.body, answer.is_whole) = unchunk(rest);
    } else if let Some(length) = answer
        .header("content-length")
        .and_then(|text| text.parse::<usize>().ok())
    {
        answer.is_whole = rest.len() == length;
    }
    answer
}

fn unchunk(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else {
            return (body, false);
        };
        let size = std::str::from_utf8(&rest[..end])
            .ok()
            .and_then(|text| usize::from_str_radix(text, 16).ok());
        match size {
            Some(0) => return (body, true),
            Some(size) if rest.len() >= end + 2 + size + 2 => {
                body.extend_from_slice(&rest[end + 2..end + 2 + size]);
                rest = &rest[end + 2 + size + 2..];
            }
            _ => return (body, false),
        }
    }
}
