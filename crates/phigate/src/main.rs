//! phigate: a gateway that keeps protected health information out of language models.

mod app;
mod cli;
mod config;
mod confine;
mod demo;
mod hosts;
mod housekeeping;
mod models;
mod not_served;
mod openapi;
mod presidio;
mod requests;
mod routes;
mod watch;

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
