//! The caller's address by the headers of proxies: without a trusted proxy headers are ignored, with one only its own
//! entry counts.

use std::net::{IpAddr, Ipv4Addr};

use phigate_edge::fuzzing::client_address;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "proxies",
    run,
    // A list, a zero byte, and the standard header.
    seeds: &[
        b"203.0.113.9, 10.0.0.2\0for=203.0.113.9;proto=https, for=\"[2001:db8::1]:4711\"",
        b"unknown, 198.51.100.7:80\0for=_hidden",
        b"\"203.0.113.9\0for=\"",
    ],
};

fn run(bytes: &[u8]) {
    let mut halves = bytes.splitn(2, |byte| *byte == 0);
    let (list, standard) = (halves.next(), halves.next());
    let stranger = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 4));
    assert_eq!(client_address(stranger, list, standard), stranger);
    let proxy = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    let _ = client_address(proxy, list, standard);
    // The entry of the proxy itself is trusted, whatever the caller wrote before it.
    let honest = [list.unwrap_or_default(), b", 203.0.113.50"].concat();
    let found = client_address(proxy, Some(&honest), None);
    let is_header = http::HeaderValue::from_bytes(&honest).is_ok();
    assert!(!is_header || found == IpAddr::V4(Ipv4Addr::new(203, 0, 113, 50)));
}
