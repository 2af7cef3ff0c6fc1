//! Host names under which the dashboard and Presidio's interface answer.
//!
//! A page of a stranger can give its own name the address of this machine (DNS rebinding), and a browser then sends its
//! requests here. They carry the stranger's name. The API is not concerned: it answers no caller without a key.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::HOST;

use crate::config::Config;

/// The names that are answered.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    named: Arc<[String]>,
    /// Any name is answered. Over TLS a browser checks the name by the certificate, which an attacker does not have.
    is_open: bool,
}

impl Hosts {
    /// The names that the settings give.
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            named: config.public_hosts.clone().into(),
            is_open: config.public_hosts.is_empty() && config.is_sealed(),
        }
    }

    /// Guards the routes of a router.
    pub(crate) fn guard(self, router: Router) -> Router {
        router.layer(from_fn_with_state(self, check))
    }

    /// Whether requests to a host, with or without a port, are answered. Addresses always are, because DNS rebinding
    /// needs a name.
    fn answers(&self, authority: &str) -> bool {
        let host = match authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        };
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        self.is_open
            || host == "localhost"
            || host.parse::<IpAddr>().is_ok()
            || self.named.contains(&host)
    }
}

async fn check(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let header = || request.headers().get(HOST)?.to_str().ok();
    let authority = request.uri().authority().map(http::uri::Authority::as_str);
    if hosts.answers(authority.or_else(header).unwrap_or_default()) {
        next.run(request).await
    } else {
        (StatusCode::MISDIRECTED_REQUEST, REFUSAL).into_response()
    }
}

const REFUSAL: &str = "phigate does not answer under this host name. The operator can allow it with the setting \
     public_hosts.\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(named: &[&str], is_open: bool) -> Hosts {
        Hosts {
            named: named.iter().map(|name| (*name).to_owned()).collect(),
            is_open,
        }
    }

    #[test]
    fn only_known_names_and_addresses_are_answered() {
        let plain = hosts(&["gate.example.org"], false);
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:8080",
            "[::1]:8080",
            "192.0.2.1",
            "gate.example.org",
            "Gate.Example.org.:443",
        ] {
            assert!(plain.answers(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "gate.example.org.evil.example",
            "[evil.example]",
        ] {
            assert!(!plain.answers(host), "{host}");
            assert!(hosts(&[], true).answers(host), "{host}");
        }
    }
}
