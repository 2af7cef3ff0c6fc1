//! The form of addresses of targets, and the rules about them: those of providers, and TLS always.

use std::net::IpAddr;

use http::Uri;

use crate::provider::{BaseUrl, BaseUrlError};

/// An address over TLS. `rest` is what follows the scheme; a query is kept as written.
pub(super) fn over_tls(rest: &str, allow_private: bool) -> Result<Uri, String> {
    let is_plain = rest
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#');
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    if !is_plain || host.is_empty() {
        return Err(
            "--to is not an address with a host, such as https://siem.example.org/in".to_owned(),
        );
    }
    let url = format!("https://{host}");
    BaseUrl::parse(&url, allow_private).map_err(words)?;
    let path = match path {
        "" => "/".to_owned(),
        path if path.starts_with('?') => format!("/{path}"),
        path => path.to_owned(),
    };
    let uri: Uri = format!("{url}{path}")
        .parse()
        .map_err(|_| words(BaseUrlError::Malformed))?;
    if is_link_local(&uri) {
        return Err(
            "--to is a link-local address: metadata of a machine lives there, no receiver"
                .to_owned(),
        );
    }
    Ok(uri)
}

/// Whether the host is an address of the link or of a cloud's platform, which is never a receiver of records.
fn is_link_local(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    match ip.map(|ip| ip.to_canonical()) {
        Some(IpAddr::V4(ip)) => ip.is_link_local() || ip.octets() == [168, 63, 129, 16],
        Some(IpAddr::V6(ip)) => ip.is_unicast_link_local(),
        None => false,
    }
}

fn words(error: BaseUrlError) -> String {
    let why = match error {
        BaseUrlError::Malformed => "is not an address with a host and, if needed, a port",
        BaseUrlError::NotHttps => "must be reached over TLS",
        BaseUrlError::UserInfo => {
            "must not hold a user name or password: give secrets with --key-stdin"
        }
        BaseUrlError::Query => "must not hold a query or a fragment",
        BaseUrlError::Private => {
            "leads to a private address, which only --allow-private-providers permits"
        }
    };
    format!("--to {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_outside_are_accepted() {
        for rest in [
            "siem.example.org/in?tenant=7%2F8&x=a+b",
            "8.8.8.8:8443",
            "a.example",
        ] {
            assert!(over_tls(rest, false).is_ok(), "{rest}");
        }
        for rest in [
            "",
            "/x",
            "exa mple/x",
            "a@b.example",
            "a.example:99999",
            "10.0.0.1",
            "a.example#x",
            "https://a.example/x",
        ] {
            assert!(over_tls(rest, false).is_err(), "{rest}");
        }
        assert!(over_tls("10.0.0.1/x", true).is_ok());
        for rest in ["169.254.169.254/latest", "[fe80::1]/x", "168.63.129.16"] {
            assert!(over_tls(rest, true).is_err(), "{rest}");
        }
        let kept = over_tls("a.example/in/box?t=7%2F8&x=a+b", false).unwrap();
        assert_eq!(kept.to_string(), "https://a.example/in/box?t=7%2F8&x=a+b");
    }

    #[test]
    fn refusal_holds_no_secret() {
        let refused = over_tls("user:hunter2@a.example/x", true).unwrap_err();
        assert!(!refused.contains("hunter2"), "{refused}");
    }
}
