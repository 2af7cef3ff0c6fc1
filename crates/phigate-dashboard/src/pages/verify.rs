//! Verifying the chain from the audit page, and remembering what the last look found.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;
use phigate_store::{AdminAct, Checkpoint, Report, read_checkpoints};

use super::log::tabs;
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, When, grouped};
use crate::visit::{Answer, PageError, SignedIn, page, redirect};

/// Latest verification result per account, in this process, and the verifications that are running.
#[derive(Default)]
pub(crate) struct Verified {
    known: Mutex<HashMap<String, (Timestamp, Report)>>,
    running: Mutex<HashSet<String>>,
}

/// An account's turn. It ends when this is dropped, also when the browser has gone.
struct Turn<'a> {
    running: &'a Mutex<HashSet<String>>,
    account_id: &'a str,
}

impl Verified {
    /// Begins the only verification of an account: it reads every record, and many at once would slow other work.
    fn begin<'a>(&'a self, account_id: &'a str) -> Option<Turn<'a>> {
        let is_first = locked(&self.running).insert(account_id.to_owned());
        // Only the first may make a turn: dropping one ends it.
        is_first.then(|| Turn {
            running: &self.running,
            account_id,
        })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        locked(self.running).remove(self.account_id);
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The integrity of the log.
#[derive(Template)]
#[template(path = "audit/integrity.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) chain: Chain,
    pub(crate) history: Vec<Past>,
    /// Newest checkpoint in a file that the server writes.
    pub(crate) elsewhere: Option<When>,
    /// Whether the server writes such files.
    pub(crate) is_copied: bool,
    pub(crate) public_key: String,
}

/// A verification that was recorded.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) time: When,
    pub(crate) tone: &'static str,
    pub(crate) verdict: String,
    pub(crate) by: String,
}

/// Verifications that the page lists.
const PAST: usize = 10;

/// `GET /audit/integrity`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let verifications = &dash.vault.verifications;
    let history = verifications.history(visit.account_id(), PAST).await?;
    let kept = kept_checkpoints(dash.checkpoint_files.clone()).await;
    let newest = kept.iter().map(|checkpoint| checkpoint.time).max();
    page(&Page {
        layout: visit.layout("/audit"),
        tabs: tabs("/audit/integrity"),
        chain: shown_chain(known(&dash, visit.account_id()), history.first()),
        history: history.iter().map(past).collect(),
        elsewhere: newest.map(When::at),
        is_copied: !dash.checkpoint_files.is_empty(),
        public_key: dash.vault.trail.public_key(),
    })
}

/// The known state of the chain; before this process looked, the one of the latest verification that is recorded.
fn shown_chain(chain: Chain, latest: Option<&AdminAct>) -> Chain {
    let Some(act) = latest.filter(|_| chain.verified.is_none()) else {
        return chain;
    };
    let Past {
        time,
        tone,
        verdict,
        by,
    } = past(act);
    let label = if tone == "ok" {
        "Chain intact"
    } else {
        "Chain broken"
    };
    Chain {
        verified: Some(time),
        tone,
        label: label.to_owned(),
        words: format!("{verdict}, by {by}."),
    }
}

fn past(act: &AdminAct) -> Past {
    let detail = |name: &str| act.details.get(name).map_or("", String::as_str);
    let (tone, verdict) = match detail("verdict") {
        "intact" => ("ok", format!("intact, {} records", detail("records"))),
        fault => ("bad", fault.to_owned()),
    };
    Past {
        time: When::at(act.time),
        tone,
        verdict,
        by: act.actor.clone(),
    }
}

/// `POST /audit/verify`
pub(crate) async fn verify(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let Some(_turn) = dash.verified.begin(visit.account_id()) else {
        return Err(PageError::Busy);
    };
    let kept = kept_checkpoints(dash.checkpoint_files.clone()).await;
    let verifications = &dash.vault.verifications;
    let run = verifications.run(visit.account_id(), &kept, visit.actor());
    let report = run.await?;
    let found = (Timestamp::now(), report);
    locked(&dash.verified.known).insert(visit.account_id().to_owned(), found);
    Ok(redirect("/audit/integrity"))
}

/// The checkpoints in the files that the server writes. A file that cannot be read is left out, and so not claimed to
/// have been compared.
async fn kept_checkpoints(files: Vec<PathBuf>) -> Vec<Checkpoint> {
    let read = tokio::task::spawn_blocking(move || {
        let mut kept = Vec::new();
        for file in files.iter().filter(|file| file.exists()) {
            match read_checkpoints(file) {
                Ok(read) => kept.extend(read),
                Err(error) => {
                    tracing::warn!(
                        "the checkpoints in {} were not compared: {error}",
                        file.display()
                    );
                }
            }
        }
        kept
    });
    read.await.unwrap_or_default()
}

/// Known state of the chain.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    /// Time of the last verification.
    pub(crate) verified: Option<When>,
    pub(crate) tone: &'static str,
    pub(crate) label: String,
    pub(crate) words: String,
}

/// Returns the known state of an account's chain.
pub(crate) fn known(dash: &Dash, account_id: &str) -> Chain {
    match locked(&dash.verified.known).get(account_id) {
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
                " No checkpoint kept elsewhere was compared, so a log that was cut off at its end would look the same."
            }
            _ => " It agrees with the checkpoints kept elsewhere.",
        };
        return Chain {
            verified,
            tone: "ok",
            label: "Chain intact".to_owned(),
            words: format!(
                "{} records, each tied to the one before; {} valid signatures.{outside}",
                grouped(report.records),
                grouped(report.signatures)
            ),
        };
    };
    let what = fault.kind.words();
    let subject = match &fault.row {
        Some(row) => format!("In the store, beside the log: {row}"),
        None => format!("Record {}", grouped(fault.seq.unsigned_abs())),
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
            "{subject} {what}.{request} Keep a copy of the store and find out who had access to it."
        ),
    }
}

#[cfg(test)]
mod tests {
    use phigate_store::{MasterKeySource, Options, Target, Vault, append_checkpoints};

    use super::*;

    #[tokio::test]
    async fn checkpoint_files_are_compared() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::Folder(folder.path().join("data"));
        let key = MasterKeySource::File(folder.path().join("data.key"));
        let vault = Vault::open(Options::new(target, key)).await.unwrap();
        let account = vault.accounts.find_account(None).await.unwrap().id;
        let file = folder.path().join("checkpoints");
        let checkpoints = vault.trail.checkpoints().await.unwrap();
        append_checkpoints(&file, &checkpoints).unwrap();
        let words = async |files: &[&std::path::Path]| {
            let files = files.iter().map(|file| file.to_path_buf()).collect();
            let kept = kept_checkpoints(files).await;
            let report = vault.trail.verify(Some(&account), &kept, |_| {}).await;
            in_words(Timestamp::now(), &report.unwrap()).words
        };
        let missing = folder.path().join("nothing");
        assert!(words(&[&missing, &file]).await.contains("It agrees with"));
        assert!(words(&[&missing]).await.contains("No checkpoint"));
    }

    #[test]
    fn only_one_verification_runs_per_account() {
        let verified = Verified::default();
        let turn = verified.begin("north");
        assert!(turn.is_some());
        for _ in 0..2 {
            assert!(verified.begin("north").is_none());
        }
        assert!(verified.begin("south").is_some());
        drop(turn);
        assert!(verified.begin("north").is_some());
    }
}
