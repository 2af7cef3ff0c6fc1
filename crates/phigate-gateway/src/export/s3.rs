//! S3: each delivery is an object of JSON lines that can be verified alone, never overwritten, locked if wanted.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Uri};
use jiff::{SignedDuration, Timestamp};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use phigate_auth::{S3Keys, ToSign, object_checksum};
use phigate_store::{ExportConfig, ExportedLine, SecretString};
use uuid::Uuid;

use super::http::{Call, Way};
use super::sink::{Problem, Sink, joined};
use super::target::{SecretForm, TargetKind};
use crate::provider::BaseUrl;

/// Region of a bucket, if none is named.
const REGION: &str = "us-east-1";

/// Characters that are escaped in a segment of a key.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

pub(super) static KIND: TargetKind = TargetKind {
    secret: Some(SecretForm {
        words: "the JSON of its credentials (access_key_id, secret_access_key)",
        check: |secret| {
            S3Keys::read(secret)
                .map(drop)
                .map_err(|error| error.to_string())
        },
    }),
    options: &["--base-url", "--lock", "--region"],
    every: Duration::from_secs(2),
    is_apart: true,
    ..TargetKind::new(
        "s3://",
        |config, allow_private| place(config, allow_private).map(drop),
        open,
    )
};

/// The folder of the objects in a bucket.
struct Place {
    prefix: Vec<String>,
    /// Root of the bucket, without a slash at its end.
    root: String,
    region: String,
}

struct Bucket {
    place: Place,
    keys: S3Keys,
    lock_hours: Option<u32>,
    /// Whether the bucket was seen to have object lock.
    has_lock: bool,
    /// Time in the name of the last object: names are in the order of writing.
    last: Timestamp,
    way: Way,
}

fn place(config: &ExportConfig, allow_private: bool) -> Result<Place, String> {
    let rest = KIND.rest(&config.to);
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [bucket.bytes().next(), bucket.bytes().next_back()];
    let is_name = (3..=63).contains(&bucket.len())
        && bucket
            .bytes()
            .all(|byte| is_letter(byte) || b".-".contains(&byte))
        && ends.iter().flatten().all(|byte| is_letter(*byte));
    if !is_name {
        return Err("--to names no bucket: s3:// is followed by 3 to 63 lower-case letters, digits, dots and hyphens".to_owned());
    }
    let prefix = prefix.trim_matches('/');
    let segments: Vec<String> = prefix.split('/').map(str::to_owned).collect();
    let is_segment = |segment: &String| {
        !matches!(segment.as_str(), "" | "." | "..") && !segment.contains(char::is_control)
    };
    let segments = if prefix.is_empty() {
        Vec::new()
    } else {
        segments
    };
    if !segments.iter().all(is_segment) || prefix.len() > 512 {
        return Err("--to has an empty or odd segment in the prefix of its objects".to_owned());
    }
    let region = config.region.as_deref().unwrap_or(REGION);
    let is_region = |byte: u8| is_letter(byte) || byte == b'-';
    if region.is_empty() || region.len() > 32 || !region.bytes().all(is_region) {
        return Err("--region is not a region such as us-east-1".to_owned());
    }
    let root = match &config.base_url {
        Some(url) => {
            let base = BaseUrl::parse(url, allow_private);
            let base = base.map_err(|error| format!("--base-url: {error}"))?;
            format!("{base}/{bucket}")
        }
        // A certificate of the service covers one label.
        None if bucket.contains('.') => format!("https://s3.{region}.amazonaws.com/{bucket}"),
        None => format!("https://{bucket}.s3.{region}.amazonaws.com"),
    };
    Ok(Place {
        prefix: segments,
        root,
        region: region.to_owned(),
    })
}

impl Place {
    /// The address of an object.
    fn object(&self, name: &str) -> Option<Uri> {
        let mut address = self.root.clone();
        for segment in self.prefix.iter().map(String::as_str).chain([name]) {
            address.push('/');
            address.extend(utf8_percent_encode(segment, ESCAPED));
        }
        address.parse().ok()
    }
}

fn open(
    config: &ExportConfig,
    secret: Option<SecretString>,
    way: &Way,
) -> Result<Box<dyn Sink>, Problem> {
    let secret = secret.ok_or_else(|| Problem::new("the target has no credentials"))?;
    let keys = S3Keys::read(secret.expose());
    Ok(Box::new(Bucket {
        place: place(config, way.allow_private).map_err(Problem::new)?,
        keys: keys.map_err(|_| Problem::new("the credentials cannot be read"))?,
        lock_hours: config.lock_hours,
        has_lock: false,
        last: Timestamp::UNIX_EPOCH,
        way: way.clone(),
    }))
}

