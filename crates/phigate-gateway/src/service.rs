//! The detector as a service: requests are admitted, read, scanned and recorded like all others, and never forwarded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use phigate_core::protect::{Policy, Scanner};
use phigate_core::service::{Answer, Answered, Refused, ServiceContext};
use phigate_core::text::PhiText;

use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::gateway::Gateway;
use crate::open::{Call, Open, Received};
use crate::scan_job::{ScanJob, is_long};
use crate::stopped::Stopped;

impl Gateway {
    /// Answers a question about texts of the caller's own. The answer is given once it is recorded.
    pub async fn serve(
        self: &Arc<Self>,
        call: Call,
        service: impl FnOnce(&ServiceContext<'_>, Vec<u8>) -> Answered + Send + 'static,
    ) -> Response {
        match self.attend(call, service).await {
            Ok(response) => response,
            Err(stopped) => stopped.into_response(),
        }
    }

    async fn attend(
        self: &Arc<Self>,
        call: Call,
        service: impl FnOnce(&ServiceContext<'_>, Vec<u8>) -> Answered + Send + 'static,
    ) -> Result<Response, Stopped> {
        let open = Open::admit(self, call).await?;
        let received = open.read().await?;
        let mut facts = RequestFacts::of_body(received.body.len());
        let answered = self.ask(&received, service).await;
        let answered = answered.and_then(|answered| noted(&mut facts, answered));
        Ok(match answered {
            Ok(body) => received.record.scanned(facts, json(body)).await,
            Err(error) => received.record.refuse(facts, error).await,
        })
    }

    /// Runs the service on the thread and at the time that the scan job chooses.
    async fn ask(
        self: &Arc<Self>,
        received: &Received,
        service: impl FnOnce(&ServiceContext<'_>, Vec<u8>) -> Answered + Send + 'static,
    ) -> Result<(Answered, Duration), GatewayError> {
        let account = &received.record.admission.account;
        let kept = (received.permits.clone(), received.record.permit.clone());
        let (gateway, policy) = (Arc::clone(self), received.record.admission.policy.clone());
        let body = received.body.clone();
        let work = move |scanner: &Scanner| {
            let started = Instant::now();
            let answered = service(&gateway.context(policy, scanner), body.into());
            gateway.metrics.scanned(started.elapsed());
            (answered, started.elapsed())
        };
        let job = ScanJob {
            gateway: self,
            account: &account.id,
            key: &received.record.admission.key_id,
            scanner: self.scanners.of(account)?,
            is_long: is_long(&received.body),
        };
        job.run(kept, work).await
    }

    fn context<'d>(&self, policy: Policy, scanner: &'d Scanner) -> ServiceContext<'d> {
        ServiceContext {
            scanner,
            policy,
            bounds: self.request_limits().json,
        }
    }
}

/// Notes the findings, and returns the body of the answer.
fn noted(
    facts: &mut RequestFacts,
    (answered, took): (Answered, Duration),
) -> Result<PhiText, GatewayError> {
    match answered {
        Ok(Answer { body, report }) => {
            facts.set_report(report, took);
            Ok(body)
        }
        Err(Refused { error, report }) => {
            if let Some(report) = report {
                facts.set_report(*report, took);
            }
            Err(error.map_or(GatewayError::DetectorUnavailable, GatewayError::Request))
        }
    }
}

fn json(body: PhiText) -> Response {
    let mut response = Response::new(Body::from(Bytes::from(body.into_exposed())));
    *response.status_mut() = StatusCode::OK;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use phigate_core::service;
    use phigate_store::Account;

    use super::*;
    use crate::open::{CallerMetadata, Permits};
    use crate::testing;

    /// A request of an account with this body.
    fn received(gateway: &Arc<Gateway>, account: &Arc<Account>, body: String) -> Received {
        Received {
            record: testing::record(gateway, account),
            body: body.into(),
            said: CallerMetadata::default(),
            permits: Permits::NONE,
        }
    }

    #[tokio::test]
    async fn the_accounts_own_detection_settings_hold() {
        let (gateway, _folder) = testing::gateway().await;
        let plain = testing::account(&gateway, "default").await;
        let mut own = Account::clone(&plain);
        own.id = "another".into();
        own.settings.detection.mrn_formats = vec!["KH-999999".into()];
        own.settings.detection.thresholds.insert("npi".into(), 0.5);
        let body = r#"{"text":"NPI 1234567893, seen as KH-204811"}"#;
        for (account, codes) in [(plain, vec![]), (Arc::new(own), vec!["mrn", "npi"])] {
            let received = received(&gateway, &account, body.into());
            let answer = gateway.ask(&received, service::scan).await;
            let report = answer.unwrap().0.unwrap().report;
            let found: Vec<_> = report.kinds().map(phi_detect::PhiKind::code).collect();
            assert_eq!(found, codes);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_long_scan_waits_for_turn() {
        let (gateway, _folder) = testing::gateway().await;
        let account = testing::account(&gateway, "default").await;
        let processors = std::thread::available_parallelism().unwrap().get();
        let mut taken = Vec::new();
        for _ in 0..processors {
            taken.push(gateway.long_scans.enter("another").await.unwrap());
        }
        let short = received(&gateway, &account, r#"{"text":"SSN 536-22-8741"}"#.into());
        assert!(gateway.ask(&short, service::scan).await.unwrap().0.is_ok());
        let text = "Nothing else happens today. ".repeat(4_000);
        let long = received(&gateway, &account, format!(r#"{{"text":"{text}"}}"#));
        let mut waiting = Box::pin(gateway.ask(&long, service::scan));
        let early = tokio::time::timeout(Duration::from_millis(200), &mut waiting).await;
        assert!(early.is_err(), "it did not wait");
        drop(taken);
        assert!(waiting.await.unwrap().0.is_ok());
    }
}
