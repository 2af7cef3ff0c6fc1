//! `phigate demo`: the gateway with simulated providers and a ready account.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use phigate_store::{ApiKeyInfo, NewSecret, ProviderConfig, SecretString};
use phigate_types::ProviderKind;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::app::App;
use crate::config::Config;
use crate::demo;

use super::Global;
use super::logs::say;
use super::owner::{OwnerLink, owner_link};
use super::person::actor;
use super::serve::{Greeting, Serve, start};

/// Data folder of the demo, separate from that of a real installation.
const DATA: &str = "phigate-demo";
/// File of the demo's API key, in the data folder.
const KEY_FILE: &str = "demo-api-key";

#[derive(Args)]
pub(super) struct Demo {
    #[command(flatten)]
    serve: Serve,
    /// Print address, key and the dashboard's address as one JSON line on standard output, for programs
    #[arg(long)]
    json: bool,
}

pub(super) fn run(demo: &Demo, global: &Global) -> anyhow::Result<ExitCode> {
    let mut global = global.clone();
    global.data.get_or_insert(DATA.into());
    let mut flags = demo.serve.flags(&global);
    // The simulated providers are on a loopback address.
    flags.allow_private_providers = true;
    let mut config = Config::load(flags)?;
    if global.database_url.is_none() {
        // A database in the environment or the settings file belongs to a real installation.
        config.database_url = None;
    }
    let command = (!demo.json).then(|| global.command());
    start(config, async |app| seed(app, command).await)
}

/// Starts the simulated providers and fills the account. Greets people with lines for this command, otherwise programs.
async fn seed(app: &App, command: Option<String>) -> anyhow::Result<Greeting> {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .context("cannot start the simulated providers")?;
    let base_url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, demo::router()).await });
    let account = app
        .vault
        .accounts
        .accounts()
        .await?
        .into_iter()
        .next()
        .context("the store has no account")?;
    let key = SecretString::from("demo-key-of-no-value");
    for kind in ProviderKind::all().filter(|kind| kind.has_family()) {
        let config = ProviderConfig::new(kind).at(&base_url);
        let secret = NewSecret::Set(&key);
        let access = &app.vault.access;
        access
            .set_provider(&account.id, kind.code(), &config, secret, actor())
            .await?;
    }
    let key = api_key(app, &account.id).await?;
    let owner = owner_link(&app.vault, app.started).await?;
    let format = app.config.log.format;
    Ok(Box::new(move |base| {
        let (key, owner) = (key.expose(), owner.as_ref());
        match command {
            Some(command) => say(format, &greeting(base, key, owner, &command)),
            None => println!("{}", described(base, key, owner)),
        }
    }))
}

/// The demo for programs.
fn described(base: &str, key: &str, owner: Option<&OwnerLink>) -> Value {
    json!({
        "url": base,
        "key": key,
        "models": MODELS.map(|(model, _)| model),
        "dashboard": dashboard(base, owner),
    })
}

/// Address of the dashboard: the link for the first login, until there is an owner.
fn dashboard(base: &str, owner: Option<&OwnerLink>) -> String {
    match owner {
        Some(link) => format!("{base}/setup/{}", link.token.expose()),
        None => format!("{base}/"),
    }
}

/// A model of each family, with something to ask it.
const MODELS: [(&str, &str); 3] = [
    ("gpt-4o", "Patient John Smith, SSN 536-22-8741, has a cough"),
    (
        "claude-opus-4-5",
        "Call Maria Delgado at 415-555-0134 about her results",
    ),
    ("gemini-2.5-flash", "What is the usual dose of amoxicillin?"),
];

/// The demo's key: the key of the last start if it is still valid, so that pasted commands keep working. It only gives
/// access to simulated providers, so it may be stored in the demo's folder.
async fn api_key(app: &App, account_id: &str) -> anyhow::Result<SecretString> {
    let file = app.config.data.join(KEY_FILE);
    if let Ok(kept) = std::fs::read_to_string(&file) {
        let id = kept.split('_').nth(1).unwrap_or_default();
        let keys = app.vault.access.api_keys(account_id).await?;
        let works =
            |key: &ApiKeyInfo| key.id == id && key.revoked.is_none() && key.expires.is_none();
        if keys.iter().any(works) {
            return Ok(SecretString::from(kept.trim()));
        }
    }
    let new = app
        .vault
        .access
        .create_api_key(account_id, "demo", None, actor());
    let key = new.await?.key;
    let kept = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&file);
    // A key that cannot be stored is made anew next time.
    if let Ok(mut file) = kept {
        let _ = writeln!(file, "{}", key.expose());
    }
    Ok(key)
}

fn greeting(base: &str, key: &str, owner: Option<&OwnerLink>, command: &str) -> Vec<String> {
    let mut lines = vec![
        String::new(),
        "phigate demo: simulated providers, nothing leaves this machine.".to_owned(),
        String::new(),
    ];
    for (model, text) in MODELS {
        lines.extend([
            format!("curl -i {base}/v1/chat/completions -H 'Authorization: Bearer {key}' \\"),
            "  -H 'Content-Type: application/json' \\".to_owned(),
            format!("  -d '{{\"model\":\"{model}\",\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}'"),
            String::new(),
        ]);
    }
    lines.push(format!("API key:                     {key}"));
    lines.push(format!(
        "Change what happens to PHI:  {command} mode set mask"
    ));
    let title = match owner {
        Some(_) => "Dashboard, first login:      ",
        None => "Dashboard:                   ",
    };
    lines.push(format!("{title}{}", dashboard(base, owner)));
    lines.push(String::new());
    lines
}