#[async_trait]
impl Sink for Bucket {
    /// No record goes to a bucket without the lock that was asked for, even if its server ignores the headers of a
    /// lock: a line that says nothing is stored first, and the bucket's own settings are read if the key may.
    async fn begin(&mut self) -> Result<bool, Problem> {
        if self.lock_hours.is_none() || self.has_lock {
            return Ok(false);
        }
        let now = Timestamp::now();
        let line = ExportedLine {
            json: format!("{{\"record\":\"test\",\"time\":\"{now}\"}}"),
            kind: "test",
            time: now,
        };
        self.put(&[line]).await?;
        let address = format!("{}?object-lock=", self.place.root);
        let uri: Uri = address.parse().map_err(|_| odd_address())?;
        self.has_lock = match self.call(Method::GET, &uri, &[], Bytes::new()).await {
            Ok(answer) => answer.windows(7).any(|word| word == b"Enabled"),
            Err(problem) => match problem.status {
                // The key may write and no more.
                Some(401 | 403) => true,
                Some(404) => false,
                _ => return Err(problem),
            },
        };
        match self.has_lock {
            true => Ok(false),
            false => Err(Problem::new(
                "the bucket has no object lock, which --lock asks for",
            )),
        }
    }

    async fn deliver(&mut self, lines: &[ExportedLine]) -> Result<u64, Problem> {
        self.put(lines).await?;
        Ok(0)
    }
}

impl Bucket {
    /// Stores lines as one object, locked if wanted.
    async fn put(&mut self, lines: &[ExportedLine]) -> Result<(), Problem> {
        let now = Timestamp::now().max(self.last);
        self.last = now;
        let name = format!(
            "{}-{}.jsonl",
            now.strftime("%Y-%m-%dT%H-%M-%S%.6fZ"),
            Uuid::now_v7().simple()
        );
        let uri = self.place.object(&name).ok_or_else(odd_address)?;
        let body = Bytes::from(joined(lines));
        let checksum = object_checksum(&body);
        let mut headers = vec![
            ("content-type", "application/x-ndjson"),
            ("x-amz-checksum-sha256", checksum.as_str()),
        ];
        let until = self.lock_hours.and_then(|hours| {
            let until = now
                .checked_add(SignedDuration::from_hours(hours.into()))
                .ok()?;
            Some(until.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        });
        match (&until, self.lock_hours) {
            (Some(until), _) => headers.extend([
                ("x-amz-object-lock-mode", "COMPLIANCE"),
                ("x-amz-object-lock-retain-until-date", until.as_str()),
            ]),
            (None, Some(_)) => return Err(Problem::new("the end of the lock is no date")),
            (None, None) => {}
        }
        self.call(Method::PUT, &uri, &headers, body).await.map(drop)
    }

    async fn call(
        &self,
        method: Method,
        uri: &Uri,
        headers: &[(&'static str, &str)],
        body: Bytes,
    ) -> Result<Bytes, Problem> {
        let call = ToSign {
            method: method.as_str(),
            uri,
            headers,
            body: &body,
        };
        let signed = self
            .keys
            .headers(&call, &self.place.region, Timestamp::now());
        let mut signed = signed.map_err(|_| Problem::new("the call cannot be signed"))?;
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).map_err(|_| odd_address())?;
            signed.push((HeaderName::from_static(name), value));
        }
        let call = Call {
            method,
            uri,
            headers: signed,
            body,
        };
        self.way.call(call).await
    }
}

fn odd_address() -> Problem {
    Problem::new("the object's address cannot be sent")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(to: &str, base_url: Option<&str>) -> ExportConfig {
        ExportConfig {
            to: to.to_owned(),
            records: Vec::new(),
            only: None,
            checkpoints: false,
            lock_hours: None,
            region: None,
            base_url: base_url.map(str::to_owned),
        }
    }

    #[test]
    fn objects_lie_under_the_prefix() {
        for (to, base_url, wanted) in [
            (
                "s3://site-7",
                None,
                "https://site-7.s3.us-east-1.amazonaws.com/n",
            ),
            (
                "s3://a.b.c/x/",
                None,
                "https://s3.us-east-1.amazonaws.com/a.b.c/x/n",
            ),
            (
                "s3://site-7/a b/ü+x",
                Some("https://s3.example"),
                "https://s3.example/site-7/a%20b/%C3%BC%2Bx/n",
            ),
        ] {
            let place = place(&config(to, base_url), false).unwrap();
            assert_eq!(place.object("n").unwrap().to_string(), wanted);
        }
        for to in [
            "s3:///x",
            "s3://Not_A_Bucket/x",
            "s3://ab",
            "s3://abc/a//b",
            "s3://abc/../x",
        ] {
            assert!(place(&config(to, None), false).is_err(), "{to}");
        }
    }
}
