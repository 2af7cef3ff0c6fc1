//! Verifying the chain from the audit page, and remembering what the last look found.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use axum::extract::State;
use jiff::Timestamp;
use phigate_store::{FaultKind, Report};

use super::audit::Chain;
use crate::dashboard::Dash;
use crate::dashboard::view::{When, grouped};
use crate::dashboard::visit::{Answer, SignedIn, go_to};

/// What the last verification of each account found, in this process.
#[derive(Default)]
pub(crate) struct Verified(Mutex<HashMap<String, (Timestamp, Report)>>);

/// `POST /audit/verify`
pub(crate) async fn verify(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let report = dash
        .app
        .vault
        .verify(Some(visit.account_id()), &[], |_| {})
        .await?;
    let mut known = dash
        .verified
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    known.insert(visit.account_id().to_owned(), (Timestamp::now(), report));
    Ok(go_to("/audit#integrity"))
}

/// What is known about an account's chain.
pub(crate) fn known(dash: &Dash, account_id: &str) -> Chain {
    let known = dash
        .verified
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    match known.get(account_id) {
        Some((time, report)) => in_words(*time, report),
        None => Chain {
            verified: None,
            tone: "soft",
            label: "Not verified yet".to_owned(),
            words:
                "Every record is tied to the one before by a keyed hash, and signed at intervals. \
                    Nobody has checked the chain since this server started."
                    .to_owned(),
        },
    }
}

fn in_words(time: Timestamp, report: &Report) -> Chain {
    let verified = Some(When::at(time));
    let Some(fault) = &report.fault else {
        let outside = match report.outside_checkpoints {
            0 => {
                " No checkpoint kept elsewhere was compared: a log cut at its end could not be told from a whole one."
            }
            _ => " It agrees with the checkpoints kept elsewhere.",
        };
        return Chain {
            verified,
            tone: "ok",
            label: "Chain intact".to_owned(),
            words: format!(
                "{} records, each tied to the one before, {} signatures right.{outside}",
                grouped(report.records),
                grouped(report.signatures)
            ),
        };
    };
    let what = match fault.kind {
        FaultKind::Changed => "was changed",
        FaultKind::Missing => "is missing",
        FaultKind::Reordered => "stands in another’s place",
        FaultKind::Inserted => "was added that nobody wrote",
        FaultKind::Truncated => "and all after it were cut off",
    };
    let request = fault
        .request_id
        .map(|id| format!(" It belongs to request {id}."))
        .unwrap_or_default();
    Chain {
        verified,
        tone: "bad",
        label: "Chain broken".to_owned(),
        words: format!(
            "Record {} {what}.{request} Keep a copy of the store and find out who had access to it.",
            grouped(fault.seq.unsigned_abs())
        ),
    }
}
