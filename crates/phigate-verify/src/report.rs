//! Reports that carry their signature: pages, tables and JSON documents that anyone with the public key can verify.
//!
//! A report ends with a frame around its signature: a comment of HTML, the last row of CSV, or the last member of JSON.
//! The signature covers every byte before itself, so that nothing can be added, removed or changed.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::chain::digest;

/// Length of a signature in base64.
const SIGNATURE_CHARS: usize = 88;

/// Length of a public key.
const KEY_BYTES: usize = 32;

/// Text around the signature at the end of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportFrame {
    /// Text before the signature; it is signed too.
    pub before: &'static str,
    /// Text after it, up to the end of the file.
    pub after: &'static str,
}

impl ReportFrame {
    /// The frame of an HTML report.
    pub const HTML: Self = Self {
        before: "<!-- phigate-signature ",
        after: " -->\n",
    };
    /// The frame of a CSV report.
    pub const CSV: Self = Self {
        before: "signature,",
        after: "\r\n",
    };
    /// The frame of a JSON report.
    pub const JSON: Self = Self {
        before: ",\n  \"signature\": \"",
        after: "\"\n}\n",
    };
    const ALL: [Self; 3] = [Self::HTML, Self::CSV, Self::JSON];
}

/// Reason why a file is not a report as it was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFault {
    /// The given text is not a public key.
    NoKey,
    /// The file does not end with a signature.
    Unsigned,
    /// The signature is not one of this key over this text.
    Changed,
}

impl std::fmt::Display for ReportFault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::NoKey => "not a public key: give the line that `phigate audit public-key` prints",
            Self::Unsigned => {
                "the file does not end with a signature: it is not a report of phigate, or its end was changed"
            }
            Self::Changed => {
                "the signature does not fit: the report was changed, or another installation made it"
            }
        })
    }
}

impl std::error::Error for ReportFault {}

/// The bytes that a signature of a report covers, given the report up to its signature.
pub fn report_statement(text: &[u8]) -> Vec<u8> {
    let label = b"phigate report v1";
    [&label[..], &digest(label, &[text])].concat()
}

/// Verifies a report with the public key of the installation that made it, base64.
pub fn verify_report(file: &[u8], public_key: &str) -> Result<(), ReportFault> {
    let key = STANDARD.decode(public_key).ok();
    let key = key.filter(|key| key.len() == KEY_BYTES);
    let key = key.ok_or(ReportFault::NoKey)?;
    let (text, signature) = parted(file).ok_or(ReportFault::Unsigned)?;
    let signature = STANDARD.decode(signature);
    let signature = signature.map_err(|_| ReportFault::Changed)?;
    UnparsedPublicKey::new(&ED25519, key)
        .verify(&report_statement(text), &signature)
        .map_err(|_| ReportFault::Changed)
}

/// Parts a report into the signed text and the signature.
fn parted(file: &[u8]) -> Option<(&[u8], &[u8])> {
    ReportFrame::ALL.into_iter().find_map(|frame| {
        let rest = file.strip_suffix(frame.after.as_bytes())?;
        let (text, signature) = rest.split_at_checked(rest.len().checked_sub(SIGNATURE_CHARS)?)?;
        text.ends_with(frame.before.as_bytes())
            .then_some((text, signature))
    })
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};

    use super::*;

    fn signed(frame: ReportFrame, key: &Ed25519KeyPair) -> String {
        let text = format!("a report of 7 requests\n{}", frame.before);
        let signature = key.sign(&report_statement(text.as_bytes()));
        format!("{text}{}{}", STANDARD.encode(signature), frame.after)
    }

    #[test]
    fn every_changed_byte_of_report_is_found() {
        let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let public = STANDARD.encode(key.public_key());
        for frame in ReportFrame::ALL {
            let file = signed(frame, &key).into_bytes();
            assert_eq!(verify_report(&file, &public), Ok(()));
            for at in 0..file.len() {
                let mut changed = file.clone();
                changed[at] ^= 1;
                assert!(verify_report(&changed, &public).is_err(), "byte {at}");
                assert!(verify_report(&file[..at], &public).is_err(), "cut at {at}");
            }
            let longer = [&file[..], b"\n"].concat();
            assert_eq!(verify_report(&longer, &public), Err(ReportFault::Unsigned));
        }
    }

    #[test]
    fn report_of_another_installation_is_refused() {
        let keys = [7, 8].map(|seed| Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap());
        let file = signed(ReportFrame::CSV, &keys[0]);
        let public = STANDARD.encode(keys[1].public_key());
        let verdict = verify_report(file.as_bytes(), &public);
        assert_eq!(verdict, Err(ReportFault::Changed));
    }
}
