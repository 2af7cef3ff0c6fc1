//! Addresses of providers: an accepted one is https, parses back to itself, and leads to no private address.

use std::net::IpAddr;

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
    assert!(
        BaseUrl::parse(&written, false) == Ok(url),
        "does not read back"
    );
    assert!(written.starts_with("https://"));
    let authority = written["https://".len()..]
        .split('/')
        .next()
        .unwrap_or_default();
    assert!(!authority.contains('@'));
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    };
    let host = host.unwrap_or_default().to_ascii_lowercase();
    assert!(!is_here(&host), "leads to this machine or its neighbours");
}

/// Whether a host is this machine or in its network.
fn is_here(host: &str) -> bool {
    match host.parse() {
        Ok(IpAddr::V4(ip)) => {
            ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
        }
        Ok(IpAddr::V6(ip)) => {
            let mapped = ip.to_ipv4_mapped().map(|ip| ip.to_string());
            ip.is_loopback() || ip.is_unique_local() || mapped.is_some_and(|ip| is_here(&ip))
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}
