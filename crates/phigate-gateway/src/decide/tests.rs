//! Long scans wait for their turn, and hold up no other account.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::testing;

#[tokio::test]
async fn long_scans_queue_and_short_scans_pass() {
    let (gateway, _folder) = testing::gateway().await;
    let account = testing::account(&gateway, "default").await;
    let record = testing::record(&gateway, &account);
    let patience = Duration::from_millis(200);
    let decide = async |text: &str| {
        let body = Bytes::from(text.to_owned());
        let decided = decide(&record, body, CallerMetadata::default(), &Permits::NONE);
        tokio::time::timeout(patience, decided).await.is_ok()
    };
    let all = std::thread::available_parallelism().unwrap().get();
    let mut taken = Vec::new();
    for _ in 0..all {
        taken.push(gateway.long_scans.enter(&account.id).await.unwrap());
    }
    let (short, long) = (" ".repeat(100), "1 ".repeat(16 * 1024));
    assert!(decide(&short).await);
    assert!(!decide(&long).await, "it did not wait");
    drop(taken);
    assert!(decide(&long).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn busy_account_does_not_delay_another() {
    let (gateway, _folder) = testing::gateway().await;
    let busy = testing::account(&gateway, "default").await;
    let other = testing::account(&gateway, "elsewhere").await;
    let finished = Arc::new(AtomicUsize::new(0));
    let mut much = Vec::new();
    for number in 0..16 {
        let record = testing::record(&gateway, &busy);
        let finished = Arc::clone(&finished);
        much.push(tokio::spawn(async move {
            let _ = decide(
                &record,
                digits(number, 200),
                CallerMetadata::default(),
                &Permits::NONE,
            )
            .await;
            finished.fetch_add(1, Ordering::SeqCst);
        }));
    }
    while !gateway.long_scans.is_full() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let record = testing::record(&gateway, &other);
    let (_, verdict) = decide(
        &record,
        digits(99, 10),
        CallerMetadata::default(),
        &Permits::NONE,
    )
    .await;
    assert!(verdict.is_ok(), "it was not scanned");
    let before_it = finished.load(Ordering::SeqCst);
    let processors = std::thread::available_parallelism().unwrap().get();
    assert!(before_it <= processors, "{before_it} of 16 came first");
    for one in much {
        one.abort();
    }
}

/// A request with this many messages of the slowest text there is.
fn digits(number: usize, messages: usize) -> Bytes {
    let message = |index: usize| {
        let text = format!("{number} {index} {}", "1 ".repeat(2048));
        serde_json::json!({ "role": "user", "content": text })
    };
    let messages: Vec<_> = (0..messages).map(message).collect();
    let body = serde_json::json!({ "model": "gpt-4o", "messages": messages });
    body.to_string().into()
}
