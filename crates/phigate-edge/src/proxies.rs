//! `trusted_proxies`: networks whose reports of a caller's address are trusted.

use std::net::IpAddr;

/// Proxies in front of this server. Empty by default, so that every peer is a caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<Network>);

/// A text that is not an address or a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotANetwork;

/// Address and number of leading bits that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u32,
}

impl TrustedProxies {
    /// Reads networks such as `10.0.0.0/8`; a bare address is a network of one.
    pub fn parse(networks: &[String]) -> Result<Self, NotANetwork> {
        let read = |text: &String| Network::parse(text.trim()).ok_or(NotANetwork);
        networks
            .iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether an address belongs to one of the proxies.
    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            // `u32` would also read a leading plus sign.
            Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => bits.parse().ok()?,
            Some(_) => return None,
            None => most,
        };
        (bits <= most).then_some(Self { address, bits })
    }

    fn contains(self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differing = u32::from(own) ^ u32::from(other);
                differing.leading_zeros() >= self.bits
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differing = u128::from(own) ^ u128::from(other);
                differing.leading_zeros() >= self.bits
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_addresses_with_their_prefix() {
        for (network, address, is_inside) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false),
            ("10.1.2.3/24", "10.1.2.200", true),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe80::1", false),
            ("::1", "::1", true),
        ] {
            let proxies = TrustedProxies::parse(&[network.to_owned()]).unwrap();
            let address = address.parse().unwrap();
            assert_eq!(proxies.contain(address), is_inside, "{network} {address}");
        }
    }

    #[test]
    fn invalid_networks_are_refused() {
        for text in [
            "",
            "proxy.example",
            "10.0.0.0/33",
            "::/129",
            "10.0.0/8",
            "10.0.0.0/+8",
            "10.0.0.0/",
            "10.0.0.0:80",
        ] {
            let refused = TrustedProxies::parse(&[text.to_owned()]);
            assert_eq!(refused, Err(NotANetwork), "{text}");
        }
    }
}
