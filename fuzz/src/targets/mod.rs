//! The table of targets. A new one is a file, a `mod` line and a row.

mod base_url;
mod chunked;
mod credentials;
mod documents;
mod export;
mod frames;
mod growth;
mod http1;
mod json;
mod mask;
mod policy;
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

/// A parser of foreign bytes.
pub struct Target {
    /// Name, for `FUZZ_TARGET` and the folder of its inputs.
    pub name: &'static str,
    /// Reads an input and panics if a promise is broken.
    pub run: fn(&[u8]),
    /// Seed inputs.
    pub seeds: &'static [&'static [u8]],
}

/// All fuzz targets.
pub const TARGETS: &[Target] = &[
    // Callers' bytes.
    http1::TARGET,
    chunked::TARGET,
    proxies::TARGET,
    json::TARGET,
    requests::TARGET,
    translate::TARGET,
    services::TARGET,
    credentials::TARGET,
    documents::TARGET,
    base_url::TARGET,
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
    // Settings.
    policy::TARGET,
    // Texts.
    scan::TARGET,
    growth::TARGET,
    mask::TARGET,
    rewrite::TARGET,
];
