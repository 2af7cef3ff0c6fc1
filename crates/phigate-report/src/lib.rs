//! Reports: evidence counted from the audit trail, for people outside.
//!
//! [`make`] records the request for a report, counts from the records, and gives the report as one signed file. A kind of
//! report is a file here and a row in [`ReportKind`]; a format is a file below `form/` and a row in [`ReportFormat`].
//! Reports contain no values: not of findings, and not the identifier that was asked for.

mod ask;
mod complete;
mod controls;
mod count;
mod disclosures;
mod document;
mod form;
mod incident;
mod kind;
mod monthly;
mod times;

pub use ask::{Ask, Identifier, month_of, month_range};
pub use form::ReportFormat;
pub use kind::ReportKind;

use std::path::PathBuf;

use jiff::Timestamp;
use phigate_store::{
    Access, AccountInfo, Accounts, Exports, People, Reports, StoreError, Trail, Vault,
};

use document::Document;

/// Handles of the store that reports read.
#[derive(Clone)]
pub struct Sources {
    /// Accounts and their settings.
    pub accounts: Accounts,
    /// Keys and providers.
    pub access: Access,
    /// Users.
    pub people: People,
    /// Targets of exports.
    pub exports: Exports,
    /// The records.
    pub trail: Trail,
    /// Records and signatures of reports.
    pub reports: Reports,
}

impl From<&Vault> for Sources {
    fn from(vault: &Vault) -> Self {
        Self {
            accounts: vault.accounts.clone(),
            access: vault.access.clone(),
            people: vault.people.clone(),
            exports: vault.exports.clone(),
            trail: vault.trail.clone(),
            reports: vault.reports.clone(),
        }
    }
}

/// Circumstances of a report.
pub struct Order<'a> {
    /// The account that it is about.
    pub account: &'a AccountInfo,
    /// Actor who asks for it.
    pub actor: &'a str,
    /// Reference of the actor's own, such as a case number; printed and not recorded.
    pub reference: Option<&'a str>,
    /// Time of the report.
    pub now: Timestamp,
    /// Files in which the server keeps copies of its checkpoints.
    pub checkpoint_files: &'a [PathBuf],
}

/// Reason why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The question cannot be answered.
    #[error("{0}")]
    Asked(String),
    /// The page could not be written.
    #[error("the report could not be written")]
    Written,
}

/// Makes a report, signed. The request for it is recorded first.
pub async fn make(
    sources: &Sources,
    order: &Order<'_>,
    ask: &Ask,
    format: ReportFormat,
) -> Result<String, ReportError> {
    ask.check(sources, order).await?;
    let mut details = ask.details();
    details.push(("format", format.code().to_owned()));
    let (id, kind) = (&order.account.id, ask.kind());
    let reports = &sources.reports;
    let recorded = reports.record(id, order.actor, kind.code(), &details);
    recorded.await?;
    let mut document = Document::begin(sources, order, ask).await?;
    match ask {
        Ask::Disclosures(identifier) => {
            disclosures::fill(&mut document, sources, order, identifier).await?;
        }
        Ask::Incident { .. } => incident::fill(&mut document, sources, order, ask).await?,
        Ask::Monthly { month } => monthly::fill(&mut document, sources, order, *month).await?,
        Ask::Controls => controls::fill(&mut document, sources, order).await?,
    }
    format.write(&document, sources)
}
