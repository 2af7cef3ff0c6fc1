//! The pages where an owner runs the account and an auditor reads the audit log.
//!
//! [`routes`] lists every route with who may use it; `access` enforces that in one place; `pages` has one file per page.
//! Pages are drawn on the server from compile-time templates, and work without script but for live updates.

mod access;
mod assets;
mod chart;
mod chrome;
mod cookies;
mod fields;
mod latency;
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
use std::sync::Arc;

use axum::Router;
use http::HeaderMap;

use crate::app::App;
use pages::trials::Trials;
use pages::verify::Verified;
use phigate_edge::MissingPage;
use visit::Navigation;

/// The dashboard's routes.
pub(crate) fn router(app: Arc<App>) -> Router {
    routes::router(&Dash::new(app))
}

/// What a person sees at an address where there is nothing.
pub(crate) fn missing_page(app: Arc<App>) -> MissingPage {
    let dash = Dash::new(app);
    Arc::new(move |headers: HeaderMap| {
        let dash = dash.clone();
        Box::pin(async move { access::missing(&dash, &headers).await })
    })
}

/// What the pages share.
#[derive(Clone)]
pub(crate) struct Dash(Arc<Shared>);

/// The gateway, and what only the pages remember.
pub(crate) struct Shared {
    pub(crate) app: Arc<App>,
    /// Whether browsers reach us over TLS, ours or a proxy's.
    pub(crate) is_secure: bool,
    pub(crate) verified: Verified,
    pub(crate) trials: Trials,
    /// The navigation for a role; the second word is the page it stands on.
    navigation: Navigation,
}

impl Dash {
    fn new(app: Arc<App>) -> Self {
        Self(Arc::new(Shared {
            is_secure: app.config.tls.is_some() || app.config.behind_tls_proxy,
            app,
            verified: Verified::default(),
            trials: Trials::default(),
            navigation: routes::navigation,
        }))
    }
}

impl Deref for Dash {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
