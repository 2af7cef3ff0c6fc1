//! The command line: one file per command.
//!
//! Exit codes: 0 success, 1 a negative result, 2 wrong usage or failure.

mod account;
mod admin;
mod admin_key;
mod advice;
mod alert;
mod allow;
mod apply;
mod audit;
mod completions;
mod confirm;
mod demo;
mod detection;
mod doctor;
mod documents;
mod drill;
mod eval;
mod export_to;
mod extract;
mod fallback;
mod healthy;
mod instance;
mod jwt;
mod key;
mod kind;
mod log_lines;
mod logs;
mod man;
mod master_key;
mod mode;
mod openapi;
mod owner;
mod person;
mod policy;
mod profile;
mod progress;
mod provider;
mod recognizer;
mod replies;
mod report;
mod restore;
mod reveals;
mod roster;
mod scan;
mod secrets;
mod serve;
mod settings;
mod sso;
mod store;
mod table;
mod transfer;
mod user;
mod words;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::config::Flags;

pub(crate) use confirm::NeedsReason;
pub(crate) use export_to::rows as export_rows;
pub(crate) use settings::stored as stored_settings;
pub(crate) use store::{Made, Session};

/// Negative result: PHI found with `scan --check`, verification failed.
pub(crate) const EXIT_NO: u8 = 1;
/// Wrong usage or failure.
const EXIT_FAILURE: u8 = 2;

#[derive(Parser)]
#[command(
    name = "phigate",
    version,
    about = "Keeps protected health information out of language models"
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Options that every command takes, before or after its name.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "For every command")]
pub(crate) struct Global {
    /// Folder of the embedded store [default: ./phigate-data, of the demo ./phigate-demo]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// PostgreSQL instead of the embedded store
    #[arg(long, global = true, value_name = "URL", hide_env_values = true)]
    database_url: Option<String>,
    /// File with the master key [default: beside the data folder]
    #[arg(long, global = true, value_name = "FILE")]
    master_key_file: Option<PathBuf>,
    /// Settings file [default: ./phigate.toml when it exists]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Account to act on [default: the only one]
    #[arg(long, global = true, value_name = "NAME")]
    account: Option<String>,
}

impl Global {
    fn flags(&self) -> Flags {
        Flags {
            config: self.config.clone(),
            data: self.data.clone(),
            database_url: self.database_url.clone(),
            master_key_file: self.master_key_file.clone(),
            ..Flags::default()
        }
    }

    /// The command line of this program with the same options, for lines to paste. It must not depend on the search
    /// path or the default data folder.
    fn command(&self) -> String {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        // A database's address may hold a password.
        let url = self.database_url.as_ref().map(|_| "URL".to_owned());
        let options = [
            ("--data", path(&self.data)),
            ("--database-url", url),
            ("--master-key-file", path(&self.master_key_file)),
            ("--config", path(&self.config)),
            ("--account", self.account.clone()),
        ];
        let called = std::env::args().next().filter(|called| !called.is_empty());
        let mut words = vec![quoted(&called.unwrap_or("phigate".into()))];
        for (name, value) in options {
            words.extend(value.map(|value| format!("{name} {}", quoted(&value))));
        }
        words.join(" ")
    }

    /// The command line of this program with the same options for one account.
    fn command_for(&self, account: &str) -> String {
        let account = Some(account.to_owned());
        let global = self.clone();
        Self { account, ..global }.command()
    }
}

