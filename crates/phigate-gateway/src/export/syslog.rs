//! Syslog over TLS: RFC 5424 messages, framed by octet counting (RFC 5425).
//!
//! The protocol acknowledges nothing, so lines count as received once the connection outlived them by a while.

use std::fmt::Write as _;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use http::Uri;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use phigate_store::{ExportConfig, ExportedLine, SecretString};
use phigate_types::ExportRecord;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tower::Service;

use super::address::over_tls;
use super::http::Way;
use super::sink::{Problem, Sink};
use super::target::TargetKind;

/// Port of syslog over TLS.
const PORT: u16 = 6514;

/// Facility "log audit".
const FACILITY: u8 = 13;

const WARNING: u8 = 4;
const NOTICE: u8 = 5;

pub(super) static KIND: TargetKind = TargetKind {
    confirmed_after: Duration::from_secs(30),
    ..TargetKind::new(
        "syslog+tls://",
        |config, allow_private| uri(config, allow_private).map(drop),
        open,
    )
};

type Connection = TokioIo<MaybeHttpsStream<TokioIo<TcpStream>>>;

struct Syslog {
    uri: Uri,
    way: Way,
    host: String,
    connection: Option<Connection>,
}

fn uri(config: &ExportConfig, allow_private: bool) -> Result<Uri, String> {
    let rest = KIND.rest(&config.to);
    if rest.contains(['/', '?']) {
        return Err(
            "--to has a path: syslog+tls:// is followed by a host and a port alone".to_owned(),
        );
    }
    let uri = over_tls(rest, allow_private)?;
    if uri.port_u16().is_some() {
        return Ok(uri);
    }
    over_tls(&format!("{rest}:{PORT}"), allow_private)
}

fn open(
    config: &ExportConfig,
    _: Option<SecretString>,
    way: &Way,
) -> Result<Box<dyn Sink>, Problem> {
    let name = rustix::system::uname();
    let host: String = name.nodename().to_string_lossy().into_owned();
    let host: String = host
        .chars()
        .filter(char::is_ascii_graphic)
        .take(255)
        .collect();
    Ok(Box::new(Syslog {
        uri: uri(config, way.allow_private).map_err(Problem::new)?,
        way: way.clone(),
        host: if host.is_empty() {
            "-".to_owned()
        } else {
            host
        },
        connection: None,
    }))
}

#[async_trait]
impl Sink for Syslog {
    async fn begin(&mut self) -> Result<bool, Problem> {
        if self.connection.is_none() {
            let stream = self.way.connector.call(self.uri.clone()).await?;
            self.connection = Some(TokioIo::new(stream));
        }
        Ok(false)
    }

    async fn deliver(&mut self, lines: &[ExportedLine]) -> Result<u64, Problem> {
        let Some(connection) = &mut self.connection else {
            return Err(Problem::new("there is no connection"));
        };
        let mut frames = String::new();
        for line in lines {
            let message = message(&self.host, line);
            let _ = write!(frames, "{} {message}", message.len());
        }
        let written = async {
            connection.write_all(frames.as_bytes()).await?;
            connection.flush().await
        };
        match written.await {
            Ok(()) => Ok(0),
            Err(error) => {
                self.connection = None;
                Err(Problem::of_io("the connection broke", &error))
            }
        }
    }

    async fn is_open(&mut self) -> bool {
        let Some(connection) = &mut self.connection else {
            return false;
        };
        let mut bytes = [0; 64];
        let is_open = std::future::poll_fn(|context| {
            let mut buffer = ReadBuf::new(&mut bytes);
            // A receiver says nothing; the end of its side, or an error, means that the connection is over.
            Poll::Ready(
                match Pin::new(&mut *connection).poll_read(context, &mut buffer) {
                    Poll::Pending => true,
                    Poll::Ready(Ok(())) => !buffer.filled().is_empty(),
                    Poll::Ready(Err(_)) => false,
                },
            )
        });
        let is_open = is_open.await;
        if !is_open {
            self.connection = None;
        }
        is_open
    }

    /// A receiver that has read everything ends its side as well; without that the lines may be lost.
    async fn finish(&mut self) -> bool {
        if !self.is_open().await {
            return false;
        }
        let Some(mut connection) = self.connection.take() else {
            return false;
        };
        if connection.shutdown().await.is_err() {
            return false;
        }
        let mut rest = [0; 64];
        loop {
            match connection.read(&mut rest).await {
                Ok(0) => return true,
                Ok(_) => {}
                // Many receivers close without a farewell of TLS.
                Err(error) => return error.kind() == std::io::ErrorKind::UnexpectedEof,
            }
        }
    }
}

/// One message: priority, version, time, host, application, process, kind, no structured data, the line.
fn message(host: &str, line: &ExportedLine) -> String {
    let severity = match line.kind == ExportRecord::Alert.code() {
        true => WARNING,
        false => NOTICE,
    };
    format!(
        "<{}>1 {} {host} phigate {} {} - {}",
        FACILITY * 8 + severity,
        line.time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ"),
        std::process::id(),
        line.kind,
        line.json
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_every_field() {
        let line = ExportedLine {
            json: "{\"record\":\"admin\"}".to_owned(),
            kind: ExportRecord::Admin.code(),
            time: "2026-11-19T04:15:25.1234567Z".parse().unwrap(),
        };
        let process = std::process::id();
        assert_eq!(
            message("ward-7", &line),
            format!(
                "<109>1 2026-11-19T04:15:25.123456Z ward-7 phigate {process} admin - {{\"record\":\"admin\"}}"
            )
        );
    }
}
