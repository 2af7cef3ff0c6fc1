//! Background tasks of a server: deleting expired records, copying checkpoints elsewhere, counting the replicas that
//! share limits, recording refused requests, and measuring the store and the ends of certificates and agreements.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use phigate_gateway::AgreementEnd;
use phigate_store::{Checkpoint, append_checkpoints, read_checkpoints};

use crate::app::App;
use crate::config::CheckpointSettings;
use crate::watch;

/// Interval of retention.
const RETENTION_EVERY: Duration = Duration::from_secs(600);

/// Interval of counting replicas.
const REPLICAS_EVERY: Duration = Duration::from_secs(5);

/// Interval of looking for finished minutes of refusals.
const REFUSALS_EVERY: Duration = Duration::from_secs(5);

/// Interval of checking the store.
const STORE_EVERY: Duration = Duration::from_secs(2);

/// Interval of checking the ends of certificates and agreements.
const ENDS_EVERY: Duration = Duration::from_secs(60);

/// Timeout of the operator's program.
const COMMAND_TIME: Duration = Duration::from_secs(30);

/// The pause before a task that panicked starts again.
const AFTER_A_PANIC: Duration = Duration::from_secs(10);

/// The pause between two batches, so that requests come first.
const BETWEEN_BATCHES: Duration = Duration::from_millis(200);

/// Starts the work. It ends with the drain.
pub(crate) fn start(app: &Arc<App>) {
    keep_up("retention", app, keep_retention);
    keep_up("checkpoints", app, keep_checkpoints);
    keep_up("replicas", app, count_replicas);
    keep_up("counts of refusals", app, record_refusals);
    keep_up("watch over the store", app, watch_store);
    keep_up("measuring of ends", app, measure_ends);
    keep_up("watch for alerts", app, watch::watch);
}

/// Runs a task in the background, and again should it panic: without it records would be kept forever, or checkpoints
/// be missing, with nothing but a line in the log to show for it.
fn keep_up<F>(name: &'static str, app: &Arc<App>, work: fn(Arc<App>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let app = Arc::clone(app);
    tokio::spawn(async move {
        loop {
            match tokio::spawn(work(Arc::clone(&app))).await {
                Err(error) if error.is_panic() && !app.drain.is_draining() => {
                    tracing::error!("{name} failed and starts again");
                    tokio::time::sleep(AFTER_A_PANIC).await;
                }
                _ => return,
            }
        }
    });
}

/// Limits per key are shared between the processes on one store.
async fn count_replicas(app: Arc<App>) {
    while !app.drain.is_draining() {
        if let Ok(replicas) = app.vault.servers().await {
            app.gateway.share_key_limits(replicas);
        }
        tokio::time::sleep(REPLICAS_EVERY).await;
    }
}

/// Records refusals of finished minutes. Those of the last minute are recorded when the gateway stops.
async fn record_refusals(app: Arc<App>) {
    while !app.drain.is_draining() {
        app.gateway.record_refusals(false).await;
        tokio::time::sleep(REFUSALS_EVERY).await;
    }
}

/// Notes whether the store can be used, as `/readyz` sees it, and logs each change once.
async fn watch_store(app: Arc<App>) {
    let mut down_since = None;
    while !app.drain.is_draining() {
        let tried = app.vault.health.ping().await;
        app.metrics.store_is_up(tried.is_ok());
        match (tried, down_since) {
            (Err(error), None) => {
                tracing::error!("requests are refused until the store can be used again: {error}");
                down_since = Some(Instant::now());
            }
            (Ok(()), Some(since)) => {
                let seconds = Instant::now().duration_since(since).as_secs();
                tracing::info!("the store can be used again, after {seconds} s");
                down_since = None;
            }
            _ => {}
        }
        tokio::time::sleep(STORE_EVERY).await;
    }
}

/// Measures how long the certificate and the agreements with providers are valid.
async fn measure_ends(app: Arc<App>) {
    while !app.drain.is_draining() {
        let tls = app.config.tls.clone();
        let ends_at = tokio::task::spawn_blocking(move || tls?.ends_at());
        if let Ok(Some(end)) = ends_at.await {
            let left = end.cast_signed() - Timestamp::now().as_second();
            app.metrics.certificate_ends(left.div_euclid(24 * 3600));
        }
        // While the store cannot be used, the last measurement stays.
        if let Ok(ends) = agreement_ends(&app).await {
            app.metrics.agreements_end(ends);
        }
        tokio::time::sleep(ENDS_EVERY).await;
    }
}

async fn agreement_ends(app: &App) -> phigate_store::Result<Vec<AgreementEnd>> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let mut ends = Vec::new();
    for account in app.vault.accounts.accounts().await? {
        let account = app.vault.access.account(&account.id).await?;
        for (provider, known) in &account.providers {
            let Some(last) = known.config.agreement_expires else {
                continue;
            };
            let days_left = today
                .until(last)
                .map_or(0, |span| i64::from(span.get_days()));
            ends.push(AgreementEnd {
                account: account.name.clone(),
                provider: provider.clone(),
                days_left,
            });
        }
    }
    Ok(ends)
}

