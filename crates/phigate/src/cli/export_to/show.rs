//! `phigate export-to list`: targets, their choice and their progress.

use phigate_store::{ExportInfo, ExportState, shown_address};

use serde_json::{Value, json};

use crate::cli::store::Session;
use crate::cli::table::{Table, print_json};

/// The targets of the account and their progress.
async fn targets(session: &Session) -> anyhow::Result<Vec<(ExportInfo, ExportState)>> {
    let account = session.account().await?;
    let exports = &session.vault.exports;
    let mut targets = Vec::new();
    for info in exports.list(&account.id).await? {
        let state = exports.state(&account.id, &info.name).await?;
        targets.push((info, state));
    }
    Ok(targets)
}

/// The targets as JSON objects.
pub(crate) async fn rows(session: &Session) -> anyhow::Result<Vec<Value>> {
    let row = |(info, state): &(ExportInfo, ExportState)| {
        json!({
            "name": info.name,
            "to": shown_address(&info.config.to),
            "records": info.config.records,
            "only": info.config.only,
            "state": words(info, state),
            "lag_records": state.lag_records,
            "lag_s": state.lag_s,
        })
    };
    Ok(targets(session).await?.iter().map(row).collect())
}

pub(super) async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    if json {
        return print_json(&rows(session).await?);
    }
    let targets = targets(session).await?;
    let mut table = Table::new(&["NAME", "TO", "RECORDS", "ONLY", "STATE", "LAG"]);
    for (info, state) in &targets {
        let records: Vec<&str> = info.config.records.iter().map(|one| one.code()).collect();
        let only = info.config.only.map(|only| only.code().to_owned());
        table.row([
            info.name.clone(),
            shown_address(&info.config.to),
            records.join(","),
            only.unwrap_or_default(),
            words(info, state),
            lag(state),
        ]);
    }
    table.print("no exports yet: phigate export-to add NAME --to ADDRESS");
    Ok(())
}

/// The state of a target in words.
pub(in crate::cli) fn words(info: &ExportInfo, state: &ExportState) -> String {
    let state_now = match &state.problem {
        _ if info.is_paused => "paused".to_owned(),
        Some(problem) => format!("failing: {problem}"),
        None if state.lag_records > 0 => "behind".to_owned(),
        None => "ok".to_owned(),
    };
    match state.rejected {
        0 => state_now,
        rejected => format!("{state_now}; the receiver rejected {rejected} records"),
    }
}

fn lag(state: &ExportState) -> String {
    match state.lag_records {
        0 => "0".to_owned(),
        records => format!("{records} records, {} s", state.lag_s),
    }
}
