//! The engines, and which one an address means.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use crate::store::{Opening, Store};
use crate::{Result, StoreError, postgres, sqlite};

/// Location of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A folder on this machine.
    Folder(PathBuf),
    /// An address such as `postgres://…`; its scheme picks the engine.
    Url(String),
}

type Opened<'a> = Pin<Box<dyn Future<Output = Result<Arc<dyn Store>>> + Send + 'a>>;

/// An engine.
pub struct Backend {
    /// Name of the engine.
    pub name: &'static str,
    /// Schemes of the addresses that the engine opens.
    pub schemes: &'static [&'static str],
    open: for<'a> fn(&'a str, Opening) -> Opened<'a>,
}

/// Every engine.
pub static BACKENDS: &[Backend] = &[
    // Alphabetical, one row per folder.
    Backend {
        name: "postgres",
        schemes: &["postgres://", "postgresql://"],
        open: open_postgres,
    },
    Backend {
        name: "sqlite",
        schemes: &["sqlite://"],
        open: open_sqlite,
    },
];

impl Target {
    /// Opens the store, making it when asked to and missing.
    pub(crate) async fn open(&self, how: Opening) -> Result<Arc<dyn Store>> {
        let address = match self {
            Self::Folder(folder) => format!("sqlite://{}", folder.display()),
            Self::Url(url) => url.clone(),
        };
        for backend in BACKENDS {
            if backend
                .schemes
                .iter()
                .any(|scheme| address.starts_with(scheme))
            {
                return (backend.open)(&address, how).await;
            }
        }
        let known: Vec<&str> = BACKENDS
            .iter()
            .flat_map(|backend| backend.schemes)
            .copied()
            .collect();
        Err(StoreError::UnknownEngine(known.join(", ")))
    }

    /// The folder, if the store has one; the master key must lie outside it.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Url(url) => url.strip_prefix("sqlite://").map(Path::new),
        }
    }
}

fn open_sqlite(address: &str, how: Opening) -> Opened<'_> {
    Box::pin(async move {
        if how.standbys > 0 {
            return Err(StoreError::Invalid {
                what: "store.standbys",
                why: "the embedded store has no standbys; name a PostgreSQL database with --database-url, or set it to 0",
            });
        }
        let folder = PathBuf::from(address.trim_start_matches("sqlite://"));
        let opened = tokio::task::spawn_blocking(move || sqlite::Sqlite::open(&folder, how)).await;
        let store =
            opened.map_err(|_| StoreError::Unavailable("opening was cut short".to_owned()))??;
        Ok(Arc::new(store) as Arc<dyn Store>)
    })
}

fn open_postgres(address: &str, how: Opening) -> Opened<'_> {
    Box::pin(async move {
        let store = postgres::Postgres::open(address, how).await?;
        Ok(Arc::new(store) as Arc<dyn Store>)
    })
}
