//! Requests from the dashboard are like any other; the state of a request stays small.

use axum::http::StatusCode;
use phigate_store::Record;
use phigate_types::Mode;

use super::*;
use crate::testing;

#[tokio::test]
async fn dashboard_request_is_recorded_under_answered_id() {
    let (gateway, _folder) = testing::gateway().await;
    let account = testing::account(&gateway, "default").await;
    let accounts = &gateway.vault.accounts;
    let set = accounts.set_mode(&account.id, Mode::BLOCK, "test");
    set.await.unwrap();
    let account = accounts.account(&account.id).await.unwrap();
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"SSN 536-22-8741"}]}"#;
    let answered = gateway.answer_for_dashboard(Arc::clone(&account), Bytes::from(body));
    let (response, _) = answered.await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    let id = response.headers()[REQUEST_ID].to_str().unwrap();
    let trail = &gateway.vault.trail;
    let records = trail.audit_show(&account.id, id.parse().unwrap()).await;
    let records = records.unwrap();
    let [Record::Decision(_), Record::Outcome(outcome)] = &records[..] else {
        panic!("{records:?}")
    };
    assert_eq!(outcome.status, Some(403));
}

/// State that is kept from step to step is copied and occupies processor caches; rare parts are boxed.
#[tokio::test]
async fn a_request_on_its_way_is_small() {
    const BYTES_MAX: usize = 6 * 1024;
    let (gateway, _folder) = testing::gateway().await;
    let account = testing::account(&gateway, "default").await;
    let answered = gateway.answer_for_dashboard(account, Bytes::new());
    let bytes = size_of_val(&answered);
    assert!(bytes <= BYTES_MAX, "it takes {bytes} bytes");
}
