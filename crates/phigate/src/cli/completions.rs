//! `phigate completions`: shell completions, made from the table of commands.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

#[derive(Args)]
pub(super) struct Completions {
    /// Shell to complete in
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(completions: &Completions) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(
        completions.shell,
        &mut super::described(),
        "phigate",
        &mut script,
    );
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
