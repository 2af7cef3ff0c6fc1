//! `phigate serve`: the gateway itself.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use phigate_edge::{Drain, EarlyLimiter, Observer, Ports, ServeError, Site, Threads};

use phigate_gateway::{Exporters, TelemetryExporter};

use super::admin;
use crate::app::{self, App, Role};
use crate::config::{Config, Flags, LogFormat};
use crate::hosts::Hosts;
use crate::{housekeeping, presidio, routes};

use super::instance::Instance;
use super::logs::{self, say};
use super::owner::{OwnerLink, owner_link};
use super::{EXIT_FAILURE, Global};

#[derive(Args)]
pub(super) struct Serve {
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Address for metrics; `off` to disable them [default: 127.0.0.1:9464]
    #[arg(long, value_name = "ADDR|off")]
    metrics_listen: Option<String>,
    /// Address for Presidio's interface; `off` to disable it [default: off]
    #[arg(long, value_name = "ADDR|off")]
    presidio_listen: Option<String>,
    /// The account that Presidio's interface acts for [default: the only one]
    #[arg(long, value_name = "NAME")]
    presidio_account: Option<String>,
    /// Allow providers on private addresses and over plain http
    #[arg(long)]
    allow_private_providers: bool,
    /// A proxy in front terminates TLS
    #[arg(long)]
    behind_tls_proxy: bool,
    /// Print no link for creating the first owner; `phigate user add` makes one as well
    #[arg(long)]
    no_setup_link: bool,
}

impl Serve {
    /// The options of this command and of every command.
    pub(super) fn flags(&self, global: &Global) -> Flags {
        Flags {
            listen: self.listen.clone(),
            metrics_listen: self.metrics_listen.clone(),
            presidio_listen: self.presidio_listen.clone(),
            presidio_account: self.presidio_account.clone(),
            allow_private_providers: self.allow_private_providers,
            behind_tls_proxy: self.behind_tls_proxy,
            ..global.flags()
        }
    }
}

pub(super) fn run(serve: &Serve, global: &Global) -> anyhow::Result<ExitCode> {
    let config = Config::load(serve.flags(global))?;
    let command = global.command();
    start(config, async |app| {
        let link = match serve.no_setup_link {
            true => None,
            false => owner_link(&app.vault, app.started).await?,
        };
        Ok(welcome(link, command, app.config.log.format))
    })
}

/// Prints the greeting once requests are accepted.
pub(super) type Greeting = Box<dyn FnOnce(&str)>;

/// Serves until stopped. `prepare` may fill the store first and returns the greeting.
pub(super) fn start(
    config: Config,
    prepare: impl AsyncFnOnce(&App) -> anyhow::Result<Greeting>,
) -> anyhow::Result<ExitCode> {
    let started = Timestamp::now();
    config.check_listening()?;
    // Huge pages would make the process larger by half: much of each stays unused.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    logs::start(&config.log);
    let format = config.log.format;
    // Callers have their own threads; this runtime does the remaining work. It outlives the store, whose connections
    // need the runtimes that opened them.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let threads = Arc::new(Threads::start()?);
    let served = runtime.block_on(async {
        let drain = Drain::on_signals().context("cannot listen for signals")?;
        // First, so that a start that fails creates nothing.
        let ports = Ports::bind(&config.edge()).await.map_err(advise)?;
        let _instance = Instance::claim(&config, ports.address()?)?;
        let vault = app::open_vault(&config, Role::Server).await?;
        let app = Arc::new(App::new(config, vault, drain, started)?);
        let result = match prepare(&app).await {
            Ok(greeting) => serve_app(ports, &app, &threads, greeting).await,
            Err(error) => Err(error),
        };
        app.gateway.record_refusals(true).await;
        let closed = app.vault.close(app::CLOSING).await;
        result?;
        Ok::<(), anyhow::Error>(closed?)
    });
    // The remaining tasks were asked to stop, and their time is over.
    threads.stop();
    runtime.shutdown_background();
    match served {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if format == LogFormat::Json => {
            tracing::error!("phigate: {error:#}");
            Ok(ExitCode::from(EXIT_FAILURE))
        }
        Err(error) => Err(error),
    }
}

/// Adds a fix to an error about an address.
fn advise(error: ServeError) -> anyhow::Error {
    let ServeError::Listen {
        setting, reason, ..
    } = &error
    else {
        return error.into();
    };
    let option = setting.replace('_', "-");
    let other = format!("choose another with --{option} 127.0.0.1:PORT");
    let advice = match reason {
        ErrorKind::AddrInUse if *setting != "listen" => format!(
            "another program uses it, perhaps another phigate; {other}, or turn it off with --{option} off"
        ),
        ErrorKind::AddrInUse => {
            format!("another program uses it, perhaps another phigate; stop it, or {other}")
        }
        ErrorKind::AddrNotAvailable => format!("this machine does not have the address; {other}"),
        ErrorKind::PermissionDenied => {
            format!("ports below 1024 need privileges; {other}")
        }
        _ => other,
    };
    anyhow::anyhow!("{error}: {advice}")
}

