//! Exporters with a target that does as a test says.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use async_trait::async_trait;
use phigate_store::{ExportConfig, ExportedLine};
use phigate_types::ExportRecord;

use super::*;
use crate::gateway::Gateway;
use crate::testing::gateway;

const PATIENCE: Duration = Duration::from_secs(30);

/// State of a target, shared with the test.
#[derive(Default)]
struct Receiver {
    lines: Mutex<Vec<String>>,
    is_broken: AtomicBool,
    refusals: AtomicU32,
}

struct Scripted(Arc<Receiver>);

#[async_trait]
impl Sink for Scripted {
    async fn deliver(&mut self, lines: &[ExportedLine]) -> Result<u64, Problem> {
        let refuse = |left: u32| left.checked_sub(1);
        let order = Ordering::SeqCst;
        if self.0.refusals.fetch_update(order, order, refuse).is_ok() {
            return Err(Problem::new("refused by the test"));
        }
        let text = lines.iter().map(|line| line.json.clone());
        self.0.lines.lock().unwrap().extend(text);
        Ok(0)
    }

    async fn is_open(&mut self) -> bool {
        !self.0.is_broken.swap(false, Ordering::SeqCst)
    }
}

fn kind(confirmed_after: Duration) -> &'static TargetKind {
    Box::leak(Box::new(TargetKind {
        scheme: "test://",
        secret: None,
        options: &[],
        every: Duration::from_millis(5),
        confirmed_after,
        is_apart: false,
        check: |_, _| Ok(()),
        open: |_, _, _| Err(Problem::new("opened by the test")),
    }))
}

/// Runs an exporter to a receiver until the test stops it.
async fn start(
    gateway: &Arc<Gateway>,
    account: &str,
    kind: &'static TargetKind,
) -> (
    Arc<Receiver>,
    CancellationToken,
    tokio::task::JoinHandle<()>,
) {
    let (receiver, stop) = (Arc::new(Receiver::default()), CancellationToken::new());
    let exporter = Exporter {
        label: Label {
            account: "default".to_owned(),
            target: "t".to_owned(),
        },
        kind,
        sink: Box::new(Scripted(Arc::clone(&receiver))),
        run: gateway
            .vault
            .exports
            .take(account, "t")
            .await
            .unwrap()
            .unwrap(),
        metrics: Arc::clone(&gateway.metrics),
        checkpoints: None,
        queue: VecDeque::new(),
        written: VecDeque::new(),
        failures: 0,
    };
    let task = tokio::spawn(exporter.run(stop.clone()));
    (receiver, stop, task)
}

async fn with_target() -> (Arc<Gateway>, tempfile::TempDir, String) {
    let (gateway, folder) = gateway().await;
    let account = gateway.vault.accounts.find_account(None).await.unwrap().id;
    let config = ExportConfig {
        to: "file:///nowhere".to_owned(),
        records: ExportRecord::all().collect(),
        only: None,
        checkpoints: false,
        lock_hours: None,
        region: None,
        base_url: None,
    };
    let added = gateway
        .vault
        .exports
        .add(&account, "t", &config, None, "test");
    added.await.unwrap();
    (gateway, folder, account)
}

async fn act(gateway: &Gateway, account: &str) {
    let exports = &gateway.vault.exports;
    exports
        .record_test(account, "t", true, "test")
        .await
        .unwrap();
}

/// Waits for this many lines.
async fn lines(receiver: &Receiver, count: usize) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = receiver.lines.lock().unwrap().clone();
        if found.len() >= count {
            return found;
        }
        assert!(
            Instant::now() < until,
            "{count} lines are wanted: {found:?}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn broken_connection_repeats_unconfirmed_lines() {
    let (gateway, _folder, account) = with_target().await;
    let kind = kind(Duration::from_secs(3_600));
    let (receiver, stop, task) = start(&gateway, &account, kind).await;
    // The first line of the chain, the act of adding, one more.
    act(&gateway, &account).await;
    let before = lines(&receiver, 3).await;
    receiver.is_broken.store(true, Ordering::SeqCst);
    let after = lines(&receiver, 6).await;
    assert_eq!(after[3..6], before[..3]);
    stop.cancel();
    task.await.unwrap();
    // The orderly end confirmed everything.
    let (receiver, stop, task) = start(&gateway, &account, kind).await;
    act(&gateway, &account).await;
    assert_eq!(lines(&receiver, 1).await.len(), 1);
    stop.cancel();
    task.await.unwrap();
}

#[tokio::test]
async fn refused_lines_come_again_in_order() {
    let (gateway, _folder, account) = with_target().await;
    let (receiver, stop, task) = start(&gateway, &account, kind(Duration::ZERO)).await;
    lines(&receiver, 2).await;
    receiver.refusals.store(2, Ordering::SeqCst);
    act(&gateway, &account).await;
    act(&gateway, &account).await;
    let found = lines(&receiver, 4).await;
    let seq = |line: &String| {
        let (_, rest) = line.rsplit_once("\"seq\":").unwrap();
        rest.split(',').next().unwrap().parse::<i64>().unwrap()
    };
    assert!(found[1..].iter().map(seq).is_sorted(), "{found:?}");
    assert_eq!(receiver.refusals.load(Ordering::SeqCst), 0);
    stop.cancel();
    task.await.unwrap();
}

#[tokio::test]
async fn paused_target_receives_nothing_more() {
    let (gateway, _folder, account) = with_target().await;
    let (receiver, _stop, task) = start(&gateway, &account, kind(Duration::ZERO)).await;
    let before = lines(&receiver, 2).await.len();
    let exports = &gateway.vault.exports;
    exports.pause(&account, "t", true, "test").await.unwrap();
    act(&gateway, &account).await;
    // The exporter ends by itself when it finds the change.
    tokio::time::timeout(PATIENCE, task).await.unwrap().unwrap();
    assert_eq!(receiver.lines.lock().unwrap().len(), before);
}
