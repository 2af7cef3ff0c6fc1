//! Watching for what a person should look at: raises alerts, counts them, and verifies the trail every night.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use phigate_store::{AccountInfo, Checkpoint, INSTALLATION, NewAlert, Result, read_checkpoints};
use phigate_types::{AlertCode, ErrorCode, Mode};

use crate::app::App;

/// Interval of looking.
const EVERY: Duration = Duration::from_secs(5);

/// Name of the person in the records of the nightly verification.
const NIGHTLY: &str = "system";

/// Memory of the watch between two looks.
#[derive(Default)]
struct Seen {
    /// Keys that sent PHI before, by account.
    keys: BTreeSet<(String, String)>,
    /// Time of the latest alert that was counted, by account, cause and subject.
    alerts: BTreeMap<(String, AlertCode, String), Timestamp>,
    /// Accounts whose requests could not be recorded.
    troubled: BTreeSet<String>,
}

/// Looks at every account again and again, until the gateway stops.
pub(crate) async fn watch(app: Arc<App>) {
    let mut seen = Seen::default();
    while !app.drain.is_draining() {
        // While the store cannot be used, the next look tries again.
        if let Err(error) = look(&app, &mut seen).await {
            tracing::debug!("alerts were not looked for: {error}");
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = app.drain.started() => {}
        }
    }
}

async fn look(app: &App, seen: &mut Seen) -> Result<()> {
    seen.troubled.extend(app.gateway.take_unrecorded());
    let accounts = app.vault.accounts.accounts().await?;
    for account in &accounts {
        if seen.troubled.contains(&account.id) {
            let new = NewAlert::new(AlertCode::StoreTrouble, ErrorCode::AuditUnavailable.code());
            app.vault.alerts.raise(&account.id, &new).await?;
            seen.troubled.remove(&account.id);
        }
        requests(app, account, seen).await?;
        agreements(app, account).await?;
        exports(app, account).await?;
        count(app, &account.id, seen).await?;
    }
    count(app, INSTALLATION, seen).await?;
    nightly(app, &accounts).await
}

/// PHI from a key that never sent any, and a large share of blocked requests.
async fn requests(app: &App, account: &AccountInfo, seen: &mut Seen) -> Result<()> {
    let alerts = &app.vault.alerts;
    let recent = alerts
        .recent(&account.id, Mode::BLOCK.action.code())
        .await?;
    for key in recent.keys_with_phi {
        let place = (account.id.clone(), key);
        if seen.keys.contains(&place) {
            continue;
        }
        if alerts.is_new_with_phi(&account.id, &place.1).await? {
            let new = NewAlert::new(AlertCode::PhiNewKey, &place.1);
            alerts.raise_once(&account.id, &new).await?;
        }
        seen.keys.insert(place);
    }
    let settings = &app.config.alerts;
    let is_large = recent.blocked * 100 >= recent.requests * settings.blocked_percent;
    if recent.requests >= settings.blocked_requests && recent.blocked > 0 && is_large {
        let new = NewAlert::new(AlertCode::BlockedShare, "requests")
            .detail(Mode::BLOCK.action.code(), &recent.blocked)
            .detail("requests", &recent.requests);
        alerts.raise(&account.id, &new).await?;
    }
    Ok(())
}

/// Agreements that end soon, or have ended.
async fn agreements(app: &App, account: &AccountInfo) -> Result<()> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let most = i64::try_from(app.config.alerts.agreement_days).unwrap_or(i64::MAX);
    let snapshot = app.vault.access.account(&account.id).await?;
    for (name, provider) in &snapshot.providers {
        let Some(last) = provider.config.agreement_expires else {
            continue;
        };
        let left = today
            .until(last)
            .map_or(0, |span| i64::from(span.get_days()));
        if left <= most {
            let new = NewAlert::new(AlertCode::AgreementEnds, name)
                .detail("last_day", &last)
                .detail("days_left", &left);
            app.vault.alerts.raise(&account.id, &new).await?;
        }
    }
    Ok(())
}

/// Targets of exports that lack records for long.
async fn exports(app: &App, account: &AccountInfo) -> Result<()> {
    let exports = &app.vault.exports;
    for info in exports.list(&account.id).await? {
        let state = exports.state(&account.id, &info.name).await?;
        if !info.is_paused && state.lag_s >= app.config.alerts.export_behind_s {
            let new = NewAlert::new(AlertCode::ExportBehind, &info.name)
                .detail("records", &state.lag_records)
                .detail("seconds", &state.lag_s);
            app.vault.alerts.raise(&account.id, &new).await?;
        }
    }
    Ok(())
}

/// Counts alerts that are new since this process started, whichever process raised them.
async fn count(app: &App, account_id: &str, seen: &mut Seen) -> Result<()> {
    for state in app.vault.alerts.list(account_id).await? {
        let (time, code) = (state.alert.time, state.alert.alert);
        let place = (
            account_id.to_owned(),
            code,
            state.alert.subject.unwrap_or_default(),
        );
        let before = seen.alerts.insert(place, time).unwrap_or(app.started);
        if time > before {
            app.metrics.alerts_raised(code, 1);
        }
    }
    Ok(())
}

/// Verifies every account and the installation once a night, on one of the replicas.
async fn nightly(app: &App, accounts: &[AccountInfo]) -> Result<()> {
    let now = Timestamp::now().to_zoned(TimeZone::UTC);
    let hour = u64::try_from(now.hour()).unwrap_or_default();
    let is_due = hour >= app.config.alerts.verify_at_hour;
    if !is_due || !app.vault.verifications.claim(now.date()).await? {
        return Ok(());
    }
    let outside = kept_checkpoints(app).await;
    let ids = accounts.iter().map(|account| account.id.as_str());
    for id in ids.chain([INSTALLATION]) {
        if app.drain.is_draining() {
            return Ok(());
        }
        let began = Instant::now();
        let verified = app.vault.verifications.run(id, &outside, NIGHTLY).await?;
        let (seconds, records) = (began.elapsed().as_secs(), verified.records);
        match verified.fault {
            None => tracing::info!("the trail is intact: {records} records in {seconds} s"),
            Some(fault) => tracing::error!("the trail is NOT intact: {fault}"),
        }
    }
    Ok(())
}

/// Checkpoints of the files that this server writes.
async fn kept_checkpoints(app: &App) -> Vec<Checkpoint> {
    let files = app.config.checkpoint.files.clone();
    let read = tokio::task::spawn_blocking(move || {
        let files = files.iter().filter(|file| file.exists());
        files
            .filter_map(|file| read_checkpoints(file).ok())
            .flatten()
            .collect()
    });
    read.await.unwrap_or_default()
}
