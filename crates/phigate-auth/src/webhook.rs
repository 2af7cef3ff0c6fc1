//! Signatures of webhooks.

use std::fmt::Write;

use aws_lc_rs::hmac;

/// Value of `X-Phigate-Signature`: the time in seconds since 1970, and an HMAC-SHA-256 over the time, a full stop and
/// the body.
pub fn webhook_signature(secret: &str, unix_s: i64, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut context = hmac::Context::with_key(&key);
    context.update(format!("{unix_s}.").as_bytes());
    context.update(body);
    let mut text = format!("t={unix_s},v1=");
    for byte in context.sign().as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_covers_time_and_body() {
        // printf '1700000000.{}\n' | openssl dgst -sha256 -hmac secret
        let wanted =
            "t=1700000000,v1=dc2e07c928691c3fdecbdca708e89415b4ad6f1c9ddb31cd2da8967da29cd435";
        let signed = webhook_signature("secret", 1_700_000_000, b"{}\n");
        assert_eq!(signed, wanted);
        assert_ne!(signed, webhook_signature("secret", 1_700_000_000, b"[]\n"));
        assert_ne!(signed, webhook_signature("other", 1_700_000_000, b"{}\n"));
        let later = webhook_signature("secret", 1_700_000_001, b"{}\n");
        assert_ne!(signed.split_once(",v1="), later.split_once(",v1="));
    }
}
