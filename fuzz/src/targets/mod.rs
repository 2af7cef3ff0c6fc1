//! The table of targets. A new one is a file, a `mod` line and a row.

#[cfg(feature = "servers")]
mod base_url;
#[cfg(feature = "servers")]
mod chunked;
#[cfg(feature = "servers")]
mod credentials;
#[cfg(feature = "servers")]
mod export;
mod frames;
#[cfg(feature = "servers")]
mod http1;
mod json;
mod mask;
#[cfg(feature = "servers")]
mod proxies;
mod replies;
mod reply_stage;
mod requests;
mod rewrite;
mod scan;
mod services;
mod sse;
mod streams;
mod translate;

use std::sync::OnceLock;

/// Something that reads bytes of strangers.
pub(crate) struct Target {
    /// Its name, for `FUZZ_TARGET` and the folder of its inputs.
    pub(crate) name: &'static str,
    /// Reads an input and stops the program where a promise is broken.
    pub(crate) run: fn(&[u8]),
    /// Inputs to begin with.
    pub(crate) seeds: &'static [&'static [u8]],
}

const TARGETS: &[Target] = &[
    // Callers' bytes.
    #[cfg(feature = "servers")]
    http1::TARGET,
    #[cfg(feature = "servers")]
    chunked::TARGET,
    #[cfg(feature = "servers")]
    proxies::TARGET,
    json::TARGET,
    requests::TARGET,
    translate::TARGET,
    services::TARGET,
    #[cfg(feature = "servers")]
    credentials::TARGET,
    #[cfg(feature = "servers")]
    base_url::TARGET,
    #[cfg(feature = "servers")]
    export::TARGET,
    // Providers' bytes.
    sse::TARGET,
    frames::TARGET,
    streams::OPENAI,
    streams::ANTHROPIC,
    streams::GOOGLE,
    streams::BEDROCK,
    streams::MESSAGES,
    streams::RESPONSES,
    streams::COMPLETIONS,
    replies::TARGET,
    reply_stage::TARGET,
    // Texts.
    scan::TARGET,
    mask::TARGET,
    rewrite::TARGET,
];

static CHOSEN: OnceLock<&Target> = OnceLock::new();

/// Finds the target that was asked for.
pub(crate) fn choose() {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    match name.as_str() {
        "list" => {
            TARGETS.iter().for_each(|target| println!("{}", target.name));
            std::process::exit(0);
        }
        "seeds" => {
            TARGETS.iter().for_each(write_seeds);
            std::process::exit(0);
        }
        name => {
            let found = TARGETS.iter().find(|target| target.name == name);
            let found = found.expect("FUZZ_TARGET names a target; FUZZ_TARGET=list shows them");
            CHOSEN.get_or_init(|| found);
        }
    }
}

/// Gives an input to the target.
pub(crate) fn run(bytes: &[u8]) {
    if let Some(target) = CHOSEN.get() {
        (target.run)(bytes);
    }
}

fn write_seeds(target: &Target) {
    let folder = std::path::Path::new("corpus").join(target.name);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    for (number, seed) in target.seeds.iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), seed).expect("it can be written");
    }
}
