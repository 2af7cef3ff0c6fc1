//! `phigate profile`: the named set of kinds of PHI that an account looks for.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use phi_detect::Profile;
use phigate_gateway::{KindEdit, profile_name};
use phigate_types::Replace;

use super::Global;
use super::kind::change;
use super::store::{Session, given_reason, in_store};
use super::words::known;

#[derive(Args)]
pub(super) struct ProfileArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the profile in force, or custom for kinds that no profile has
    Get,
    /// Switch every kind of PHI as a profile says, for every request from now on
    Set {
        /// Profile: the eight kinds of the specification, or the identifiers of the Safe Harbor list, removed as detected
        #[arg(value_parser = known(Profile::all(), Profile::code))]
        profile: Profile,
        /// In mask mode, write the year of a date, 90+, a state or the first digits of a ZIP code instead of a placeholder
        #[arg(long)]
        generalize: bool,
        /// Why, in a few words, for the audit trail; needed where kinds are switched off
        #[arg(long, value_name = "TEXT", value_parser = given_reason)]
        reason: Option<String>,
    },
}

pub(super) fn run(args: &ProfileArgs, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(args.verb, Some(Verb::Set { .. }));
    in_store(global, sets, async |session| act(args, &session).await)
}

/// Does what the command says.
pub(super) async fn act(args: &ProfileArgs, session: &Session) -> anyhow::Result<ExitCode> {
    match &args.verb {
        None | Some(Verb::Get) => {
            let account = session.account().await?;
            let kinds = session.vault.accounts.kinds(&account.id).await?;
            println!("{}", profile_name(&kinds));
        }
        Some(Verb::Set {
            profile,
            generalize,
            reason,
        }) => {
            let edit = KindEdit::Profile {
                profile: *profile,
                replace: match generalize {
                    true => Replace::Generalize,
                    false => Replace::Placeholder,
                },
            };
            change(session, &edit, reason.as_deref()).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
