//! `phigate doctor`: is everything in order, and if not, what to do.

use std::process::ExitCode;

use clap::Args;
use jiff::Timestamp;
use phigate_store::AccountInfo;
use phigate_types::ProviderKind;

use crate::config::Config;
use phigate_gateway::BaseUrl;

use super::provider::{address, gateway_of, secret_words};
use super::store::{NoInstallation, Session, with_store};
use super::table::print_json;
use super::{EXIT_NO, Global};

#[derive(Args)]
pub(super) struct Doctor {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// What was looked at, as it is printed.
enum Finding {
    Fine(String),
    Advice(String, String),
    Wrong(String, String),
}

pub(super) fn run(doctor: &Doctor, global: &Global) -> anyhow::Result<ExitCode> {
    if let Err(error) = Config::load(global.flags()) {
        let finding = Finding::Wrong("the settings cannot be read".into(), error.to_string());
        return print(&[finding], doctor.json);
    }
    let findings = with_store(global, async |session| {
        let mut findings = vec![Finding::Fine("settings can be read".into())];
        findings.push(store(&session).await);
        for account in session.vault.accounts.accounts().await? {
            examine(
                &session,
                &global.command_for(&account.name),
                &account,
                &mut findings,
            )
            .await?;
        }
        Ok(findings)
    });
    let findings = match findings {
        Ok(findings) => findings,
        // There is nothing to look at, most likely because this is the wrong folder.
        Err(error) if error.is::<NoInstallation>() => return Err(error),
        // A store that cannot be opened is a finding like any other; its message says the fix.
        Err(error) => vec![Finding::Wrong(
            "the store cannot be opened".into(),
            format!("{error:#}"),
        )],
    };
    print(&findings, doctor.json)
}

impl Finding {
    /// How it stands, what was looked at, and what to do about it.
    fn parts(&self) -> (&'static str, &str, Option<&str>) {
        match self {
            Self::Fine(what) => ("ok", what, None),
            Self::Advice(what, fix) => ("note", what, Some(fix)),
            Self::Wrong(what, fix) => ("problem", what, Some(fix)),
        }
    }
}

fn print(findings: &[Finding], json: bool) -> anyhow::Result<ExitCode> {
    let parts = findings.iter().map(Finding::parts);
    if json {
        let row =
            |(state, what, fix)| serde_json::json!({"state": state, "what": what, "fix": fix});
        print_json(&parts.map(row).collect::<Vec<_>>())?;
    } else {
        for (state, what, fix) in parts {
            println!("{state:<8} {what}");
            if let Some(fix) = fix {
                println!("         → {fix}");
            }
        }
    }
    let is_wrong = |finding: &Finding| matches!(finding, Finding::Wrong(..));
    Ok(match findings.iter().any(is_wrong) {
        true => ExitCode::from(EXIT_NO),
        false => ExitCode::SUCCESS,
    })
}

async fn store(session: &Session) -> Finding {
    match session.vault.ping().await {
        Ok(()) => Finding::Fine(format!(
            "the {} store answers and can be written",
            session.vault.engine()
        )),
        Err(error) => Finding::Wrong("the store cannot be written".into(), error.to_string()),
    }
}

/// `command` is this program for the account, for lines to paste.
async fn examine(
    session: &Session,
    command: &str,
    account: &AccountInfo,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let (name, now) = (&account.name, Timestamp::now());
    let mode = session.vault.accounts.mode(&account.id).await?.mode;
    findings.push(Finding::Fine(format!("account {name}: mode {mode}")));
    if session.vault.people.users(&account.id).await?.is_empty() {
        let fix = format!(
            "each start of `phigate serve` prints a link for creating the owner; without it: {command} user add EMAIL"
        );
        findings.push(Finding::Advice(
            format!("account {name}: nobody can log in to the dashboard"),
            fix,
        ));
    }
    if session
        .vault
        .access
        .api_keys(&account.id)
        .await?
        .iter()
        .all(|key| key.revoked.is_some() || key.expires.is_some_and(|expires| expires <= now))
    {
        let fix = format!("{command} key create");
        findings.push(Finding::Advice(
            format!("account {name}: there is no API key that works"),
            fix,
        ));
    }
    providers(session, command, account, findings).await
}

async fn providers(
    session: &Session,
    command: &str,
    account: &AccountInfo,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let name = &account.name;
    let providers = session.vault.access.providers(&account.id).await?;
    if providers.is_empty() {
        let families = ProviderKind::all().filter(|kind| kind.has_family());
        let families: Vec<&str> = families.map(ProviderKind::code).collect();
        let fix = format!("{command} provider set {} --key-stdin", families.join("|"));
        findings.push(Finding::Wrong(
            format!("account {name}: no provider is configured, so no request can be forwarded"),
            fix,
        ));
    }
    for provider in providers {
        let (provider_name, address) = (&provider.name, address(&provider));
        if provider.config.is_expired(Timestamp::now()) {
            findings.push(Finding::Advice(
                format!("account {name}: the agreement with provider {provider_name} has ended, so no PHI goes there"),
                format!("{command} provider set {provider_name} --agreement-expires DATE"),
            ));
        }
        findings.push(
            match BaseUrl::parse(&address, session.setup_rules().allow_private) {
                Ok(_) => Finding::Fine(format!(
                    "account {name}: provider {provider_name} at {address}, {}",
                    secret_words(&provider)
                )),
                Err(error) => Finding::Wrong(
                    format!("account {name}: the address of provider {provider_name} is refused"),
                    format!(
                        "{error}; set another with: {command} provider set {provider_name} --base-url URL"
                    ),
                ),
            },
        );
        findings.extend(identity(session, command, account, provider_name).await?);
    }
    Ok(())
}

/// Whether a provider's token or credentials can be had: asked for here, so that the usual mistakes show early.
async fn identity(
    session: &Session,
    command: &str,
    account: &AccountInfo,
    provider: &str,
) -> anyhow::Result<Option<Finding>> {
    let stored = session.vault.accounts.account(&account.id).await?;
    let trial = gateway_of(session)?.try_identity(&stored, provider).await;
    let name = &account.name;
    Ok(trial.map(|trial| {
        if trial.works() {
            let what = "its credentials can be used";
            return Finding::Fine(format!("account {name}: provider {provider}: {what}"));
        }
        let (title, words) = trial.in_words();
        let fix = format!("{words} Then: {command} provider test {provider}");
        Finding::Wrong(format!("account {name}: provider {provider}: {title}"), fix)
    }))
}