/// A word in the shell's quotes, if it needs them.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    if word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[derive(Subcommand)]
enum Command {
    /// Start the gateway
    Serve(serve::Serve),
    /// Start the gateway with simulated providers and a ready account; without --data its data are in ./phigate-demo
    Demo(demo::Demo),
    /// Create, list and delete accounts
    #[command(subcommand)]
    Account(account::Account),
    /// Add, list and remove people who may log in
    #[command(subcommand)]
    User(user::Users),
    /// Create, list, revoke and rotate API keys
    #[command(subcommand, visible_alias = "keys")]
    Key(key::Key),
    /// Let the tokens of an issuer act as an API key
    #[command(subcommand)]
    Jwt(jwt::Jwt),
    /// Let people sign in to the dashboard with an identity provider
    #[command(subcommand)]
    Sso(sso::Sso),
    /// Create, list and revoke keys of the admin API
    #[command(subcommand)]
    AdminKey(admin_key::AdminKey),
    /// Change the master key, which wraps all other keys, without downtime
    #[command(subcommand)]
    MasterKey(master_key::MasterKey),
    /// Set, list, show, test and remove model providers
    #[command(subcommand)]
    Provider(provider::Provider),
    /// Set which models are asked when a model's providers fail
    #[command(subcommand)]
    Fallback(fallback::Fallback),
    /// Show or set the PHI handling mode
    Mode(mode::ModeArgs),
    /// Show or set which kinds of PHI are looked for, by the name of a profile
    Profile(profile::ProfileArgs),
    /// List the kinds of PHI, and switch each
    #[command(subcommand)]
    Kind(kind::Kind),
    /// Show, set and try the treatment of each kind of PHI, for the account, its groups of keys and its keys
    #[command(subcommand)]
    Policy(policy::Policy),
    /// Add, list and remove values that do not count as PHI
    #[command(subcommand)]
    Allow(allow::Allow),
    /// Add, list, test and remove kinds of PHI that you define
    #[command(subcommand)]
    Recognizer(recognizer::Recognizer),
    /// Import, list and remove lists of patients, kept as keyed codes
    #[command(subcommand)]
    Roster(roster::Roster),
    /// Show or set any setting of the account
    Settings(settings::SettingsArgs),
    /// Set everything that a file says of an account, all of it or nothing
    Apply(apply::Apply),
    /// Print what a file would change; exits with 1 if it would change something
    Diff(apply::Diff),
    /// Print the account as a file for `apply`, without secrets
    Dump,
    /// Show or set whether masked values are restored in replies
    Restore(restore::RestoreArgs),
    /// Show or set the handling of PHI in replies
    Replies(replies::RepliesArgs),
    /// Show or set the handling of documents inside requests
    Documents(documents::DocumentsArgs),
    /// Show or set how far scans go
    Detection(detection::DetectionArgs),
    /// Find PHI in files or standard input; works offline
    Scan(scan::Scan),
    /// Score the detector on labelled text
    Eval(eval::Eval),
    /// Read, export, verify and reveal the audit trail
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Set whether revealing content takes a second person, and list the requests that wait for one
    #[command(subcommand)]
    Reveals(reveals::Reveals),
    /// List alerts, and acknowledge them
    #[command(subcommand, name = "alert")]
    Alert(alert::AlertCommand),
    /// Send records to a SIEM, a webhook, a collector, a bucket or a file, as they are written
    #[command(subcommand)]
    ExportTo(export_to::ExportTo),
    /// Make a signed report for people outside: an HTML page to print, CSV or JSON on standard output; never content
    #[command(subcommand)]
    Report(report::Report),
    /// Write the whole installation to a file, to move it to another store; nothing in it is readable without the master key
    Export(transfer::To),
    /// Fill an empty store from a file that `export` wrote, and verify its chains
    Import(transfer::From),
    /// Copy an embedded store to a file while it is in use
    Backup(transfer::To),
    /// Restore the newest backup into a scratch folder, verify it, and say how long it took; this is recorded
    Drill(drill::Drill),
    /// Check configuration, store, keys and providers, and print a fix for each problem
    Doctor(doctor::Doctor),
    /// Ask the gateway of this machine whether it can serve; exit with 1 if not
    Healthy,
    /// Print the OpenAPI description of the interface
    Openapi,
    /// Print completions of commands and options for a shell
    Completions(completions::Completions),
    /// Print the manual page, or write that of every command
    Man(man::ManArgs),
    /// Read one document from standard input, confined; the gateway starts this itself
    #[command(hide = true)]
    Extract(extract::Extract),
}

/// Runs the command that the process was started with.
pub(crate) fn main() -> ExitCode {
    phigate_edge::quiet_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { EXIT_FAILURE } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let Some(command) = cli.command else {
        let _ = Cli::command().print_help();
        return ExitCode::SUCCESS;
    };
    end_quietly_on_a_closed_pipe();
    // The panic hook has already logged the location of a panic.
    match std::panic::catch_unwind(AssertUnwindSafe(|| run(command, &cli.global))) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("phigate: {error:#}");
            if let Some(advice) = advice::advice(&error) {
                eprintln!("{advice}");
            }
            ExitCode::from(EXIT_FAILURE)
        }
        Err(_) => ExitCode::from(EXIT_FAILURE),
    }
}

/// Whether an error is a closed pipe. Commands with long output write to standard output directly and get this error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Exits without an error when a reader closes the output early, as in `phigate key list | head -n 1`. The standard
/// library panics in this case, so a panic hook recognises the message and ends the process. Servers set their own
/// hook.
fn end_quietly_on_a_closed_pipe() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>();
        if message.is_some_and(|text| text.starts_with("failed printing to stdout")) {
            std::process::exit(0);
        }
        usual(panic);
    }));
}

