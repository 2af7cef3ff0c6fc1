//! `phigate man`: manual pages, made from the table of commands.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use clap_mangen::Man;

#[derive(Args)]
pub(super) struct ManArgs {
    /// Write the page of every command into this folder, instead of the page of phigate to standard output
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

pub(super) fn run(man: &ManArgs) -> anyhow::Result<ExitCode> {
    match &man.to {
        Some(folder) => {
            let place = folder.display();
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {place}"))?;
            clap_mangen::generate_to(super::described(), folder)
                .with_context(|| format!("cannot write to {place}"))?;
        }
        None => {
            let mut page = Vec::new();
            Man::new(super::described()).render(&mut page)?;
            std::io::stdout().write_all(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
