//! A provider that records requests and gives prepared answers.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Reply of the provider to one request.
#[derive(Clone)]
pub enum Reply {
    /// This status and JSON.
    Json(u16, String),
    /// These pieces of an event stream, each after a pause, then an orderly end.
    Events(Vec<String>, Duration),
    /// Pieces, then the connection is cut.
    CutEvents(Vec<String>),
    /// JSON, or else the default reply, after a pause.
    Late(Duration, Option<String>),
    /// Nothing, for this long.
    Silence(Duration),
    /// Bytes as they are, nothing for a time, then the connection is cut.
    Raw(Vec<u8>, Duration),
}

impl Reply {
    /// A status with these headers and this body.
    pub fn with_headers(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let headers = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers: String = headers.collect();
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} Said So\r\n{headers}content-length: {length}\r\n\r\n");
        Self::Raw((head + body).into_bytes(), Duration::ZERO)
    }
}

/// A request as it arrived.
#[derive(Clone)]
pub struct Seen {
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Seen {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Default)]
struct Shared {
    seen: Vec<Seen>,
    connections: usize,
    replies: VecDeque<Reply>,
    unavailable: Option<&'static str>,
    closed_early: usize,
}

/// A provider on a loopback port, for as long as the test runs.
pub struct Provider {
    port: u16,
    shared: Arc<Mutex<Shared>>,
}

impl Provider {
    /// Starts it.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared: Arc<Mutex<Shared>> = Arc::default();
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let shared = Arc::clone(&for_thread);
                shared.lock().unwrap().connections += 1;
                std::thread::spawn(move || serve(socket, &shared));
            }
        });
        Self { port, shared }
    }

    /// Address of the provider.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Answers the next request so; otherwise a plain completion in the family's format.
    pub fn answer_next(&self, reply: Reply) {
        self.shared.lock().unwrap().replies.push_back(reply);
    }

    /// Answers every request for this model with status 503.
    pub fn refuse_model(&self, model: &'static str) {
        self.shared.lock().unwrap().unavailable = Some(model);
    }

    /// Number of requests so far.
    pub fn count(&self) -> usize {
        self.shared.lock().unwrap().seen.len()
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.lock().unwrap().seen.clone()
    }

    /// The last request.
    pub fn last(&self) -> Seen {
        self.seen().pop().expect("the provider was asked")
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.shared.lock().unwrap().connections
    }

    /// Streams that the gateway gave up before their end.
    pub fn closed_early(&self) -> usize {
        self.shared.lock().unwrap().closed_early
    }
}

