//! `phigate healthy`: asks the gateway of this machine whether it can serve, for containers and supervisors.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use crate::config::Config;

use super::{EXIT_NO, Global, instance};

/// Timeout of connecting, and of each read.
const WAIT: Duration = Duration::from_secs(3);

/// Most bytes of an answer that are read.
const ANSWER_MAX: u64 = 4 << 20;

/// Line of the metrics while the store can be written.
const UP: &str = "phigate_store_up 1";

pub(super) fn run(global: &Global) -> anyhow::Result<ExitCode> {
    let config = Config::load(global.flags())?;
    let is_healthy = match (&config.tls, config.metrics_listen) {
        (None, _) => {
            let running = match config.database_url {
                Some(_) => None,
                None => instance::running(&config.data),
            };
            let address = running.map_or(config.listen, |running| running.address);
            get(address, "/readyz").is_some()
        }
        // The certificate of the listener for callers proves another name than this machine's own.
        (Some(_), Some(address)) => {
            get(address, "/metrics").is_some_and(|page| page.lines().any(|line| line == UP))
        }
        (Some(_), None) => {
            anyhow::bail!("with TLS, the gateway is asked at metrics_listen: turn it on")
        }
    };
    if is_healthy {
        println!("healthy");
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("the gateway does not answer, cannot write its store, or is stopping");
    Ok(ExitCode::from(EXIT_NO))
}

/// The answer, if its status is 200.
fn get(address: SocketAddr, path: &str) -> Option<String> {
    let mut socket = TcpStream::connect_timeout(&here(address), WAIT).ok()?;
    socket.set_read_timeout(Some(WAIT)).ok()?;
    socket.set_write_timeout(Some(WAIT)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    socket.take(ANSWER_MAX).read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8(answer).ok()?;
    answer.starts_with("HTTP/1.1 200 ").then_some(answer)
}

/// An address of this machine, for a listener on all of them.
fn here(address: SocketAddr) -> SocketAddr {
    let ip = match address {
        SocketAddr::V4(it) if it.ip().is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(it) if it.ip().is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        _ => address.ip(),
    };
    SocketAddr::new(ip, address.port())
}
