//! `[otel]`: the operator's OpenTelemetry collector.

use std::path::PathBuf;

use http::{HeaderName, HeaderValue};
use phigate_gateway::{BaseUrl, BaseUrlError, TelemetrySettings, Traces};
use serde::Deserialize;

use super::ConfigError;

/// `[otel]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOtel {
    endpoint: Option<String>,
    headers_file: Option<PathBuf>,
    traces: Option<String>,
    ratio: Option<f64>,
    propagate: Option<bool>,
}

/// Checked settings. The file of headers is read when the gateway starts.
#[derive(Debug, Clone)]
pub(crate) struct OtelSettings {
    endpoint: BaseUrl,
    headers_file: Option<PathBuf>,
    traces: Traces,
    ratio: f64,
    propagate: bool,
}

impl RawOtel {
    pub(super) fn check(self, allow_private: bool) -> Result<Option<OtelSettings>, ConfigError> {
        let traces = match self.traces.as_deref().unwrap_or("off") {
            "off" => Traces::Off,
            "parent" => Traces::Parent,
            "always" => Traces::Always,
            _ => return Err(wrong("otel.traces", "off, parent or always")),
        };
        let ratio = self.ratio.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&ratio) {
            return Err(wrong("otel.ratio", "a number from 0 to 1"));
        }
        let Some(endpoint) = self.endpoint.filter(|endpoint| !endpoint.is_empty()) else {
            let needs_one = traces != Traces::Off || self.headers_file.is_some();
            return match needs_one {
                true => Err(ConfigError::Missing {
                    key: "otel.endpoint",
                    because: "the other settings of [otel] need a collector",
                }),
                false => Ok(None),
            };
        };
        let endpoint = BaseUrl::parse(&endpoint, allow_private)
            .map_err(|error| wrong("otel.endpoint", expected(error)))?;
        Ok(Some(OtelSettings {
            endpoint,
            headers_file: self.headers_file,
            traces,
            ratio,
            propagate: self.propagate.unwrap_or(false),
        }))
    }
}

impl OtelSettings {
    /// The settings with the headers from their file.
    pub(crate) fn with_headers(&self) -> Result<TelemetrySettings, ConfigError> {
        let headers = match &self.headers_file {
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|_| ConfigError::Unread {
                    key: "otel.headers_file",
                    path: path.clone(),
                })?;
                headers(&text)?
            }
            None => Vec::new(),
        };
        Ok(TelemetrySettings {
            endpoint: self.endpoint.clone(),
            headers,
            traces: self.traces,
            ratio: self.ratio,
            propagate: self.propagate,
        })
    }
}

/// Headers as the file has them. A message names the line, never its text.
fn headers(text: &str) -> Result<Vec<(HeaderName, HeaderValue)>, ConfigError> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        let header = line.split_once(':').and_then(|(name, value)| {
            let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
            let mut value = HeaderValue::from_str(value.trim()).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        });
        header.ok_or_else(|| ConfigError::Value {
            key: format!("line {} of otel.headers_file", at + 1),
            expected: "a header as name: value".to_owned(),
        })
    };
    lines.map(read).collect()
}

/// Expectation that an endpoint did not meet.
fn expected(error: BaseUrlError) -> &'static str {
    match error {
        BaseUrlError::Malformed => "an address such as https://collector.example:4318",
        BaseUrlError::NotHttps => {
            "an address with https:// (http:// only with --allow-private-providers)"
        }
        BaseUrlError::UserInfo => {
            "an address without a user name or password: give secrets in otel.headers_file"
        }
        BaseUrlError::Query => "an address without a query or a fragment",
        BaseUrlError::Private => {
            "an address in public: only --allow-private-providers permits a private one"
        }
    }
}

fn wrong(key: &str, expected: &str) -> ConfigError {
    ConfigError::Value {
        key: key.to_owned(),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_errors_hide_them() {
        let read = headers("authorization: Bearer a:b\n\nx-scope : one \n").unwrap();
        let read: Vec<(&str, &str)> = read
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        assert_eq!(read, [("authorization", "Bearer a:b"), ("x-scope", "one")]);
        let refused = headers("a: b\nhunter2 is no header\n").unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("line 2 of otel.headers_file"), "{refused}");
        assert!(!refused.contains("hunter2"), "{refused}");
    }

    #[test]
    fn wrong_settings_are_refused_by_name() {
        let raw = |endpoint: &str, traces: &str, ratio| RawOtel {
            endpoint: Some(endpoint.to_owned()),
            traces: Some(traces.to_owned()),
            ratio: Some(ratio),
            ..RawOtel::default()
        };
        let good = "https://collector.example";
        assert!(raw(good, "parent", 0.5).check(false).unwrap().is_some());
        for (endpoint, traces, ratio, key) in [
            (good, "sometimes", 1.0, "otel.traces"),
            (good, "always", 1.5, "otel.ratio"),
            (good, "always", f64::NAN, "otel.ratio"),
            ("ftp://host", "always", 1.0, "otel.endpoint"),
            ("not a url", "always", 1.0, "otel.endpoint"),
            ("http://127.0.0.1:4318", "always", 1.0, "otel.endpoint"),
            ("", "always", 1.0, "otel.endpoint"),
        ] {
            let refused = raw(endpoint, traces, ratio).check(false).unwrap_err();
            assert!(refused.to_string().starts_with(key), "{refused}");
        }
        assert!(RawOtel::default().check(false).unwrap().is_none());
    }
}
