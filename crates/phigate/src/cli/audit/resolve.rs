//! `phigate audit resolve`: the value of a token.

use std::process::ExitCode;

use clap::Args;
use phigate_core::doors::{CHAT, Door};
use phigate_core::protect::{Policy, Scanner};
use phigate_core::reply;
use phigate_core::request::Request;
use phigate_core::text::PhiText;
use phigate_gateway::documents::Readers;
use phigate_store::{ConversationName, RevealSubject, StoreError};
use phigate_types::Mode;

use crate::cli::EXIT_NO;
use crate::cli::store::{Session, given_reason};
use phigate_gateway::detector_of_all;

#[derive(Args)]
pub(in crate::cli) struct Resolve {
    /// The token, such as [NAME_7K3QD]
    token: String,
    /// Why you need to know, in a few words; the audit trail keeps it
    #[arg(long, value_name = "TEXT", value_parser = given_reason)]
    reason: String,
    /// Show it at once although it takes a second person; this is marked in the audit trail and raises an alert
    #[arg(long)]
    emergency: bool,
}

/// Prints the values of a token, one per line: two conversations may have used the same token.
pub(super) async fn run(
    session: &Session,
    account: &str,
    resolve: &Resolve,
) -> anyhow::Result<ExitCode> {
    let name = resolve.token.trim().trim_matches(['[', ']']);
    let name = name.replace('\\', "").to_ascii_uppercase();
    let vault = &session.vault;
    let (actor, reason) = (session.actor(), resolve.reason.as_str());
    let contents = match resolve.emergency {
        true => {
            let reveals = &vault.reveals;
            let contents = reveals.resolve_in_emergency(account, &name, actor, reason);
            contents.await
        }
        false => {
            let trail = &vault.trail;
            let contents = trail.contents_with_token(account, &name, actor, reason);
            contents.await
        }
    };
    if matches!(contents, Err(StoreError::NeedsApproval)) {
        let subject = RevealSubject::Token(name);
        crate::cli::reveals::ask(session, account, &subject, reason).await?;
        return Ok(ExitCode::from(EXIT_NO));
    }
    let contents = contents?;
    let found_by = vault.accounts.account(account).await?;
    let detector = detector_of_all(&found_by).map_err(|refusal| anyhow::anyhow!(refusal.0))?;
    // Allowed values are found again, because an entry may be newer than the token.
    let scanner = Scanner::new(detector);
    let policy = Policy::uniform(Mode::MASK).allowing_unscannable(true);
    let readers = Readers::of_this_program(1);
    let mut values: Vec<String> = Vec::new();
    for (decision, original) in contents {
        let conversation = decision.conversation.unwrap_or_default();
        let door = decision.door.as_deref().and_then(Door::with_id);
        let form = door.unwrap_or(&CHAT).form;
        let conversation = vault
            .access
            .conversation(account, ConversationName::Recorded(&conversation));
        let code_of = |kind: &str, value: &str| conversation.code(kind, value);
        let Ok(request) = Request::read_again(form, original.expose().to_vec()) else {
            continue;
        };
        let request = readers.read_of(request);
        let value = reply::resolve(&scanner, &policy, request, &code_of, &name);
        values.extend(value.map(PhiText::into_exposed));
    }
    values.sort_unstable();
    values.dedup();
    for value in &values {
        println!("{value}");
    }
    if values.is_empty() {
        eprintln!("no request of this account issued that token, or its content is deleted");
        return Ok(ExitCode::from(EXIT_NO));
    }
    Ok(ExitCode::SUCCESS)
}
