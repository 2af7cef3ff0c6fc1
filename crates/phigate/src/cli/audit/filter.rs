//! The options that select records for a list or an export.

use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use phi_detect::PhiKind;
use phigate_core::doors::{DOORS, Door};
use phigate_store::Filter;
use phigate_types::{Action, ErrorCode, Mode};

use crate::cli::store::Session;
use crate::cli::words::known;

#[derive(Args)]
pub(super) struct FilterArgs {
    /// The records of the installation itself instead of an account's: bad keys of unknown accounts, the master key,
    /// backups
    #[arg(long, conflicts_with_all = ["kind", "action", "mode", "key", "door", "model", "provider", "error"])]
    pub(super) installation: bool,
    /// Only requests with this type of PHI
    #[arg(long = "type", value_name = "TYPE", value_parser = kind_code)]
    kind: Option<String>,
    /// Only requests with this action
    #[arg(long, value_parser = known(Action::all(), Action::code))]
    action: Option<Action>,
    /// Only requests under this mode
    #[arg(long, value_parser = known(Mode::all(), Mode::code))]
    mode: Option<Mode>,
    /// Only requests with this API key
    #[arg(long, value_name = "ID")]
    key: Option<String>,
    /// Only requests to this API
    #[arg(long, value_parser = known(DOORS.iter().copied(), |door: &'static Door| door.id()))]
    door: Option<&'static Door>,
    /// Only requests for this model; with a * at its end, for models with this prefix
    #[arg(long)]
    model: Option<String>,
    /// Only requests to this provider, fallbacks included
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Only requests that ended with this error
    #[arg(long, value_name = "CODE", value_parser = known(ErrorCode::all(), ErrorCode::code))]
    error: Option<ErrorCode>,
    /// From this time on: 2026-01-31T08:00:00Z or 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Timestamp>,
}

/// The code of a kind: of the table, or of one that an account defines or defined.
fn kind_code(text: &str) -> anyhow::Result<String> {
    let code = text.to_ascii_lowercase();
    let is_known = PhiKind::from_code(&code).is_some() || code.starts_with(PhiKind::OWN_PREFIX);
    let codes: Vec<&str> = PhiKind::all().map(PhiKind::code).collect();
    anyhow::ensure!(
        is_known,
        "there is no such type; there are {} and those of your recognizers",
        codes.join(", ")
    );
    Ok(code)
}

/// A time as it may be given.
pub(in crate::cli) fn time(text: &str) -> anyhow::Result<Timestamp> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let date: jiff::civil::Date = text
        .parse()
        .context("write a time such as 2026-01-31T08:00:00Z or a date")?;
    Ok(date.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp())
}

impl FilterArgs {
    /// The filter. A key that the account never had is refused: an empty result would look like an unused key.
    pub(super) async fn filter(self, session: &Session, account: &str) -> anyhow::Result<Filter> {
        if let Some(wanted) = &self.key {
            let keys = session.vault.access.api_keys(account).await?;
            anyhow::ensure!(
                keys.iter().any(|key| key.id == *wanted),
                "the account has no API key with this id; `phigate key list` shows them"
            );
        }
        let begins = self
            .model
            .as_deref()
            .and_then(|model| model.strip_suffix('*'));
        let model_prefix = begins.map(str::to_owned);
        Ok(Filter {
            since: self.since,
            until: self.until,
            phi_type: self.kind,
            action: self.action,
            mode: self.mode,
            key_id: self.key,
            model: self.model.filter(|_| model_prefix.is_none()),
            model_prefix,
            provider: self.provider,
            error: self.error,
            door: self.door.map(|door| door.id().to_owned()),
            ..Filter::default()
        })
    }
}
