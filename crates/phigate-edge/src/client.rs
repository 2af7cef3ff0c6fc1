//! The caller's address: the peer of the connection or, behind a trusted proxy, the address it reports.
//!
//! Every proxy appends the address of its peer, so only the right end of the list comes from a trusted source. The
//! search goes from there past trusted proxies to the first other address. The caller may have written everything
//! further left.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, header};

use crate::proxies::TrustedProxies;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Address of the caller, found in the request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// Determines the caller of a request from `peer`.
    pub(crate) fn of(peer: IpAddr, headers: &HeaderMap, proxies: &TrustedProxies) -> Self {
        let peer = peer.to_canonical();
        if !proxies.contain(peer) {
            return Self(peer);
        }
        let named = |hops: Vec<Option<IpAddr>>| last_untrusted(peer, &hops, proxies);
        let by_list = headers
            .contains_key(X_FORWARDED_FOR)
            .then(|| named(x_forwarded_for(headers)));
        let by_standard = headers
            .contains_key(header::FORWARDED)
            .then(|| named(forwarded(headers)));
        Self(match (by_list, by_standard) {
            // A proxy writes one of the two headers and may forward the other from the caller. If they differ, neither
            // can be trusted, and only the proxy is known.
            (Some(one), Some(other)) if one != other => peer,
            (Some(one), _) | (None, Some(one)) => one,
            (None, None) => peer,
        })
    }
}

/// First address from the right that is not a trusted proxy. An unreadable hop ends the search with the proxy that
/// reported it, because everything behind it is unknown.
fn last_untrusted(peer: IpAddr, hops: &[Option<IpAddr>], proxies: &TrustedProxies) -> IpAddr {
    let mut known = peer;
    for hop in hops.iter().rev() {
        match hop {
            Some(address) => known = *address,
            None => return known,
        }
        if !proxies.contain(known) {
            return known;
        }
    }
    known
}

/// `X-Forwarded-For: client, proxy, proxy`, over any number of lines.
fn x_forwarded_for(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let lines = headers.get_all(X_FORWARDED_FOR).iter();
    lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .map(|hop| node(std::str::from_utf8(hop).ok()?))
        .collect()
}

/// `Forwarded: for=client;proto=https, for="[2001:db8::1]:4711"` (RFC 7239), over any number of lines.
fn forwarded(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let lines = headers.get_all(header::FORWARDED).iter();
    lines
        .flat_map(|line| match line.to_str() {
            Ok(line) if has_closed_quotes(line) => {
                split_outside_quotes(line, ',').map(for_parameter).collect()
            }
            _ => vec![None],
        })
        .collect()
}

fn for_parameter(element: &str) -> Option<IpAddr> {
    let mut named = split_outside_quotes(element, ';').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        name.trim().eq_ignore_ascii_case("for").then_some(value)
    });
    match (named.next(), named.next()) {
        (Some(value), None) => node(value.trim().trim_matches('"')),
        _ => None,
    }
}

/// Whether all quotes are closed. An open quote of the caller would swallow what the proxy appends.
fn has_closed_quotes(line: &str) -> bool {
    line.matches('"').count().is_multiple_of(2)
}

fn split_outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |character| {
        is_quoted ^= character == '"';
        character == separator && !is_quoted
    })
}

/// An address with or without a port. Names (`unknown`, `_hidden`) are not addresses.
fn node(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    let with_port = || text.parse().map(|address: SocketAddr| address.ip());
    let address: IpAddr = bare.parse().or_else(|_| with_port()).ok()?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const PROXY: &str = "10.0.0.7";

    /// Caller's address for these lines from `peer`, with 10.0.0.0/8 trusted.
    fn client(peer: &str, lines: &[(&'static str, &'static str)]) -> String {
        let proxies = TrustedProxies::parse(&["10.0.0.0/8".to_owned()]).unwrap();
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let ClientAddress(address) = ClientAddress::of(peer.parse().unwrap(), &headers, &proxies);
        address.to_string()
    }

    #[test]
    fn a_trusted_proxy_names_the_caller() {
        for (list, expected) in [
            ("203.0.113.9", "203.0.113.9"),
            ("203.0.113.9:4711", "203.0.113.9"),
            ("198.51.100.1, 203.0.113.9", "203.0.113.9"),
            ("198.51.100.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
            ("2001:db8::9", "2001:db8::9"),
            ("[2001:db8::9]:443", "2001:db8::9"),
            ("::ffff:203.0.113.9", "203.0.113.9"),
            ("10.0.0.2, 10.0.0.3", "10.0.0.2"),
            ("203.0.113.9, unknown", PROXY),
            ("203.0.113.9, , 10.0.0.2", "10.0.0.2"),
            ("nonsense, 10.0.0.2", "10.0.0.2"),
            ("", PROXY),
        ] {
            let told = client(PROXY, &[("x-forwarded-for", list)]);
            assert_eq!(told, expected, "{list}");
        }
    }

    #[test]
    fn forwarded_header_names_the_caller() {
        for (list, expected) in [
            ("for=203.0.113.9", "203.0.113.9"),
            ("For=203.0.113.9;proto=https;by=10.0.0.2", "203.0.113.9"),
            (r#"for="[2001:db8::9]:4711""#, "2001:db8::9"),
            (r#"for="203.0.113.9:80", for=10.0.0.2"#, "203.0.113.9"),
            (r#"by="a,for=198.51.100.1";for=203.0.113.9"#, "203.0.113.9"),
            ("for=203.0.113.9, for=_hidden", PROXY),
            (r#"for=198.51.100.1;by=", for=203.0.113.9"#, PROXY),
            (r#"for=198.51.100.1;by="\"", for=203.0.113.9"#, PROXY),
            (
                r#"by="\"", for=198.51.100.1;by=", for=203.0.113.9"#,
                "203.0.113.9",
            ),
            ("for=198.51.100.1;for=203.0.113.9", PROXY),
            ("proto=https", PROXY),
        ] {
            assert_eq!(client(PROXY, &[("forwarded", list)]), expected, "{list}");
        }
    }

    #[test]
    fn address_headers_must_agree() {
        let (list, standard) = ("x-forwarded-for", "forwarded");
        for (lines, expected) in [
            (
                vec![(list, "198.51.100.1"), (list, "203.0.113.9")],
                "203.0.113.9",
            ),
            (
                vec![(list, "203.0.113.9"), (standard, "for=203.0.113.9")],
                "203.0.113.9",
            ),
            (
                vec![(list, "198.51.100.1"), (standard, "for=203.0.113.9")],
                PROXY,
            ),
            (vec![], PROXY),
        ] {
            assert_eq!(client(PROXY, &lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn untrusted_peers_cannot_name_callers() {
        for header in ["x-forwarded-for", "forwarded"] {
            for value in ["203.0.113.9", "for=203.0.113.9", "10.0.0.2"] {
                assert_eq!(client("192.0.2.1", &[(header, value)]), "192.0.2.1");
            }
        }
    }
}
