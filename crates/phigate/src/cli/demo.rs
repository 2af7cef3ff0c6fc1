//! `phigate demo`: the gateway with simulated providers and a ready account.

use std::process::ExitCode;

use anyhow::Context;
use phigate_core::wire::FORMATS;
use phigate_store::SecretString;
use tokio::net::TcpListener;

use crate::app::{App, FirstOwner};
use crate::config::Config;
use crate::demo;

use super::Global;
use super::person::actor;
use super::serve::{Greeting, Serve, start};

/// Where the demo keeps its data, so that it never mixes with a real installation's.
const DATA: &str = "phigate-demo";

pub(super) fn run(serve: &Serve, global: &Global) -> anyhow::Result<ExitCode> {
    let mut global = global.clone();
    global.data.get_or_insert(DATA.into());
    let mut flags = serve.flags(&global);
    // The simulated providers are on a loopback address.
    flags.allow_private_providers = true;
    let mut config = Config::load(flags)?;
    if global.database_url.is_none() {
        // A database of the environment or of the settings file is a real installation's.
        config.database_url = None;
    }
    let command = global.command();
    start(config, &command, async |app| seed(app, &command).await)
}

/// Starts the simulated providers and fills the account.
async fn seed(app: &App, command: &str) -> anyhow::Result<Option<Greeting>> {
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
    for format in FORMATS {
        let key = SecretString::from("demo-key-of-no-value");
        app.vault
            .access
            .set_provider(
                &account.id,
                format.id(),
                Some(&key),
                Some(&base_url),
                actor(),
            )
            .await?;
    }
    let key = app
        .vault
        .access
        .create_api_key(&account.id, "demo", None, actor())
        .await?;
    let owner = app.first_owner(true).await?;
    let command = command.to_owned();
    Ok(Some(Box::new(move |base| {
        greet(base, &key.key, &owner, &command);
    })))
}

fn greet(base: &str, key: &SecretString, owner: &FirstOwner, command: &str) {
    let key = key.expose();
    eprintln!("\nphigate demo: simulated providers, nothing leaves this machine.\n");
    for (model, text) in [
        ("gpt-4o", "Patient John Smith, SSN 536-22-8741, has a cough"),
        (
            "claude-opus-4-5",
            "Call Maria Delgado at 415-555-0134 about her results",
        ),
        ("gemini-2.5-flash", "What is the usual dose of amoxicillin?"),
    ] {
        eprintln!("curl -i {base}/v1/chat/completions -H 'Authorization: Bearer {key}' \\");
        eprintln!("  -H 'Content-Type: application/json' \\");
        eprintln!(
            "  -d '{{\"model\":\"{model}\",\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}'\n"
        );
    }
    eprintln!("API key:                     {key}");
    eprintln!("Change what happens to PHI:  {command} mode set mask");
    match owner {
        FirstOwner::Link(link) => eprintln!(
            "Dashboard, first login:      {base}/setup/{}\n",
            link.expose()
        ),
        FirstOwner::Exists | FirstOwner::WasInvited => {
            eprintln!("Dashboard:                   {base}/\n");
        }
    }
}
