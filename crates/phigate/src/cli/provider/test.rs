//! `phigate provider test`: asks the provider, and describes a failure.

use std::process::ExitCode;
use std::sync::Arc;

use phigate_edge::Drain;
use phigate_gateway::{Gateway, Metrics, ProviderSettings};

use super::find;
use crate::cli::EXIT_NO;
use crate::cli::store::Session;

pub(super) async fn run(
    session: &Session,
    name: &str,
    model: Option<&str>,
) -> anyhow::Result<ExitCode> {
    let info = session.account().await?;
    find(session, &info.id, name).await?;
    let gateway = gateway_of(session)?;
    let account = session.vault.accounts.account(&info.id).await?;
    let trial = gateway.try_provider(&account, name, model).await;
    let (title, words) = trial.in_words();
    if trial.works() {
        println!("{name}: {title}. {words}");
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{name}: {title}. {words}");
    Ok(ExitCode::from(EXIT_NO))
}

/// A gateway without a listener, for trials of providers.
pub(in crate::cli) fn gateway_of(session: &Session) -> anyhow::Result<Arc<Gateway>> {
    let (config, rules) = (&session.config, session.setup_rules());
    let settings = ProviderSettings {
        allow_private: rules.allow_private,
        allow_ambient: rules.allow_ambient,
        ca_file: config.provider_ca_file.as_deref(),
    };
    let vault = Arc::clone(&session.vault);
    let (metrics, drain) = (Metrics::new(), Drain::default());
    Ok(Gateway::new(
        &config.limits,
        settings,
        vault,
        metrics,
        drain,
    )?)
}
