//! Scan of a text typed into the dashboard, or of a document: findings are shown, never stored or sent.

use std::time::{Duration, Instant};

use phi_detect::{Finding, Findings};
use phigate_core::protect::{Places, Scanner};
use phigate_core::text::PhiText;
use phigate_store::Account;
use phigate_types::{DocumentText, NoText};

use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::scan_job::{is_long, on_its_own_thread};

/// Findings in a text, and the duration of the scan.
#[derive(Debug)]
pub struct Preview {
    /// Findings in the text.
    pub findings: Findings,
    /// Duration of the scan.
    pub took: Duration,
}

/// Finding in a document.
pub struct DocumentFinding {
    /// Finding, with its range in a passage of the document.
    pub finding: Finding,
    /// Place in the document, such as `#page=3`.
    pub place: String,
    /// Value that was found.
    pub value: PhiText,
}

impl Gateway {
    /// Reads a document and scans it with the account's detector.
    pub async fn preview_document(
        &self,
        account: &Account,
        bytes: Vec<u8>,
    ) -> Result<Result<Vec<DocumentFinding>, NoText>, GatewayError> {
        let scanner = self.scanners.of(account)?;
        let text = self.readers.submit(&account.id, bytes).await;
        let text = match text.unwrap_or(Err(NoText::NoReader)) {
            Ok(text) => text,
            Err(reason) => return Ok(Err(reason)),
        };
        let place = self.long_scans.enter(&account.id).await?;
        let found = on_its_own_thread(place, move || find(&scanner, &text));
        let found = found.await.ok_or(GatewayError::DetectorUnavailable)?;
        Ok(Ok(found))
    }

    /// Scans a text with the account's detector. A long text waits for its turn on a separate thread, like a request's.
    pub async fn preview(&self, account: &Account, text: &str) -> Result<Preview, GatewayError> {
        let scanner = self.scanners.of(account)?;
        let scan = move |text: &str| {
            let started = Instant::now();
            let findings = scanner.scan_text(None, text);
            Preview {
                findings,
                took: started.elapsed(),
            }
        };
        if !is_long(text.as_bytes()) {
            return Ok(scan(text));
        }
        let place = self.long_scans.enter(&account.id).await?;
        let text = text.to_owned();
        on_its_own_thread(place, move || scan(&text))
            .await
            .ok_or(GatewayError::DetectorUnavailable)
    }
}

/// Returns the findings of a document, passage by passage.
fn find(scanner: &Scanner, text: &DocumentText) -> Vec<DocumentFinding> {
    let is_clean = |name: &str| scanner.scan_text(None, name).is_empty();
    let mut places = Places::new(text, &is_clean);
    let mut all = Vec::new();
    for passage in &text.passages {
        let findings = scanner.scan_text(None, &passage.text);
        let spans = findings.iter().map(|finding| finding.span.clone());
        let positions = places.positions(passage, spans);
        let found = findings.iter().zip(positions).map(|(finding, position)| {
            let value = passage.text.get(finding.span.clone());
            DocumentFinding {
                finding: finding.clone(),
                place: position.path,
                value: PhiText::new(value.unwrap_or_default()),
            }
        });
        all.extend(found);
    }
    all
}