async fn keep_retention(app: Arc<App>) {
    let keep = async {
        loop {
            if let Err(error) = app.vault.expiry.retain_all(BETWEEN_BATCHES).await {
                tracing::warn!("retention stopped early: {error}");
            }
            tokio::time::sleep(RETENTION_EVERY).await;
        }
    };
    tokio::select! {
        () = keep => {}
        () = app.drain.started() => {}
    }
}

/// Copies the signed ends of all chains to the configured places, and once more when the gateway stops.
async fn keep_checkpoints(app: Arc<App>) {
    let settings = &app.config.checkpoint;
    if settings.files.is_empty() && settings.command.is_none() {
        return;
    }
    compare_with_files(&app).await;
    let mut last = Vec::new();
    loop {
        let is_stopping = tokio::select! {
            () = tokio::time::sleep(settings.every) => false,
            () = app.drain.started() => true,
        };
        match app.vault.trail.checkpoints().await {
            Ok(now) if ends(&now) != ends(&last) => {
                copy(settings, &now).await;
                last = now;
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("no checkpoint was made: {error}"),
        }
        if is_stopping {
            return;
        }
    }
}

/// Says so when the store holds less than this gateway's own copies of its checkpoints.
async fn compare_with_files(app: &App) {
    for file in app.config.checkpoint.files.clone() {
        if !file.exists() {
            continue;
        }
        let name = file.display().to_string();
        let read = tokio::task::spawn_blocking(move || read_checkpoints(&file)).await;
        let compared = match read {
            Ok(Ok(kept)) => app.vault.trail.compare_checkpoints(&kept).await,
            Ok(Err(error)) => Err(error),
            Err(_) => continue,
        };
        match compared {
            Ok(None) => {}
            Ok(Some(fault)) => tracing::error!(
                "the store is older than the checkpoints in {name}, or was cut: {fault}; unless a backup was restored on purpose, find out who had access to it"
            ),
            Err(error) => tracing::error!("the checkpoints in {name} were not compared: {error}"),
        }
    }
}

/// Ends of the chains in checkpoints, for comparison regardless of the time they were made.
fn ends(checkpoints: &[Checkpoint]) -> Vec<(&str, i64, i64)> {
    checkpoints
        .iter()
        .map(|one| (one.account.as_str(), one.lane, one.seq))
        .collect()
}

async fn copy(settings: &CheckpointSettings, checkpoints: &[Checkpoint]) {
    let (files, copied) = (settings.files.clone(), checkpoints.to_vec());
    // Files are written and synced, perhaps over a network: not on a thread that answers requests.
    let appended = tokio::task::spawn_blocking(move || {
        for file in &files {
            if let Err(error) = append_checkpoints(file, &copied) {
                tracing::error!("a copy of the checkpoint failed: {error}");
            }
        }
    });
    if appended.await.is_err() {
        tracing::error!("a copy of the checkpoint failed");
    }
    if let Some(command) = &settings.command
        && let Err(error) = hand_to(command, checkpoints).await
    {
        tracing::error!("the checkpoint command failed: {}", error.kind());
    }
}

/// Starts the operator's program with the checkpoints on its standard input, one JSON line each.
async fn hand_to(command: &str, checkpoints: &[Checkpoint]) -> std::io::Result<()> {
    let mut lines = String::new();
    for checkpoint in checkpoints {
        lines.push_str(&serde_json::to_string(checkpoint)?);
        lines.push('\n');
    }
    let command = command.to_owned();
    let run = tokio::task::spawn_blocking(move || feed(&command, lines, COMMAND_TIME));
    run.await
        .unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()))
}

fn feed(command: &str, lines: String, patience: Duration) -> std::io::Result<()> {
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read would block the writer; its exit code shows the failure.
        std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    }
    let deadline = Instant::now() + patience;
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(_) => return Err(std::io::ErrorKind::Other.into()),
            None if Instant::now() > deadline => {
                child.kill()?;
                child.wait()?;
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fed_program_gets_lines_within_time_limit() {
        let lines = "a line\n".repeat(100_000);
        let patience = Duration::from_millis(300);
        assert!(
            feed(
                "test $(wc -l) = 100000",
                lines.clone(),
                Duration::from_secs(20)
            )
            .is_ok()
        );
        assert!(feed("exit 1", lines.clone(), Duration::from_secs(20)).is_err());
        let started = Instant::now();
        let slow = feed("exec sleep 30", lines, patience).unwrap_err();
        assert_eq!(slow.kind(), std::io::ErrorKind::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
