//! `phigate audit reveal`: the content of a request, for a reason that is recorded.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use phigate_store::{Record, RevealSubject, Revealed, SecretBytes, StoreError};
use serde_json::{Value, json};
use uuid::Uuid;

use super::request_id;
use crate::cli::store::{Session, given_reason};
use crate::cli::{EXIT_NO, reveals};

#[derive(Args)]
pub(in crate::cli) struct Reveal {
    /// The request's id, from the X-Gateway-Request-Id header
    #[arg(value_parser = request_id)]
    request_id: Uuid,
    /// Why you need to see it, in a few words; the audit trail keeps it
    #[arg(long, value_name = "TEXT", value_parser = given_reason)]
    reason: String,
    /// Print one of them as it was, instead of a JSON object with all of them
    #[arg(long)]
    only: Option<Side>,
    /// Show it at once although it takes a second person; this is marked in the audit trail and raises an alert
    #[arg(long)]
    emergency: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Side {
    /// The body from the caller
    Original,
    /// The body sent to the provider
    Sent,
    /// The reply of the provider, if it held new PHI
    Reply,
}

pub(super) async fn run(
    session: &Session,
    account: &str,
    reveal: &Reveal,
) -> anyhow::Result<ExitCode> {
    let id = reveal.request_id;
    let records = session.vault.trail.audit_show(account, id).await?;
    let has_phi = records.iter().any(|record| match record {
        Record::Decision(decision) => decision.phi_detected,
        Record::Attempt(attempt) => attempt.sealed.is_some(),
        Record::Outcome(outcome) => outcome.sealed.is_some(),
        Record::Admin(_) | Record::Alert(_) => false,
    });
    if !has_phi {
        bail!("no PHI was found in this request or its reply, so none of its content was kept");
    }
    let revealed = look(session, account, reveal).await;
    if matches!(revealed, Err(StoreError::NeedsApproval)) {
        let subject = RevealSubject::Request(id);
        reveals::ask(session, account, &subject, &reveal.reason).await?;
        return Ok(ExitCode::from(EXIT_NO));
    }
    let revealed = revealed.map_err(|error| match error {
        StoreError::NotFound(_) | StoreError::Unreadable(_) => anyhow::Error::from(error)
            .context("the content is gone: its retention is over, or the account was deleted"),
        error => error.into(),
    })?;
    let one = match reveal.only {
        Some(Side::Original) => revealed.original,
        Some(Side::Sent) => revealed.sent,
        Some(Side::Reply) => revealed.reply,
        None => {
            println!("{}", serde_json::to_string_pretty(&whole(id, revealed))?);
            return Ok(ExitCode::SUCCESS);
        }
    };
    let one = one.context("this request has no such content")?;
    let mut out = std::io::stdout().lock();
    out.write_all(one.expose())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

async fn look(session: &Session, account: &str, reveal: &Reveal) -> Result<Revealed, StoreError> {
    let (vault, actor) = (&session.vault, session.actor());
    let (id, reason) = (reveal.request_id, reveal.reason.as_str());
    match reveal.emergency {
        true => {
            let reveals = &vault.reveals;
            reveals
                .reveal_in_emergency(account, id, actor, reason)
                .await
        }
        false => vault.trail.reveal(account, id, actor, Some(reason)).await,
    }
}

/// All sides of the content.
fn whole(id: Uuid, revealed: Revealed) -> Value {
    let (original, sent) = (text(revealed.original), text(revealed.sent));
    let mut shown = json!({ "request_id": id, "original": original, "sent": sent });
    if !revealed.attempts.is_empty() {
        let attempts = revealed.attempts.into_iter();
        let attempts = attempts
            .map(|(provider, sent)| json!({ "provider": provider, "sent": text(Some(sent)) }));
        shown["attempts"] = attempts.collect();
    }
    if let Some(reply) = text(revealed.reply) {
        shown["reply"] = reply.into();
    }
    shown
}

fn text(content: Option<SecretBytes>) -> Option<String> {
    content.map(|content| String::from_utf8_lossy(content.expose()).into_owned())
}
