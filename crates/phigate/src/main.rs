//! phigate: a gateway that keeps protected health information out of language models.

mod app;
mod audit_csv;
mod cli;
mod config;
mod dashboard;
mod demo;
mod error;
mod housekeeping;
mod metrics;
mod not_served;
mod pipeline;
mod provider;
mod reason;
mod routes;
mod scan_memory;
mod server;

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
