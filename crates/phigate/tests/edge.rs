//! Misbehaving callers and providers cost little and do not disturb service.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{CLEAN_TEXT, Gateway, Provider, Reply, ask, exchange};

const SLOW_CALLERS: usize = 1000;
const IDLE_CALLERS: usize = 1000;

/// Memory of the server in MiB.
fn memory_mib(gateway: &Gateway) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.pid())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

fn expect_prompt_service(gateway: &Gateway, key: &str, case: &str) {
    let begun = Instant::now();
    assert_eq!(
        gateway.chat(key, &ask("gpt-4o", CLEAN_TEXT)).status,
        200,
        "{case}"
    );
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{case}: served slowly"
    );
}

#[test]
fn gateway_handles_thousand_slow_callers_cheaply() {
    let provider = Provider::start();
    let gateway = Gateway::start_with(&provider, &[("PHIGATE_LIMITS_KEY_CONCURRENCY", "5000")]);
    let (key, other) = (gateway.key(), gateway.key());
    expect_prompt_service(&gateway, &other, "before");
    let before = memory_mib(&gateway);
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: 8000000\r\n\r\n"
    );
    let piece = [b' '; 16 * 1024];
    let callers: Vec<TcpStream> = (0..SLOW_CALLERS)
        .map(|_| {
            let mut socket = TcpStream::connect(&gateway.address).unwrap();
            socket.write_all(head.as_bytes()).unwrap();
            socket.write_all(&piece).unwrap();
            socket
        })
        .collect();
    expect_prompt_service(&gateway, &other, "with a thousand slow callers");
    let grown = memory_mib(&gateway).saturating_sub(before);
    assert!(grown < 200, "{grown} MiB for {} callers", callers.len());
}

#[test]
fn gateway_handles_thousand_idle_callers_cheaply() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    expect_prompt_service(&gateway, &key, "before");
    let before = memory_mib(&gateway);
    let mut callers: Vec<TcpStream> = (0..IDLE_CALLERS)
        .map(|_| {
            let mut socket = TcpStream::connect(&gateway.address).unwrap();
            let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
            socket.write_all(request).unwrap();
            assert!(socket.read(&mut [0; 1024]).unwrap() > 0);
            socket
        })
        .collect();
    // Buffers of a request are kept for a moment.
    std::thread::sleep(Duration::from_secs(2));
    expect_prompt_service(&gateway, &key, "with a thousand idle callers");
    let grown = memory_mib(&gateway).saturating_sub(before);
    assert!(grown < 16, "{grown} MiB for {IDLE_CALLERS} idle callers");
    for socket in &mut callers {
        socket.set_nonblocking(true).unwrap();
        let error = socket.read(&mut [0; 1]).expect_err("a caller was cut off");
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
}

#[test]
fn bodies_in_flight_are_bounded_in_all() {
    let provider = Provider::start();
    let gateway = Gateway::start_with(&provider, &[("PHIGATE_LIMITS_INFLIGHT_BYTES", "1048576")]);
    let key = gateway.key();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: 2000000\r\n\r\n"
    );
    let mut request = head.into_bytes();
    request.resize(request.len() + 1_500_000, b' ');
    let refused = exchange(&gateway.address, &request);
    assert_eq!(
        refused.error(),
        (429, "rate_limit_error".into(), "rate_limit_exceeded".into())
    );
    assert!(refused.header("retry-after").is_some());
    expect_prompt_service(&gateway, &key, "afterwards");
}

#[test]
fn silent_provider_does_not_block_other_requests() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let (key, other) = (gateway.key(), gateway.key());
    let hanging = 40;
    for _ in 0..hanging {
        provider.answer_next(Reply::Silence(Duration::from_secs(20)));
    }
    let body = ask("gpt-4o", CLEAN_TEXT);
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let waiting: Vec<TcpStream> = (0..hanging)
        .map(|_| {
            let mut socket = TcpStream::connect(&gateway.address).unwrap();
            socket.write_all(head.as_bytes()).unwrap();
            socket
        })
        .collect();
    while provider.seen().len() < hanging {
        std::thread::sleep(Duration::from_millis(10));
    }
    expect_prompt_service(&gateway, &other, "while forty requests hang");
    drop(waiting);
}

#[test]
fn body_size_limit_is_exact() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let room = 8 * 1024 * 1024 - ask("gpt-4o", "").len();
    let largest = "ab cd ef ".repeat(room / 9 + 1);
    assert_eq!(
        gateway.chat(&key, &ask("gpt-4o", &largest[..room])).status,
        200
    );
    let refused = gateway.chat(&key, &ask("gpt-4o", &largest[..=room]));
    assert_eq!(
        refused.error(),
        (
            413,
            "invalid_request_error".into(),
            "request_too_large".into()
        )
    );
}

#[test]
fn a_second_signal_stops_at_once() {
    let provider = Provider::start();
    let mut gateway = Gateway::start(&provider);
    let key = gateway.key();
    provider.answer_next(Reply::Silence(Duration::from_secs(60)));
    let body = ask("gpt-4o", CLEAN_TEXT);
    let mut socket = TcpStream::connect(&gateway.address).unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).unwrap();
    while provider.seen().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let begun = Instant::now();
    gateway.signal("-TERM");
    std::thread::sleep(Duration::from_millis(300));
    gateway.signal("-TERM");
    gateway.wait();
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "the second signal was not heard"
    );
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest);
    assert!(
        !rest.starts_with(b"HTTP/1.1 200"),
        "an answer that was never given"
    );
}

