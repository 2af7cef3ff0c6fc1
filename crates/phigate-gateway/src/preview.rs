//! Scan of a text typed into the dashboard: findings are shown, never stored or sent.

use std::time::{Duration, Instant};

use phi_detect::Findings;
use phigate_store::Account;

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

impl Gateway {
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
