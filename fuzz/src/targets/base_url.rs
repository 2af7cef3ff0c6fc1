//! Addresses of providers: what is accepted is https, reads back the same, and leads to no private address.

use phigate_gateway::BaseUrl;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "base_url",
    run,
    seeds: &[
        b"https://api.example.com/v1",
        b"https://[2001:db8::1]:8443/a/b",
        b"https://user@api.example.com",
        b"https://169.254.169.254/latest",
        b"https://0xA9FEA9FE/",
        b"https://[::ffff:10.0.0.1]",
        b"https://a.internal./x?y#z",
    ],
};

fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(url) = BaseUrl::parse(text, false) else {
        return;
    };
    let written = url.to_string();
    assert!(BaseUrl::parse(&written, false) == Ok(url), "does not read back");
    assert!(written.starts_with("https://"));
    let host = written["https://".len()..].split('/').next().unwrap_or_default();
    assert!(!host.contains('@') && !host.starts_with("127.") && !host.starts_with("10."));
    assert!(!host.to_ascii_lowercase().starts_with("localhost"));
}
