//! The addresses that a provider may have.
//!
//! An account's owner sets the base URL, which would otherwise give access to the operator's network. The check covers
//! the address that is connected to, not the name in the URL.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 networks outside the public internet: first address, prefix length, name.
const NOT_PUBLIC_4: &[([u8; 4], u32, &str)] = &[
    // In numerical order; IANA special-purpose registry.
    ([0, 0, 0, 0], 8, "this network"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "carrier-grade NAT"),
    ([127, 0, 0, 0], 8, "loopback"),
    ([168, 63, 129, 16], 32, "Azure's platform"),
    ([169, 254, 0, 0], 16, "link-local, cloud metadata"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "protocol assignments"),
    ([192, 0, 2, 0], 24, "documentation"),
    ([192, 88, 99, 0], 24, "6to4 relays"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "benchmarking"),
    ([198, 51, 100, 0], 24, "documentation"),
    ([203, 0, 113, 0], 24, "documentation"),
    ([224, 0, 0, 0], 3, "multicast, reserved, broadcast"),
];

/// IPv6 networks outside the public internet. A network that embeds IPv4 addresses is refused as a whole.
const NOT_PUBLIC_6: &[([u16; 8], u32, &str)] = &[
    // In numerical order; IANA special-purpose registry.
    (
        [0, 0, 0, 0, 0, 0, 0, 0],
        16,
        "unspecified, loopback, mapped and compatible IPv4",
    ),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 32, "IPv4 translation"),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 16, "discard"),
    (
        [0x2001, 0, 0, 0, 0, 0, 0, 0],
        23,
        "protocol assignments, Teredo",
    ),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation"),
    ([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, "segment routing"),
    (
        [0xfc00, 0, 0, 0, 0, 0, 0, 0],
        7,
        "unique local, cloud metadata",
    ),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 9, "link-local, site-local"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast"),
];

/// Whether this address belongs to the public internet.
pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !NOT_PUBLIC_4.iter().any(|(net, prefix, _)| {
            within(
                u128::from(u32::from(ip)),
                u128::from(u32::from(Ipv4Addr::from(*net))),
                32,
                *prefix,
            )
        }),
        IpAddr::V6(ip) => !NOT_PUBLIC_6.iter().any(|(net, prefix, _)| {
            within(
                u128::from(ip),
                u128::from(Ipv6Addr::from(*net)),
                128,
                *prefix,
            )
        }),
    }
}

/// Whether this address can be a provider's if private addresses are allowed.
pub(super) fn is_a_host(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    let is_broadcast = ip == IpAddr::V4(Ipv4Addr::BROADCAST);
    !ip.is_unspecified() && !ip.is_multicast() && !is_broadcast
}

fn within(ip: u128, net: u128, width: u32, prefix: u32) -> bool {
    let shift = width - prefix;
    ip >> shift == net >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "168.63.129.15",
            "168.63.129.17",
            "172.15.255.255",
            "172.32.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "2606:4700::1",
            "2a00:1450::5",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.2.7",
            "198.18.0.1",
            "198.19.255.255",
            "203.0.113.9",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn unusable_addresses_are_refused() {
        for text in [
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "::",
            "ff02::1",
            "::ffff:0.0.0.0",
        ] {
            assert!(!is_a_host(text.parse().unwrap()), "{text}");
        }
        for text in ["127.0.0.1", "10.1.2.3", "169.254.1.1", "::1", "fd00::1"] {
            assert!(is_a_host(text.parse().unwrap()), "{text}");
        }
    }
}
