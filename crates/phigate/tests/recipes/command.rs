//! `phigate twin`: says that it is there.

use std::process::ExitCode;

pub(super) fn run() -> anyhow::Result<ExitCode> {
    println!("here");
    Ok(ExitCode::SUCCESS)
}
