//! `phigate openapi`: the description of the interface, as served on `/openapi.json`.

use std::process::ExitCode;

use crate::routes::OPENAPI;

pub(super) fn run() -> anyhow::Result<ExitCode> {
    print!("{OPENAPI}");
    Ok(ExitCode::SUCCESS)
}
