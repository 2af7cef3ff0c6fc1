//! `phigate doctor`: checks the installation and prints a fix for each problem.

use std::process::ExitCode;

use aws_lc_rs::digest;
use clap::Args;
use futures_util::future::join_all;
use jiff::Timestamp;
use phi_detect::ZIP_TABLE;
use phigate_store::{Account, AccountInfo, ProviderInfo};
use phigate_types::{ProviderKind, Replace};

use crate::config::Config;
use crate::confine::MEMORY;
use phigate_gateway::documents::READING;
use phigate_gateway::{Gateway, KindState, Trial, kind_states, profile_name};

use super::export_to::state_words;
use super::provider::{address, gateway_of, secret_words};
use super::store::{NoInstallation, Session, with_store};
use super::table::print_json;
use super::{EXIT_NO, Global};

/// Age of a waiting record that is a problem, in seconds.
const EXPORT_LAG_S: u64 = 60;

#[derive(Args)]
pub(super) struct Doctor {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// The result of a check, as printed.
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
        findings.push(documents());
        findings.push(store(&session).await);
        findings.extend(telemetry(&session).await?);
        findings.extend(chains(&session).await?);
        let chosen = global.account.as_deref();
        let accounts = match chosen {
            Some(_) => vec![session.account().await?],
            None => session.vault.accounts.accounts().await?,
        };
        for account in accounts {
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
        // Most likely this is the wrong folder.
        Err(error) if error.is::<NoInstallation>() => return Err(error),
        // A store that cannot be opened is a finding too; its message names the fix.
        Err(error) => {
            let why = format!("{error:#}");
            eprintln!("phigate: the store cannot be opened: {why}");
            vec![Finding::Wrong("the store cannot be opened".into(), why)]
        }
    };
    print(&findings, doctor.json)
}