#[test]
fn wrong_keys_count_against_trusted_forwarded_caller() {
    let provider = Provider::start();
    let status = |proxies: &str, callers: [&str; 3]| {
        let settings = [
            ("PHIGATE_TRUSTED_PROXIES", proxies),
            ("PHIGATE_LIMITS_BAD_KEYS_PER_MINUTE", "1"),
        ];
        let gateway = Gateway::start_with(&provider, &settings);
        callers.map(|caller| {
            let head = format!(
                "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n\
                 X-Forwarded-For: {caller}\r\nConnection: close\r\n\r\n"
            );
            exchange(&gateway.address, head.as_bytes()).status
        })
    };
    let callers = ["198.51.100.1", "203.0.113.9", "192.0.2.7, 203.0.113.9"];
    assert_eq!(status("127.0.0.0/8", callers), [401, 401, 429]);
    assert_eq!(status("10.0.0.0/8", callers), [401, 429, 429]);
}

#[test]
fn half_closed_caller_gets_answer_and_record() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let clean = ask("gpt-4o", CLEAN_TEXT);
    for (method, path, body, status) in [
        ("POST", "/v1/chat/completions", clean.as_str(), 200),
        ("POST", "/v1/chat/completions", "{", 400),
        ("GET", "/v1/models", "", 200),
    ] {
        provider.answer_next(Reply::Late(Duration::from_millis(300), None));
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut socket = TcpStream::connect(&gateway.address).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        let answer = crate::support::read_answer(&mut socket);
        assert_eq!(answer.status, status, "{method} {path}");
        if method == "POST" {
            let records = gateway.records(&answer.request_id());
            assert_eq!(records[0]["record"], "decision", "{path}");
        }
    }
}

/// Heads of writes that need a session, and the answer that comes without a byte of the body.
const STRANGERS_FORMS: &[(&str, &str, u16)] = &[
    // Path, further header lines, status.
    ("/login", "Content-Length: 1000000\r\n", 403),
    (
        "/login",
        "Content-Length: 1000000\r\nCookie: phigate-guest=x\r\n",
        413,
    ),
    (
        "/setup/x",
        "Content-Length: 16385\r\nCookie: phigate-guest=x\r\n",
        413,
    ),
    ("/playground", "Content-Length: 1000000\r\n", 401),
    (
        "/playground",
        "Content-Length: 1000000\r\nCookie: phigate=x\r\n",
        401,
    ),
    ("/settings/detection", "Transfer-Encoding: chunked\r\n", 401),
    ("/login", "Transfer-Encoding: chunked\r\n", 403),
];

#[test]
fn stranger_forms_are_refused_unread() {
    let gateway = Gateway::start(&Provider::start());
    for (path, lines, status) in STRANGERS_FORMS {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n{lines}\r\n"
        );
        let answer = exchange(&gateway.address, head.as_bytes());
        assert_eq!(answer.status, *status, "{path} {lines}");
    }
}

#[test]
fn pages_answer_under_known_hosts_alone() {
    let settings = [
        ("PHIGATE_PUBLIC_HOSTS", "gate.example.org"),
        ("PHIGATE_PRESIDIO_LISTEN", "127.0.0.1:0"),
    ];
    let gateway = Gateway::start_with(&Provider::start(), &settings);
    let presidio = gateway.logged_after("Presidio's interface on ");
    let presidio = presidio.trim_end_matches(',');
    let status = |address: &str, path: &str, host: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        exchange(address, head.as_bytes()).status
    };
    let own = gateway.address.as_str();
    for host in ["localhost", "127.0.0.1", "gate.example.org", own] {
        assert_eq!(status(own, "/login", host), 200, "{host}");
        assert_eq!(status(presidio, "/health", host), 200, "{host}");
    }
    let stranger = "evil.example";
    for path in ["/login", "/", "/settings/detection"] {
        assert_eq!(status(own, path, stranger), 421, "{path}");
    }
    assert_eq!(status(presidio, "/health", stranger), 421);
    assert_eq!(status(own, "/healthz", stranger), 200);
    assert_eq!(status(own, "/v1/models", stranger), 401);
}

#[test]
fn gateway_handles_half_sent_forms_cheaply() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    expect_prompt_service(&gateway, &key, "before");
    let before = memory_mib(&gateway);
    let strangers: Vec<TcpStream> = (0..SLOW_CALLERS)
        .map(|number| {
            let (length, sent) = if number % 2 == 0 {
                (1_000_000, 200_000)
            } else {
                (16_000, 15_000)
            };
            let mut request = format!(
                "POST /login HTTP/1.1\r\nHost: localhost\r\nCookie: phigate-guest=x\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n"
            )
            .into_bytes();
            request.resize(request.len() + sent, b'x');
            let mut socket = TcpStream::connect(&gateway.address).unwrap();
            socket.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
            // A caller that announces too much is answered and cut off while sending.
            socket.write_all(&request).ok();
            socket
        })
        .collect();
    expect_prompt_service(&gateway, &key, "with a crowd before the login");
    let grown = memory_mib(&gateway).saturating_sub(before);
    assert!(grown < 100, "{grown} MiB for {} strangers", strangers.len());
}
