//! `phigate extract`: the process that reads one document. The gateway and `phigate scan` start it.

use std::io::{Read, Write};
use std::process::ExitCode;

use clap::Args;

use crate::confine::confine;

#[derive(Args)]
pub(super) struct Extract {
    /// Print the names of the filters that hold this process, and read nothing
    #[arg(long)]
    filters: bool,
}

pub(super) fn run(extract: &Extract) -> anyhow::Result<ExitCode> {
    let confined = confine()?;
    let mut out = std::io::stdout().lock();
    if extract.filters {
        writeln!(out, "{}", confined.names().join(" "))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    let found = phigate_extract::extract(&bytes);
    let answer = serde_json::to_vec(&found)?;
    out.write_all(&answer)?;
    Ok(ExitCode::SUCCESS)
}
