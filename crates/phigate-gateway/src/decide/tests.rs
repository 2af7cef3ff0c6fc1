//! Long scans wait for their turn, stop when nobody waits for them, and hold up no other account.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use super::*;
use crate::testing;

#[tokio::test]
async fn work_whose_caller_has_left_keeps_its_place_until_it_ends() {
    let place = Arc::new(());
    let (end, is_ended) = mpsc::channel::<()>();
    let work = on_its_own_thread(Arc::clone(&place), move || is_ended.recv());
    let left = tokio::time::timeout(Duration::from_millis(50), work).await;
    assert!(left.is_err(), "the work ended too soon");
    assert_eq!(Arc::strong_count(&place), 2, "the place was given back");
    end.send(()).unwrap();
    while Arc::strong_count(&place) > 1 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn long_scans_wait_for_one_another_and_short_ones_for_nobody() {
    let (gateway, _folder) = testing::gateway().await;
    let account = testing::account(&gateway, "default").await;
    let record = testing::record(&gateway, &account);
    let patience = Duration::from_millis(200);
    let decide = async |text: &str| {
        let body = Bytes::from(text.to_owned());
        let decided = decide(&record, body, Said::default(), &Permits::NONE);
        tokio::time::timeout(patience, decided).await.is_ok()
    };
    let all = std::thread::available_parallelism().unwrap().get();
    let mut taken = Vec::new();
    for _ in 0..all {
        taken.push(gateway.long_scans.enter(&account.id).await.unwrap());
    }
    for (text, is_long) in [
        (" ".repeat(100), false),
        (" ".repeat(INLINE_COST_MAX), false),
        (" ".repeat(INLINE_COST_MAX + 1), true),
        ("1 ".repeat(1024), false),
        ("1 ".repeat(16 * 1024), true),
    ] {
        let bytes = text.len();
        assert_eq!(decide(&text).await, !is_long, "{bytes} bytes");
    }
    drop(taken);
    assert!(decide(&" ".repeat(INLINE_COST_MAX + 1)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_with_much_to_scan_does_not_hold_up_another() {
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
                Said::default(),
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
    let (_, verdict) = decide(&record, digits(99, 10), Said::default(), &Permits::NONE).await;
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

#[tokio::test]
async fn a_scan_for_nobody_is_given_up() {
    let (gateway, _folder) = testing::gateway().await;
    let account = testing::account(&gateway, "default").await;
    let left = CancellationToken::new();
    let mut decider = Decider::new(&testing::record(&gateway, &account), Said::default()).unwrap();
    decider.left = Some(left.clone());
    let body = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi."}]}"#;
    let is_complete = || {
        let request = Request::read(CHAT.form, body.to_vec(), &gateway.request_limits()).unwrap();
        let scanned = protect::scan(&decider.scanner_with_deadline(), request);
        scanned.report().is_complete()
    };
    assert!(is_complete());
    left.cancel();
    assert!(!is_complete());
}
