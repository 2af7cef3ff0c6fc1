//! A provider's base URL as an owner may write it, and the URLs built on it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::address;

const LENGTH_MAX: usize = 2048;

/// Version segments that a base URL may already end in.
const VERSIONS: &[&str] = &["v1", "v1beta"];

/// Names that are internal, whatever they resolve to.
const INSIDE_NAMES: &[&str] = &["localhost", "local", "internal", "localdomain", "home.arpa"];

/// A checked base URL: scheme, host and port, and the path segments before the API's own.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl {
    scheme: Scheme,
    authority: Authority,
    segments: Vec<String>,
}

/// The reason why a base URL is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// Malformed URL.
    #[error("the base URL is not a URL such as https://api.example.com")]
    Malformed,
    /// The scheme is not https.
    #[error(
        "the base URL must begin with https:// (http:// only where the server runs with --allow-private-providers)"
    )]
    NotHttps,
    /// The base URL must not hold a user name or password.
    #[error("the base URL must not hold a user name or password")]
    UserInfo,
    /// The base URL must not hold a query or a fragment.
    #[error("the base URL must not hold a query or a fragment")]
    Query,
    /// The base URL leads to a private address, which only --allow-private-providers permits.
    #[error(
        "the base URL leads to a private address, which only --allow-private-providers permits"
    )]
    Private,
}

impl BaseUrl {
    /// Reads a base URL. Names are not resolved here: the address is checked at connect time.
    pub fn parse(text: &str, allow_private: bool) -> Result<Self, BaseUrlError> {
        let text = text.trim();
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        if text.len() > LENGTH_MAX || !is_plain {
            return Err(BaseUrlError::Malformed);
        }
        if text.contains(['?', '#']) {
            return Err(BaseUrlError::Query);
        }
        let uri: Uri = text.parse().map_err(|_| BaseUrlError::Malformed)?;
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(BaseUrlError::Malformed);
        };
        let scheme_is_right = scheme == Scheme::HTTPS || (scheme == Scheme::HTTP && allow_private);
        if !scheme_is_right {
            return Err(BaseUrlError::NotHttps);
        }
        if authority.as_str().contains('@') {
            return Err(BaseUrlError::UserInfo);
        }
        let has_port = authority.as_str().len() > authority.host().len();
        if has_port && authority.port_u16().is_none() {
            return Err(BaseUrlError::Malformed);
        }
        check_host(&authority, allow_private)?;
        let path = parts.path_and_query.as_ref().map_or("", PathAndQuery::path);
        Ok(Self {
            scheme,
            authority,
            segments: segments(path)?,
        })
    }

    /// The URL of one call. Each segment is encoded separately, so that no segment can change the path's structure.
    ///
    /// A version at the end of the base replaces the API's first segment.
    pub(crate) fn join(&self, path: &[String], query: Option<&str>) -> Option<Uri> {
        let base_has_version = self
            .segments
            .last()
            .is_some_and(|last| VERSIONS.contains(&last.as_str()));
        let path_has_version = path
            .first()
            .is_some_and(|first| VERSIONS.contains(&first.as_str()));
        let path = if base_has_version && path_has_version {
            &path[1..]
        } else {
            path
        };
        let mut text = String::new();
        for segment in &self.segments {
            text.push('/');
            text.push_str(segment);
        }
        for segment in path {
            text.push('/');
            push_encoded(&mut text, segment)?;
        }
        if text.is_empty() {
            text.push('/');
        }
        if let Some(query) = query {
            text.push('?');
            text.push_str(query);
        }
        let path_and_query = PathAndQuery::try_from(text).ok()?;
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path_and_query)
            .build()
            .ok()
    }
}

/// Writes the URL so that it can be parsed again.
impl fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}", self.scheme, self.authority)?;
        self.segments
            .iter()
            .try_for_each(|segment| write!(formatter, "/{segment}"))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BaseUrl({self})")
    }
}

