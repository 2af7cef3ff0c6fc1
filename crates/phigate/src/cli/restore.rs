//! `phigate restore`: whether masked values are given back in replies.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use phigate_core::reply::ToolNames;

use super::Global;
use super::store::{ACTOR, with_store};

#[derive(Args)]
pub(super) struct Restore {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Print whether masked values are given back
    Get,
    /// Change it; every later request is bound
    Set {
        /// on or off
        value: Switch,
        /// The tools whose arguments get values back: names with commas between them, * for any characters [default: all]
        #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = tool)]
        tools: Option<Vec<String>>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

fn tool(text: &str) -> Result<String, String> {
    let name = text.trim();
    if ToolNames::is_pattern(name) {
        Ok(name.to_owned())
    } else {
        Err("a tool is named by letters, digits, _ - . : / and * for any characters".to_owned())
    }
}

pub(super) fn run(restore: &Restore, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        let account = session.account().await?;
        match &restore.verb {
            None | Some(Verb::Get) => {
                let settings = session.vault.settings(&account.id).await?;
                println!("{}", if settings.restore { "on" } else { "off" });
                if settings.restore && !settings.restore_tools.is_empty() {
                    eprintln!("tools: {}", settings.restore_tools.join(","));
                }
            }
            Some(Verb::Set { value, tools }) => {
                let change = |settings: &mut phigate_store::Settings| {
                    settings.restore = *value == Switch::On;
                    settings.restore_tools = tools.clone().unwrap_or_default();
                };
                session
                    .vault
                    .edit_settings(&account.id, change, ACTOR)
                    .await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}