/// The command line's own description, from which the admin API takes the options of its calls.
pub(crate) fn described() -> clap::Command {
    Cli::command()
}

/// A command that was parsed for a call of the admin API.
pub(crate) struct Parsed(Command);

/// Parses words like those of the command line.
pub(crate) fn parse(words: &[String]) -> Result<Parsed, clap::Error> {
    let cli = Cli::try_parse_from(words)?;
    let none = || Cli::command().error(ErrorKind::MissingSubcommand, "");
    cli.command.map(Parsed).ok_or_else(none)
}

/// Runs a command in the session of a call of the admin API.
pub(crate) async fn act(Parsed(command): Parsed, session: &Session) -> anyhow::Result<()> {
    match command {
        Command::Account(account) => account::act(account, session).await,
        Command::User(user) => user::act(user, session).await,
        Command::Key(key) => key::act(key, session).await,
        Command::Jwt(jwt) => jwt::act(jwt, session).await,
        Command::Sso(sso) => sso::act(sso, session).await,
        Command::AdminKey(key) => admin_key::act(key, session).await,
        Command::Provider(provider) => provider::act(provider, session).await,
        Command::Fallback(fallback) => fallback::act(fallback, session).await,
        Command::Kind(kind) => kind::act(&kind, session).await,
        Command::Policy(policy) => policy::act(&policy, session).await,
        Command::Profile(profile) => profile::act(&profile, session).await,
        Command::Allow(allow) => allow::act(allow, session).await,
        Command::Settings(settings) => settings::act(&settings, session).await,
        Command::ExportTo(command) => export_to::act(command, session).await,
        _ => anyhow::bail!("the admin API has no call for this command"),
    }?;
    Ok(())
}

fn run(command: Command, global: &Global) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve(serve) => serve::run(&serve, global),
        Command::Demo(demo) => demo::run(&demo, global),
        Command::Account(account) => account::run(account, global),
        Command::User(user) => user::run(user, global),
        Command::Key(key) => key::run(key, global),
        Command::Jwt(jwt) => jwt::run(jwt, global),
        Command::Sso(sso) => sso::run(sso, global),
        Command::AdminKey(key) => admin_key::run(key, global),
        Command::MasterKey(master_key) => master_key::run(&master_key, global),
        Command::Provider(provider) => provider::run(provider, global),
        Command::Fallback(fallback) => fallback::run(fallback, global),
        Command::Mode(mode) => mode::run(&mode, global),
        Command::Profile(profile) => profile::run(&profile, global),
        Command::Kind(kind) => kind::run(&kind, global),
        Command::Policy(policy) => policy::run(&policy, global),
        Command::Allow(allow) => allow::run(allow, global),
        Command::Recognizer(recognizer) => recognizer::run(&recognizer, global),
        Command::Roster(roster) => roster::run(&roster, global),
        Command::Settings(settings) => settings::run(&settings, global),
        Command::Apply(apply) => apply::apply(&apply, global),
        Command::Diff(diff) => apply::diff(&diff, global),
        Command::Dump => apply::dump(global),
        Command::Restore(restore) => restore::run(&restore, global),
        Command::Replies(replies) => replies::run(&replies, global),
        Command::Documents(documents) => documents::run(&documents, global),
        Command::Detection(detection) => detection::run(&detection, global),
        Command::Scan(scan) => scan::run(&scan),
        Command::Eval(eval) => eval::run(&eval),
        Command::Audit(audit) => audit::run(audit, global),
        Command::Reveals(reveals) => reveals::run(&reveals, global),
        Command::Alert(command) => alert::run(command, global),
        Command::ExportTo(command) => export_to::run(command, global),
        Command::Report(report) => report::run(report, global),
        Command::Export(to) => transfer::export(&to, global),
        Command::Import(from) => transfer::import(&from, global),
        Command::Backup(to) => transfer::backup(&to, global),
        Command::Drill(drill) => drill::run(&drill, global),
        Command::Doctor(doctor) => doctor::run(&doctor, global),
        Command::Healthy => healthy::run(global),
        Command::Openapi => openapi::run(),
        Command::Completions(completions) => completions::run(&completions),
        Command::Man(man) => man::run(&man),
        Command::Extract(extract) => extract::run(&extract),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_command_keeps_options_without_secrets() {
        let global = Global {
            data: Some("my data".into()),
            database_url: Some("postgres://phigate:secret@db.example/phigate".into()),
            ..Global::default()
        };
        let command = global.command_for("north");
        assert!(
            command.ends_with(" --data 'my data' --database-url URL --account north"),
            "{command}"
        );
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