fn check_host(authority: &Authority, allow_private: bool) -> Result<(), BaseUrlError> {
    if authority.port_u16() == Some(0) || (authority.as_str().ends_with(':')) {
        return Err(BaseUrlError::Malformed);
    }
    let host = authority.host();
    let ip = match host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(inner) => Some(IpAddr::V6(
            inner
                .parse::<Ipv6Addr>()
                .map_err(|_| BaseUrlError::Malformed)?,
        )),
        None => host.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    };
    let is_private = match ip {
        Some(ip) if !address::is_a_host(ip) => return Err(BaseUrlError::Malformed),
        Some(ip) => !address::is_public(ip),
        None => {
            check_name(host)?;
            is_inside_name(host)
        }
    };
    if is_private && !allow_private {
        Err(BaseUrlError::Private)
    } else {
        Ok(())
    }
}

/// Checks a name: letters, digits and hyphens, and a last label that is not a number.
///
/// Resolvers read `2852039166`, `0xA9FEA9FE` and `169.254.43518` as addresses; no provider needs them.
fn check_name(host: &str) -> Result<(), BaseUrlError> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let label_is_fine = |label: &str| {
        let plain = label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        !label.is_empty() && label.len() <= 63 && plain
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    let last_is_number = last.starts_with(|first: char| first.is_ascii_digit());
    if host.len() <= 253 && host.split('.').all(label_is_fine) && !last_is_number {
        Ok(())
    } else {
        Err(BaseUrlError::Malformed)
    }
}