fn serve(socket: TcpStream, shared: &Mutex<Shared>) {
    let mut reader = BufReader::new(socket.try_clone().unwrap());
    let mut socket = socket;
    while let Some(seen) = read_request(&mut reader) {
        let reply = {
            let mut shared = shared.lock().unwrap();
            shared.seen.push(seen.clone());
            match shared.unavailable {
                Some(model) if seen.json()["model"] == model => {
                    Some(Reply::Json(503, r#"{"error":{}}"#.to_owned()))
                }
                _ => shared.replies.pop_front(),
            }
        };
        let reply = reply.unwrap_or_else(|| default_reply(&seen));
        if write_reply(&mut socket, reply, &seen).is_err() {
            shared.lock().unwrap().closed_early += 1;
            return;
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .ok()
        .filter(|count| *count > 0)?;
    let target = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
            None => break,
        }
    }
    let mut seen = Seen {
        target,
        headers,
        body: Vec::new(),
    };
    let length: usize = seen
        .header("content-length")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    seen.body = vec![0; length];
    reader.read_exact(&mut seen.body).ok()?;
    Some(seen)
}

fn write_reply(socket: &mut TcpStream, reply: Reply, seen: &Seen) -> std::io::Result<()> {
    let events =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk =
        |socket: &mut TcpStream, text: &str| write!(socket, "{:x}\r\n{text}\r\n", text.len());
    match reply {
        Reply::Json(status, body) => write!(
            socket,
            "HTTP/1.1 {status} Said So\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
        Reply::Events(pieces, pause) => {
            socket.write_all(events.as_bytes())?;
            for piece in pieces {
                std::thread::sleep(pause);
                chunk(socket, &piece)?;
            }
            socket.write_all(b"0\r\n\r\n")
        }
        Reply::CutEvents(pieces) => {
            socket.write_all(events.as_bytes())?;
            for piece in pieces {
                chunk(socket, &piece)?;
            }
            socket.shutdown(std::net::Shutdown::Both)
        }
        Reply::Late(pause, body) => {
            std::thread::sleep(pause);
            let told = body.map(|body| Reply::Json(200, body));
            write_reply(socket, told.unwrap_or_else(|| default_reply(seen)), seen)
        }
        Reply::Silence(pause) => {
            std::thread::sleep(pause);
            Err(std::io::ErrorKind::TimedOut.into())
        }
        Reply::Raw(bytes, pause) => {
            socket.write_all(&bytes)?;
            std::thread::sleep(pause);
            socket.shutdown(std::net::Shutdown::Both)
        }
    }
}

/// A completion in the format that the path belongs to.
fn default_reply(seen: &Seen) -> Reply {
    let is_stream = seen.target.contains("stream")
        || String::from_utf8_lossy(&seen.body).contains("\"stream\":true");
    let body = if seen.target.ends_with("/token") {
        serde_json::json!({"access_token": "stand-in-token", "token_type": "Bearer", "expires_in": 3599})
    } else if seen.target.ends_with("/converse") {
        serde_json::json!({"output":{"message":{"role":"assistant","content":[{"text":"Hello."}]}},
            "stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":7,"totalTokens":16},"metrics":{"latencyMs":1}})
    } else if seen.target.contains("/count_tokens") {
        serde_json::json!({ "input_tokens": 9 })
    } else if seen.target.contains("/responses") && !is_stream {
        serde_json::json!({"id":"resp_1","object":"response","status":"completed","model":"gpt-test","output":[{"type":"message","id":"m","role":"assistant",
            "content":[{"type":"output_text","text":"Hello.","annotations":[]}]}],"usage":{"input_tokens":9,"output_tokens":7,"total_tokens":16}})
    } else if seen.target.contains("/embeddings") {
        serde_json::json!({"object":"list","model":"gpt-test","data":[{"object":"embedding","index":0,"embedding":[0.1]}],"usage":{"prompt_tokens":9,"total_tokens":9}})
    } else if seen.target.contains("/messages") {
        serde_json::json!({"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"text","text":"Hello."}],
            "stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":7}})
    } else if seen.target.contains("generateContent") {
        serde_json::json!({"candidates":[{"content":{"role":"model","parts":[{"text":"Hello."}]},"finishReason":"STOP","index":0}],
            "usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":7,"totalTokenCount":16},"modelVersion":"gemini-test","responseId":"r1"})
    } else if is_stream {
        return Reply::Events(openai_stream(&["Hel", "lo."]), Duration::ZERO);
    } else {
        serde_json::json!({"id":"chatcmpl-1","object":"chat.completion","created":1_700_000_000,"model":"gpt-test",
            "choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],
            "usage":{"prompt_tokens":9,"completion_tokens":7,"total_tokens":16}})
    };
    Reply::Json(200, body.to_string())
}

/// The events of an OpenAI stream that says these words.
pub fn openai_stream(words: &[&str]) -> Vec<String> {
    let event = |delta: serde_json::Value, finish: serde_json::Value| {
        let chunk = serde_json::json!({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1_700_000_000,"model":"gpt-test",
            "choices":[{"index":0,"delta":delta,"finish_reason":finish}]});
        format!("data: {chunk}\n\n")
    };
    let mut events = vec![event(
        serde_json::json!({"role":"assistant","content":""}),
        serde_json::Value::Null,
    )];
    events.extend(words.iter().map(|word| {
        event(
            serde_json::json!({ "content": word }),
            serde_json::Value::Null,
        )
    }));
    events.push(event(serde_json::json!({}), "stop".into()));
    events.push("data: [DONE]\n\n".into());
    events
}
