//! Pages on which an owner runs the account and an auditor reads the audit log.
//!
//! `routes` lists every route with who may use it; `access` enforces that in one place; `pages` has one file per page.
//! Pages are drawn on the server from compile-time templates, and work without script but for live updates.
//!
//! What the pages can reach is [`Server`]: accounts, people and the trail by their handles, providers through the gateway.
//! The server's settings, the vault with its backups and keys, and the process itself are not among it:
//!
//! ```compile_fail
//! # use phigate_dashboard::Server;
//! async fn close(server: &Server) {
//!     server.vault.close(std::time::Duration::ZERO).await.ok();
//! }
//! ```

mod access;
mod assets;
mod chart;
mod clients;
mod cookies;
mod fields;
mod latency;
mod layout;
mod message;
mod pages;
mod qr;
mod routes;
mod totp;
mod view;
mod visit;

#[cfg(test)]
mod tests;

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use http::HeaderMap;

use layout::Navigation;
use pages::trials::Trials;
use pages::verify::Verified;
use phigate_edge::MissingPage;
use phigate_gateway::{Gateway, Metrics};
use phigate_store::{
    Access, Accounts, AdminKeys, Alerts, AllowLists, Exports, Figures, Health, Issuers, Links,
    People, RecognizerLists, Reports, Reveals, RosterLists, Sessions, SignOn, Trail, Vault,
    Verifications,
};
use phigate_types::Limits;

/// Parts of a server that the pages get.
pub struct Server {
    /// The subjects of the store that pages are about.
    pub vault: Subjects,
    /// The one way to detectors and providers.
    pub gateway: Arc<Gateway>,
    /// Counters of the gateway.
    pub metrics: Arc<Metrics>,
    /// Limits set by the operator.
    pub limits: Limits,
    /// Files in which the server keeps copies of its checkpoints.
    pub checkpoint_files: Vec<PathBuf>,
    /// Whether browsers reach us over TLS, ours or a proxy's.
    pub is_secure: bool,
}

/// The handles of a vault that pages use.
pub struct Subjects {
    accounts: Accounts,
    allow_lists: AllowLists,
    recognizers: RecognizerLists,
    rosters: RosterLists,
    people: People,
    sessions: Sessions,
    links: Links,
    sign_on: SignOn,
    access: Access,
    admin_keys: AdminKeys,
    issuers: Issuers,
    trail: Trail,
    reveals: Reveals,
    exports: Exports,
    figures: Figures,
    health: Health,
    reports: Reports,
    alerts: Alerts,
    verifications: Verifications,
}

impl From<&Vault> for Subjects {
    fn from(vault: &Vault) -> Self {
        Self {
            accounts: vault.accounts.clone(),
            allow_lists: vault.allow_lists.clone(),
            recognizers: vault.recognizers.clone(),
            rosters: vault.rosters.clone(),
            people: vault.people.clone(),
            sessions: vault.sessions.clone(),
            links: vault.links.clone(),
            sign_on: vault.sign_on.clone(),
            access: vault.access.clone(),
            admin_keys: vault.admin_keys.clone(),
            issuers: vault.issuers.clone(),
            trail: vault.trail.clone(),
            reveals: vault.reveals.clone(),
            exports: vault.exports.clone(),
            figures: vault.figures.clone(),
            health: vault.health.clone(),
            reports: vault.reports.clone(),
            alerts: vault.alerts.clone(),
            verifications: vault.verifications.clone(),
        }
    }
}

/// Returns the dashboard's routes, and the page for an address without a route.
pub fn dashboard(server: Server) -> (Router, MissingPage) {
    let dash = Dash::new(server);
    let router = routes::router(&dash);
    let missing: MissingPage = Arc::new(move |headers: HeaderMap| {
        let dash = dash.clone();
        Box::pin(async move { access::missing(&dash, &headers).await })
    });
    (router, missing)
}

/// State that the pages share.
#[derive(Clone)]
pub(crate) struct Dash(Arc<Shared>);

/// The server, and what only the pages remember.
pub(crate) struct Shared {
    server: Server,
    pub(crate) verified: Verified,
    pub(crate) trials: Trials,
    /// Pages that each role may open.
    navigation: &'static Navigation,
}

impl Dash {
    fn new(server: Server) -> Self {
        Self(Arc::new(Shared {
            server,
            verified: Verified::default(),
            trials: Trials::default(),
            navigation: &routes::NAVIGATION,
        }))
    }
}

impl Deref for Shared {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Deref for Dash {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
