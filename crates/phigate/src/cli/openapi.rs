//! `phigate openapi`: the description of the interface, as served on `/openapi.json`.

use std::process::ExitCode;

use crate::openapi;

pub(super) fn run() -> anyhow::Result<ExitCode> {
    print!("{}", openapi::description());
    Ok(ExitCode::SUCCESS)
}
