//! `phigate policy explain`: each finding of a text, and its treatment.

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use phi_detect::CodePoints;
use phigate_core::protect::ruling;
use phigate_gateway::scanner_of;
use phigate_store::PolicyLevel;
use serde_json::{Value, json};

use super::words::policy_at;
use crate::cli::store::Session;
use crate::cli::table::Table;

/// Fields of a finding, in the order of the columns.
const COLUMNS: [&str; 8] = [
    "type",
    "start",
    "end",
    "rule",
    "score",
    "threshold",
    "action",
    "by",
];

/// Heads of the columns.
const HEADS: [&str; 8] = [
    "TYPE",
    "START",
    "END",
    "RULE",
    "SCORE",
    "THRESHOLD",
    "ACTION",
    "BY",
];

pub(super) async fn run(
    session: &Session,
    file: Option<&Path>,
    key: Option<&str>,
    as_json: bool,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    let words = accounts.policy(&account.id).await?;
    let policy = policy_at(&words, key.map_or(PolicyLevel::Account, PolicyLevel::Key))?;
    let account = accounts.account(&account.id).await?;
    let scanner = scanner_of(&account).map_err(|refusal| anyhow::anyhow!(refusal.0))?;
    let text = read(file)?;
    let mut points = CodePoints::new(&text);
    let findings = scanner.scan_text(None, &text);
    let found = findings.iter().map(|finding| {
        let ruling = ruling(&policy, finding);
        let span = points.range(&finding.span);
        json!({
            "type": finding.kind.code(),
            "start": span.start,
            "end": span.end,
            "rule": finding.rule,
            "score": finding.rounded_score(),
            "threshold": thousandths(scanner.detector().threshold(finding.kind)),
            "action": ruling.word.code(),
            "by": ruling.by.to_string(),
        })
    });
    let found: Vec<Value> = found.collect();
    if as_json {
        println!("{:#}", json!({ "findings": found }));
        return Ok(());
    }
    let mut table = Table::new(&HEADS);
    for row in &found {
        table.row(COLUMNS.map(|name| match &row[name] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }));
    }
    table.print("nothing was found");
    Ok(())
}

fn thousandths(number: f32) -> f64 {
    f64::from((number * 1000.0).round()) / 1000.0
}

fn read(file: Option<&Path>) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    match file {
        None => std::io::stdin()
            .read_to_end(&mut bytes)
            .context("cannot read standard input")?,
        Some(path) => std::fs::File::open(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .with_context(|| format!("cannot read {}", path.display()))?,
    };
    String::from_utf8(bytes)
        .ok()
        .context("the text is not UTF-8")
}
