//! `phigate export-to add`: checks a target before it is stored.

use anyhow::{Context, bail};
use clap::Args;
use phigate_gateway::check_export;
use phigate_store::{ExportConfig, StoreError};
use phigate_types::{ExportOnly, ExportRecord};

use super::name;
use crate::cli::store::Session;

/// Longest lock of an object, in years.
const LOCK_YEARS_MAX: u32 = 100;

#[derive(Args)]
pub(in crate::cli) struct Add {
    /// A name for the target
    #[arg(value_parser = name)]
    name: String,
    /// Address: syslog+tls://HOST:PORT, https://…, otlp+https://…, s3://BUCKET/PREFIX or file:///…
    #[arg(long, value_name = "ADDRESS")]
    to: String,
    /// Read the secret from standard input: of a webhook, or the JSON of S3's credentials
    #[arg(long)]
    key_stdin: bool,
    /// Region of the bucket (s3) [default: us-east-1]
    #[arg(long, value_name = "R")]
    region: Option<String>,
    /// Root of the service, if it is not the cloud's (s3)
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Kinds of records, separated by commas: decision, outcome, admin, alert [default: all]
    #[arg(long, value_name = "LIST", value_parser = records)]
    records: Option<Records>,
    /// Only requests with PHI, only blocked requests, or only acts of administration
    #[arg(long, value_name = "phi|blocked|admin", value_parser = only)]
    only: Option<ExportOnly>,
    /// Send signed checkpoints as well
    #[arg(long)]
    checkpoints: bool,
    /// Lock objects against deletion for this long, such as 6y or 30d (s3, compliance mode)
    #[arg(long, value_name = "TIME", value_parser = lock_hours)]
    lock: Option<u32>,
}

/// A list as one value on the command line.
#[derive(Clone)]
struct Records(Vec<ExportRecord>);

fn records(text: &str) -> anyhow::Result<Records> {
    let mut records = Vec::new();
    for word in text.split(',').map(str::trim) {
        let known = word.parse::<ExportRecord>().ok();
        let words: Vec<&str> = ExportRecord::all().map(ExportRecord::code).collect();
        let record = known.with_context(|| format!("choose among {}", words.join(",")))?;
        if !records.contains(&record) {
            records.push(record);
        }
    }
    Ok(Records(records))
}

fn only(text: &str) -> anyhow::Result<ExportOnly> {
    let words: Vec<&str> = ExportOnly::all().map(ExportOnly::code).collect();
    let known = text.parse().ok();
    known.with_context(|| format!("choose one of {}", words.join(", ")))
}

/// Hours of a time such as 48h, 30d or 6y.
fn lock_hours(text: &str) -> anyhow::Result<u32> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let hours = match &text[number.len()..] {
        "h" => 1,
        "d" => 24,
        "y" => 24 * 365,
        _ => bail!("write a time such as 48h, 30d or 6y"),
    };
    let number: u32 = number.parse().ok().context("write a time such as 6y")?;
    let all = number.saturating_mul(hours);
    if !(1..=LOCK_YEARS_MAX * 24 * 366).contains(&all) {
        bail!("a lock lasts from 1h to {LOCK_YEARS_MAX}y");
    }
    Ok(all)
}

pub(super) async fn run(session: &Session, add: &Add) -> anyhow::Result<()> {
    let account = session.account().await?;
    let records = match &add.records {
        Some(Records(records)) => records.clone(),
        None => ExportRecord::all().collect(),
    };
    let config = ExportConfig {
        to: add.to.trim().to_owned(),
        records,
        only: add.only,
        checkpoints: add.checkpoints,
        lock_hours: add.lock,
        region: add.region.clone(),
        base_url: add.base_url.clone(),
    };
    let secret = match add.key_stdin {
        true => Some(session.secret("secret").context("--key-stdin")?),
        false => None,
    };
    let rules = session.setup_rules();
    let shown = secret.as_ref().map(phigate_store::SecretString::expose);
    check_export(&config, shown, rules.allow_private)?;
    let exports = &session.vault.exports;
    let added = exports.add(
        &account.id,
        &add.name,
        &config,
        secret.as_ref(),
        session.actor(),
    );
    match added.await {
        Err(StoreError::Conflict(_)) => bail!(
            "there is an export {} already: remove it first, or choose another name",
            add.name
        ),
        added => added?,
    }
    session.tell(format_args!(
        "{} added: it gets the records from now on; `phigate export-to test {}` reaches it",
        add.name, add.name
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_have_hours_days_or_years() {
        for (text, hours) in [("48h", 48), ("30d", 720), ("6y", 52_560)] {
            assert_eq!(lock_hours(text).unwrap(), hours, "{text}");
        }
        for text in ["", "6", "0d", "-6y", "for ever", "6w", "200y", "6 y"] {
            assert!(lock_hours(text).is_err(), "{text}");
        }
    }
}