async fn serve_app(
    ports: Ports,
    app: &Arc<App>,
    threads: &Arc<Threads>,
    greeting: Greeting,
) -> anyhow::Result<()> {
    let (pages, missing_page) = phigate_dashboard::dashboard(app.for_pages());
    let pages = Hosts::of(&app.config).guard(pages);
    let router = routes::router(Arc::clone(app))
        .merge(admin::router(Arc::clone(app)))
        .merge(pages);
    housekeeping::start(app);
    let gateway = Arc::clone(&app.gateway);
    let exporters = Exporters::new(gateway, app.config.checkpoint.every).run();
    let exporters = tokio::spawn(exporters);
    let telemetry = start_telemetry(app)?;
    let scheme = if app.config.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let on_listening = |address: SocketAddr| {
        greeting(&for_browsers(&app.config, scheme, address));
        // Last, so that a script that waits for this line finds the rest printed.
        println!("listening on {scheme}://{address}");
    };
    let presidio = presidio_site(app, ports.presidio_address()).await?;
    let site = Site {
        router,
        missing_page,
        error_format: routes::error_format,
        metrics: app.metrics.router(),
        presidio,
        early_limiter: Arc::clone(&app.gateway) as Arc<dyn EarlyLimiter>,
        observer: Arc::clone(&app.metrics) as Arc<dyn Observer>,
    };
    let drain = app.drain.clone();
    let edge = app.config.edge();
    let served = phigate_edge::serve(ports, &edge, site, threads, drain, on_listening).await;
    // Exporters end with the drain, in bounded time, and free their exports while the store is open.
    app.drain.start();
    let _ = exporters.await;
    // Last, when every request has ended.
    if let Some(telemetry) = telemetry {
        telemetry.finish().await;
    }
    served?;
    Ok(())
}

/// Starts to trace and measure for the operator's collector, if there is one.
fn start_telemetry(app: &App) -> anyhow::Result<Option<TelemetryExporter>> {
    let Some(settings) = &app.config.otel else {
        return Ok(None);
    };
    Ok(app.gateway.begin_telemetry(settings.with_headers()?))
}

/// Presidio's interface for its account; an empty router if it is disabled.
async fn presidio_site(
    app: &Arc<App>,
    address: Option<SocketAddr>,
) -> anyhow::Result<axum::Router> {
    let Some(address) = address else {
        return Ok(axum::Router::new());
    };
    let name = app.config.presidio_account.as_deref();
    let account = app.vault.accounts.find_account(name).await;
    let account = account.context("cannot serve Presidio's interface (--presidio-account)")?;
    tracing::info!("Presidio's interface on {address}, without keys, for one account");
    Ok(Hosts::of(&app.config).guard(presidio::router(Arc::clone(app), account.id)))
}

/// The dashboard's URL for browsers, as far as this process knows it.
fn for_browsers(config: &Config, scheme: &str, address: SocketAddr) -> String {
    let name = config
        .public_hosts
        .first()
        .map_or("YOUR-ADDRESS", String::as_str);
    if config.behind_tls_proxy {
        format!("https://{name}")
    } else if address.ip().is_unspecified() {
        format!("{scheme}://{name}:{}", address.port())
    } else {
        format!("{scheme}://{address}")
    }
}

/// Greeting for the operator: a link for the first owner, or the address of the dashboard once there is an owner.
fn welcome(link: Option<OwnerLink>, command: String, format: LogFormat) -> Greeting {
    Box::new(move |base| match link {
        None => say(format, &[format!("dashboard: {base}/")]),
        Some(link) => {
            for line in invitation(base, &link, &command, format) {
                eprintln!("{line}");
            }
        }
    })
}

/// Lines of the link, never log events: later readers of the logs must not find it among them. A single line if logs
/// are written for programs.
fn invitation(base: &str, link: &OwnerLink, command: &str, format: LogFormat) -> Vec<String> {
    let (account, token) = (&link.account, link.token.expose());
    if format == LogFormat::Json {
        return vec![format!(
            "There is no owner yet. Create the login of account {account}'s owner: {base}/setup/{token}"
        )];
    }
    vec![
        String::new(),
        format!(
            "Welcome to phigate. There is no owner yet. Create the login of account {account}'s owner with this link:"
        ),
        String::new(),
        format!("    {base}/setup/{token}"),
        String::new(),
        "It works once, for 24 hours; each start prints a new one until there is an owner.".into(),
        "The dashboard guides you from there. Without it:".into(),
        format!("    {command} provider set openai --key-stdin    # then paste the provider's key"),
        format!(
            "    {command} key create                         # prints a key for your software"
        ),
        String::new(),
    ]
}