impl Finding {
    /// Severity, subject and fix.
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

/// Filters of the process that reads documents.
fn documents() -> Finding {
    let limits = format!(
        "{} MiB of memory, {} seconds",
        MEMORY >> 20,
        READING.as_secs()
    );
    match filters() {
        Some(filters) if filters.len() == 2 => Finding::Fine(format!(
            "documents are read in a process without network and files ({}, {limits})",
            filters.join(", ")
        )),
        Some(filters) => {
            let held = if filters.is_empty() { "no filter".to_owned() } else { filters.join(", ") };
            Finding::Advice(
                format!("the process that reads documents is held by {held} alone ({limits})"),
                "a Linux kernel from 5.13 on, with seccomp and landlock enabled, keeps it from network and files".into(),
            )
        }
        None => Finding::Wrong(
            "the process that reads documents cannot be started".into(),
            "documents are refused until this program may start itself: `phigate extract --filters` must work".into(),
        ),
    }
}

/// The operator's collector of telemetry, if there is one.
async fn telemetry(session: &Session) -> anyhow::Result<Option<Finding>> {
    let Some(otel) = &session.config.otel else {
        return Ok(None);
    };
    let tried = match otel.with_headers() {
        Ok(settings) => settings.try_through(&*gateway_of(session)?).await,
        Err(error) => Err(error.to_string()),
    };
    Ok(Some(match tried {
        Ok(()) => Finding::Fine("telemetry reaches its collector".into()),
        Err(why) => Finding::Wrong(
            format!("telemetry does not reach its collector: {why}"),
            "check [otel] in the settings, and that the collector takes OTLP over HTTP there"
                .into(),
        ),
    }))
}

/// Returns the filters that the kernel has for this program.
fn filters() -> Option<Vec<String>> {
    let mut command = std::process::Command::new(phigate_gateway::documents::program().ok()?);
    let output = command
        .args(["extract", "--filters"])
        .env_clear()
        .output()
        .ok()?;
    let names = String::from_utf8(output.stdout)
        .ok()
        .filter(|_| output.status.success())?;
    Some(names.split_whitespace().map(str::to_owned).collect())
}

async fn store(session: &Session) -> Finding {
    let standbys = session.config.store.standbys;
    let confirmed = match standbys {
        0 => String::new(),
        _ => format!("; at least {standbys} standbys confirm each commit"),
    };
    match session.vault.health.ping().await {
        Ok(()) => Finding::Fine(format!(
            "the {} store answers and can be written{confirmed}",
            session.vault.engine()
        )),
        Err(error) => Finding::Wrong("the store cannot be written".into(), error.to_string()),
    }
}

/// Chains that lost records.
async fn chains(session: &Session) -> anyhow::Result<Option<Finding>> {
    let retired = session.vault.health.retired_chains().await?;
    let numbers: Vec<String> = retired.iter().map(i64::to_string).collect();
    Ok((!numbers.is_empty()).then(|| {
        Finding::Advice(
            format!(
                "audit chains that were rolled back by a failover and ended: {}",
                numbers.join(", ")
            ),
            "the alerts audit_rollback in `phigate audit export` name the requests whose records were lost; \
             store.standbys prevents such losses"
                .into(),
        )
    }))
}

/// Checks an account. `command` is this program for the account, for lines to paste.
async fn examine(
    session: &Session,
    command: &str,
    account: &AccountInfo,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let (name, now) = (&account.name, Timestamp::now());
    let mode = session.vault.accounts.mode(&account.id).await?.mode;
    findings.push(Finding::Fine(format!("account {name}: mode {mode}")));
    findings.extend(kinds(session, account).await?);
    if session.vault.people.users(&account.id).await?.is_empty() {
        let fix = format!(
            "make an owner with {command} user add EMAIL; while no account has one, each start of `phigate serve` also prints a link for the first account's"
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
    exports(session, command, account, findings).await?;
    providers(session, command, account, findings).await
}

/// The profile of an account, and the table of ZIP codes if addresses are generalized.
async fn kinds(session: &Session, account: &AccountInfo) -> anyhow::Result<Vec<Finding>> {
    let name = &account.name;
    let kinds = session.vault.accounts.kinds(&account.id).await?;
    let profile = profile_name(&kinds);
    let mut findings = vec![Finding::Fine(format!("account {name}: profile {profile}"))];
    let generalized = |one: &KindState| one.is_on && one.replace == Replace::Generalize;
    let states = kind_states(&kinds).into_iter().filter(generalized);
    let codes: Vec<&str> = states.map(|one| one.kind.code()).collect();
    if !codes.is_empty() {
        let hash = digest::digest(&digest::SHA256, ZIP_TABLE.text().as_bytes());
        let hash: String = hash
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        findings.push(Finding::Fine(format!(
            "account {name}: generalizes {} in mask mode; ZIP table of {} areas, SHA-256 {hash}, from {}",
            codes.join(", "),
            ZIP_TABLE.count(),
            ZIP_TABLE.source()
        )));
    }
    Ok(findings)
}

/// Exports that fail, wait or are paused.
async fn exports(
    session: &Session,
    command: &str,
    account: &AccountInfo,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let (name, exports) = (&account.name, &session.vault.exports);
    for info in exports.list(&account.id).await? {
        let state = exports.state(&account.id, &info.name).await?;
        let target = &info.name;
        let words = state_words(&info, &state);
        let subject = format!("account {name}: export {target} is {words}");
        let lag = format!(
            "{subject}, {} records and {} s behind",
            state.lag_records, state.lag_s
        );
        let fix = format!("{command} export-to test {target}");
        findings.push(if info.is_paused {
            Finding::Advice(lag, format!("{command} export-to resume {target}"))
        } else if state.problem.is_some() || state.lag_s > EXPORT_LAG_S {
            Finding::Wrong(lag, fix)
        } else if state.rejected > 0 {
            Finding::Advice(subject, fix)
        } else {
            Finding::Fine(subject)
        });
    }
    Ok(())
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
    let stored = session.vault.accounts.account(&account.id).await?;
    let gateway = gateway_of(session)?;
    // Asked concurrently, so that a slow provider delays only its own result.
    let asked = providers
        .iter()
        .map(|provider| ask(&gateway, &stored, &provider.name));
    let trials = join_all(asked).await;
    for (provider, trial) in providers.iter().zip(trials) {
        let provider_name = &provider.name;
        if provider.config.is_expired(Timestamp::now()) {
            findings.push(Finding::Wrong(
                format!("account {name}: the agreement with provider {provider_name} has ended, so no PHI goes there"),
                format!("{command} provider set {provider_name} --agreement-expires DATE"),
            ));
        }
        findings.push(judge(command, name, provider, &trial));
    }
    Ok(())
}

/// Asks a provider as `provider test` does. If only a model could be asked and none is named, its token or credentials
/// are requested, which shows the usual mistakes.
async fn ask(gateway: &Gateway, account: &Account, provider: &str) -> Trial {
    match gateway.try_provider(account, provider, None).await {
        Trial::NoModel => {
            let identity = gateway.try_identity(account, provider).await;
            identity
                .filter(|trial| !trial.works())
                .unwrap_or(Trial::NoModel)
        }
        trial => trial,
    }
}

fn judge(command: &str, account: &str, provider: &ProviderInfo, trial: &Trial) -> Finding {
    let (name, address) = (&provider.name, address(provider));
    let subject = format!(
        "account {account}: provider {name} at {address}, {}",
        secret_words(provider)
    );
    let (title, words) = trial.in_words();
    match trial {
        Trial::Works { took_ms } => Finding::Fine(format!(
            "{subject}: answered in {took_ms} ms and accepts our requests"
        )),
        Trial::NoModel => Finding::Advice(
            format!("{subject}: not asked, because only a model can be asked and none is named"),
            format!("{command} provider test {name} --model MODEL"),
        ),
        Trial::WrongAddress(why) => Finding::Wrong(
            format!("account {account}: the address of provider {name} is refused"),
            format!("{why}; set another with: {command} provider set {name} --base-url URL"),
        ),
        _ => Finding::Wrong(
            format!("{subject}: {title}"),
            format!("{words} Then: {command} provider test {name}"),
        ),
    }
}
