//! Credentials of a bucket, and signed calls to S3.

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use jiff::Timestamp;

use super::Keys;
use super::sign::{OF_S3, hash, sign_for};
use crate::call::ToSign;
use crate::error::AuthError;
use crate::secret::{AwsSecret, SecretError};

/// Header with the hash of a body; its signature covers it.
const CONTENT_HASH: &str = "x-amz-content-sha256";

/// Credentials of a bucket.
#[derive(Debug)]
pub struct S3Keys(Keys);

impl S3Keys {
    /// Reads the JSON of AWS credentials.
    pub fn read(secret: &str) -> Result<Self, SecretError> {
        let read = AwsSecret::read(secret)?;
        Ok(Self(Keys::new(
            read.access_key_id,
            read.secret_access_key,
            read.session_token,
        )))
    }

    /// Headers that sign a call. The headers of the call must be sent as well.
    pub fn headers(
        &self,
        call: &ToSign<'_>,
        region: &str,
        now: Timestamp,
    ) -> Result<Vec<(HeaderName, HeaderValue)>, AuthError> {
        let body = hash(call.body);
        let mut covered = call.headers.to_vec();
        covered.push((CONTENT_HASH, &body));
        let call = ToSign {
            headers: &covered,
            ..*call
        };
        let mut headers = sign_for(OF_S3, &call, &self.0, region, now)?;
        let value = HeaderValue::from_str(&body).expect("a hash is hexadecimal");
        headers.push((HeaderName::from_static(CONTENT_HASH), value));
        Ok(headers)
    }
}

/// Checksum of an object as S3 wants it, base64 of SHA-256.
pub fn object_checksum(body: &[u8]) -> String {
    STANDARD.encode(digest::digest(&digest::SHA256, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example "PUT Object" of AWS's documentation of Signature Version 4 for S3.
    #[test]
    fn documented_call_is_signed_as_documented() {
        let secret = r#"{"access_key_id":"AKIAIOSFODNN7EXAMPLE","secret_access_key":"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}"#;
        let keys = S3Keys::read(secret).unwrap();
        let uri = "https://examplebucket.s3.amazonaws.com/test%24file.text"
            .parse()
            .unwrap();
        let call = ToSign {
            method: "PUT",
            uri: &uri,
            headers: &[
                ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ],
            body: b"Welcome to Amazon S3.",
        };
        let now = "2013-05-24T00:00:00Z".parse().unwrap();
        let headers = keys.headers(&call, "us-east-1", now).unwrap();
        let authorization = headers.iter().find(|(name, _)| name == "authorization");
        let shown = authorization.unwrap().1.to_str().unwrap();
        let wanted = "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd";
        assert!(shown.ends_with(wanted), "{shown}");
    }
}
