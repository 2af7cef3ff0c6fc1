//! `phigate serve`: the gateway itself.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use phigate_store::SecretString;

use crate::app::{self, App, Role};
use crate::config::{Config, Flags};
use crate::metrics::Metrics;
use crate::server::{self, Drain};
use crate::{dashboard, housekeeping, routes};

use super::Global;
use super::instance::Instance;
use super::logs;
use super::owner::owner_link;

#[derive(Args)]
pub(super) struct Serve {
    /// Where callers connect [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Where metrics are read; `off` for nowhere [default: 127.0.0.1:9464]
    #[arg(long, value_name = "ADDR|off")]
    metrics_listen: Option<String>,
    /// Let providers be on private addresses and plain http
    #[arg(long)]
    allow_private_providers: bool,
    /// A proxy in front ends TLS
    #[arg(long)]
    behind_tls_proxy: bool,
}

impl Serve {
    /// What the command line says, together with the options every command takes.
    pub(super) fn flags(&self, global: &Global) -> Flags {
        Flags {
            listen: self.listen.clone(),
            metrics_listen: self.metrics_listen.clone(),
            allow_private_providers: self.allow_private_providers,
            behind_tls_proxy: self.behind_tls_proxy,
            ..global.flags()
        }
    }
}

pub(super) fn run(serve: &Serve, global: &Global) -> anyhow::Result<ExitCode> {
    let config = Config::load(serve.flags(global))?;
    start(config, &global.command(), async |_| Ok(None))
}

/// What to print once requests are accepted.
pub(super) type Greeting = Box<dyn FnOnce(&str)>;

/// Serves until stopped. `command` is this program, for lines to paste; `prepare` may fill the store first and say what
/// to print.
pub(super) fn start(
    config: Config,
    command: &str,
    prepare: impl AsyncFnOnce(&App) -> anyhow::Result<Option<Greeting>>,
) -> anyhow::Result<ExitCode> {
    logs::start(&config.log);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let drain = Drain::on_signals().context("cannot listen for signals")?;
        let vault = app::open_vault(&config, Role::Server).await?;
        let app = Arc::new(App::new(config, vault, Metrics::new(), drain)?);
        let greeting = prepare(&app).await?;
        let result = serve_app(&app, command, greeting).await;
        let closed = app.vault.close(app::CLOSING).await;
        result?;
        Ok::<(), anyhow::Error>(closed?)
    });
    // Whatever still runs has been told to stop; its time is over.
    runtime.shutdown_background();
    served?;
    Ok(ExitCode::SUCCESS)
}

async fn serve_app(
    app: &Arc<App>,
    command: &str,
    greeting: Option<Greeting>,
) -> anyhow::Result<()> {
    let router = routes::router(Arc::clone(app)).merge(dashboard::router(Arc::clone(app)));
    housekeeping::start(app);
    let greeting = match greeting {
        Some(greeting) => greeting,
        None => welcome(owner_link(&app.vault).await?, command.to_owned()),
    };
    let scheme = if app.config.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let on_listening = |address: SocketAddr| {
        greeting(&for_browsers(&app.config, scheme, address));
        // Last, so that whoever waits for this line finds the rest already said.
        println!("listening on {scheme}://{address}");
    };
    let metrics = Arc::clone(&app.metrics);
    server::serve(
        &app.config,
        router,
        dashboard::missing_page(Arc::clone(app)),
        metrics,
        app.drain.clone(),
        on_listening,
    )
    .await?;
    Ok(())
}

/// Where browsers find the dashboard, as far as this process can know.
fn for_browsers(config: &Config, scheme: &str, address: SocketAddr) -> String {
    if config.behind_tls_proxy {
        "https://YOUR-ADDRESS".to_owned()
    } else if address.ip().is_unspecified() {
        format!("{scheme}://YOUR-ADDRESS:{}", address.port())
    } else {
        format!("{scheme}://{address}")
    }
}

/// What the operator is told: how to become the owner while there is none, later only where the dashboard is.
fn welcome(link: Option<SecretString>, command: String) -> Greeting {
    Box::new(move |base| match link {
        None => eprintln!("dashboard: {base}/"),
        Some(link) => invite(base, link.expose(), &command),
    })
}

fn invite(base: &str, token: &str, command: &str) {
    eprintln!();
    eprintln!(
        "Welcome to phigate. There is no owner yet. Create the owner's login with this link:"
    );
    eprintln!();
    eprintln!("    {base}/setup/{token}");
    eprintln!();
    eprintln!("It works once, for 24 hours; each start prints a new one until there is an owner.");
    eprintln!("The dashboard leads on from there. Without it:");
    eprintln!("    {command} provider set openai --key-stdin    # then paste the provider's key");
    eprintln!("    {command} key create                         # prints a key for your software");
    eprintln!();
}