/// Whether a name leads inside. One of a single label does wherever it resolves at all.
fn is_inside_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_single = !host.contains('.');
    is_single
        || INSIDE_NAMES.iter().any(|name| {
            host.strip_suffix(name)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

/// The base's path. It is kept as written, so it must not contain segments that a server could normalise away.
fn segments(path: &str) -> Result<Vec<String>, BaseUrlError> {
    let path = path.trim_matches('/');
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let fine = |segment: &&str| {
        let plain = segment
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~:@".contains(&byte));
        plain && !matches!(*segment, "" | "." | "..")
    };
    let segments: Vec<&str> = path.split('/').collect();
    if segments.iter().all(fine) {
        Ok(segments.into_iter().map(str::to_owned).collect())
    } else {
        Err(BaseUrlError::Malformed)
    }
}

/// Characters escaped in a segment: all but letters, digits and signs without a meaning in paths.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':');

/// Appends one path segment; `None` if it is not a valid segment.
fn push_encoded(text: &mut String, segment: &str) -> Option<()> {
    if matches!(segment, "" | "." | "..") {
        return None;
    }
    text.extend(utf8_percent_encode(segment, ESCAPED));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(base: &str, path: &[&str], query: Option<&str>) -> String {
        let path: Vec<String> = path.iter().map(|segment| (*segment).to_owned()).collect();
        let url = BaseUrl::parse(base, false).unwrap().join(&path, query);
        url.map_or_else(|| "refused".to_owned(), |url| url.to_string())
    }

    #[test]
    fn calls_are_built_on_the_base() {
        let chat = &["v1", "chat", "completions"][..];
        for (base, path, query, url) in [
            (
                "https://api.openai.com",
                chat,
                None,
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://api.openai.com/",
                chat,
                None,
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://api.openai.com/v1",
                chat,
                None,
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://a.example:8443/openai/v1/",
                chat,
                None,
                "https://a.example:8443/openai/v1/chat/completions",
            ),
            (
                "https://a.example/proxy",
                chat,
                None,
                "https://a.example/proxy/v1/chat/completions",
            ),
            (
                "https://g.example/v1beta",
                &["v1beta", "models", "gemini-pro:streamGenerateContent"],
                Some("alt=sse"),
                "https://g.example/v1beta/models/gemini-pro:streamGenerateContent?alt=sse",
            ),
        ] {
            assert_eq!(join(base, path, query), url);
        }
    }

    #[test]
    fn segment_cannot_change_the_path() {
        for (segment, url) in [
            (
                "a/../../x?key=",
                "https://a.example/v1/a%2F..%2F..%2Fx%3Fkey%3D",
            ),
            ("%2e%2e/", "https://a.example/v1/%252e%252e%2F"),
            (
                "\\\\evil.example\\x",
                "https://a.example/v1/%5C%5Cevil.example%5Cx",
            ),
            ("é#", "https://a.example/v1/%C3%A9%23"),
            ("..", "refused"),
            ("", "refused"),
        ] {
            assert_eq!(join("https://a.example", &["v1", segment], None), url);
        }
    }

    #[test]
    fn only_public_https_urls_pass() {
        use BaseUrlError::*;
        let rows: &[(&str, BaseUrlError)] = &[
            // Malformed base URLs, and the reason for each refusal.
            ("", Malformed),
            ("api.openai.com", Malformed),
            ("https://", Malformed),
            ("https:///v1", Malformed),
            ("ftp://a.example", NotHttps),
            ("http://a.example", NotHttps),
            ("https://user:pw@a.example", UserInfo),
            ("https://a.example@169.254.169.254", UserInfo),
            ("https://a.example/?x=1", Query),
            ("https://a.example/#x", Query),
            ("https://a.example/a/../b", Malformed),
            ("https://a.example/%2e%2e/b", Malformed),
            ("https://a.example\\b", Malformed),
            ("https://a.example:0", Malformed),
            ("https://a.example:", Malformed),
            ("https://a..example", Malformed),
            ("https://2852039166", Malformed),
            ("https://0xA9FEA9FE", Malformed),
            ("https://0251.0376.0251.0376", Malformed),
            ("https://a.example:99999", Malformed),
            ("https://169.254.43518", Malformed),
            ("https://①⑥⑨.②⑤④.169.254", Malformed),
            ("https://169.254.169.254", Private),
            ("https://169.254.169.254/latest", Private),
            ("https://127.0.0.1:8000", Private),
            ("https://10.0.0.5", Private),
            ("https://[::1]", Private),
            ("https://[::ffff:169.254.169.254]", Private),
            ("https://[fd00:ec2::254]", Private),
            ("https://0.0.0.0", Malformed),
            ("https://localhost", Private),
            ("https://LOCALHOST.", Private),
            ("https://x.localhost", Private),
            ("https://metadata.google.internal", Private),
            ("https://printer.local", Private),
            ("https://metadata", Private),
            ("https://METADATA.", Private),
            ("https://intranet:8443/v1", Private),
            ("https://168.63.129.16", Private),
        ];
        for (text, why) in rows {
            assert_eq!(BaseUrl::parse(text, false).err(), Some(*why), "{text}");
        }
        for text in [
            "https://a.example",
            " https://A.example:443/v1 ",
            "https://8.8.8.8",
            "https://[2606:4700::1]:8443/x",
        ] {
            assert!(BaseUrl::parse(text, false).is_ok(), "{text}");
        }
    }

    #[test]
    fn operator_can_allow_private_addresses() {
        for text in [
            "http://127.0.0.1:8000/v1",
            "http://localhost:11434",
            "https://10.0.0.5",
            "https://intranet",
            "https://168.63.129.16",
            "http://[::1]:80",
        ] {
            assert!(BaseUrl::parse(text, true).is_ok(), "{text}");
        }
        assert_eq!(
            BaseUrl::parse("http://0.0.0.0", true),
            Err(BaseUrlError::Malformed)
        );
        assert_eq!(
            BaseUrl::parse("http://2852039166", true),
            Err(BaseUrlError::Malformed)
        );
    }

    #[test]
    fn base_url_round_trips() {
        let text = "https://a.example:8443/openai/v1";
        assert_eq!(BaseUrl::parse(text, false).unwrap().to_string(), text);
    }
}
