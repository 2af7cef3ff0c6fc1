//! [`Vault`]: the interface for the gateway, the command line and the dashboard, with a handle for each subject.

use std::io::BufRead;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use phigate_verify::Report;
use uuid::Uuid;

use crate::access::{Access, AdminKeys, Issuers};
use crate::accounts::{Accounts, AllowLists, RecognizerLists, RosterLists};
use crate::alerts::Alerts;
use crate::backend::Target;
use crate::core::Core;
use crate::exports::Exports;
use crate::health::Health;
use crate::installation::{self, Installation};
use crate::keys::keyring::Keyring;
use crate::keys::master::MasterKeySource;
use crate::model::RosterCache;
use crate::people::{Links, People, Sessions, SignOn};
use crate::store::Opening;
use crate::trail::{Expiry, Figures, Reports, Reveals, SealedReplies, Trail, Verifications};
use crate::writer::Writer;
use crate::writer::queue::{Bounds, Queue};
use crate::writer::thread::Running;
use crate::{Clock, Result, StoreError};

/// Options for opening a vault. Start from [`Options::new`] and change what differs.
#[derive(Clone)]
pub struct Options {
    /// Location of the store.
    pub target: Target,
    /// Source of the master key.
    pub master_key: MasterKeySource,
    /// Create the store (and the key file) if it does not exist.
    pub create: bool,
    /// Behave as a server: keep a lease, and record the requests of ended processes as interrupted.
    pub serve: bool,
    /// Source of the time.
    pub clock: Clock,
    /// Most records that may wait to be written.
    pub queue_records: usize,
    /// Most bytes of sealed content that may wait to be written.
    pub queue_bytes: usize,
    /// Makes every commit of SQLite take this much longer, as a slower disk does. For tests and
    /// measurements.
    pub sync_delay: Duration,
    /// Timeout of a request's check for changed settings. The record has the caller's timeout.
    pub decision_limit: Duration,
    /// Standbys of PostgreSQL that must confirm each commit; with fewer the store counts as unavailable.
    pub standbys: u32,
    /// Failed logins that cost nothing; after these the wait doubles with each further one.
    pub login_failures: u32,
}

impl Options {
    /// The defaults for a store and a key: created when missing, not serving.
    pub fn new(target: Target, master_key: MasterKeySource) -> Self {
        Self {
            target,
            master_key,
            create: true,
            serve: false,
            clock: Arc::new(jiff::Timestamp::now),
            queue_records: 8_192,
            queue_bytes: 128 << 20,
            sync_delay: Duration::ZERO,
            decision_limit: Duration::from_secs(2),
            standbys: 0,
            login_failures: 5,
        }
    }
}

impl Options {
    pub(crate) fn opening(&self) -> Opening {
        Opening {
            create: self.create,
            sync_delay: self.sync_delay,
            decision_limit: self.decision_limit,
            standbys: self.standbys,
        }
    }
}

/// An open store with its keys and its writer. Share it in an `Arc`; end with [`Vault::close`].
pub struct Vault {
    /// Accounts, their modes, settings and aliases.
    pub accounts: Accounts,
    /// Allow lists of accounts.
    pub allow_lists: AllowLists,
    /// Recognizers of accounts.
    pub recognizers: RecognizerLists,
    /// Rosters of accounts.
    pub rosters: RosterLists,
    /// Users: logins, passwords, second factors.
    pub people: People,
    /// Sessions of the dashboard.
    pub sessions: Sessions,
    /// Single sign-on: identity providers of accounts, and the people who come from them.
    pub sign_on: SignOn,
    /// One-time links: the first owner, invitations.
    pub links: Links,
    /// API keys, providers, admission.
    pub access: Access,
    /// Keys of the admin API.
    pub admin_keys: AdminKeys,
    /// Issuers whose tokens act as API keys.
    pub issuers: Issuers,
    /// The audit trail: writing, reading, proving.
    pub trail: Trail,
    /// Requests to reveal content, where it takes two people.
    pub reveals: Reveals,
    /// Reports about accounts.
    pub reports: Reports,
    /// Outcomes with the provider's text.
    pub replies: SealedReplies,
    /// Deletion of expired records and content.
    pub expiry: Expiry,
    /// Targets outside the installation, and their progress.
    pub exports: Exports,
    /// Alerts: what a person should look at.
    pub alerts: Alerts,
    /// Verifications of the trail, with their history.
    pub verifications: Verifications,
    /// Figures of the trail.
    pub figures: Figures,
    /// Whether the store can be used now.
    pub health: Health,
    /// Backups, moves to another engine, the master key.
    pub installation: Installation,
    core: Arc<Core>,
    running: Running,
    created: bool,
}

impl Vault {
    /// Opens a store, making folder, schema, keys and the account `default` when it is new.
    ///
    /// Refuses a wrong, missing or badly kept master key, a newer schema, weak durability, and (as a server) rows that
    /// are not as they were written. Works while other processes have the same store open. Needs a tokio runtime.
    pub async fn open(options: Options) -> Result<Self> {
        let (core, created) = open_core(&options).await?;
        let running = Running::start(core.writer.clone())?;
        let trail = Trail::new(core.clone());
        let people = People::new(core.clone(), options.login_failures);
        let vault = Self {
            accounts: Accounts::new(core.clone()),
            allow_lists: AllowLists::new(Accounts::new(core.clone())),
            recognizers: RecognizerLists::new(Accounts::new(core.clone())),
            rosters: RosterLists::new(Accounts::new(core.clone())),
            sessions: Sessions::new(core.clone()),
            sign_on: SignOn::new(core.clone()),
            links: Links::new(core.clone(), people.clone()),
            people,
            access: Access::new(core.clone()),
            admin_keys: AdminKeys::new(core.clone()),
            issuers: Issuers::new(core.clone()),
            installation: Installation::new(core.clone(), trail.clone()),
            reveals: Reveals::new(trail.clone()),
            reports: Reports::new(core.clone()),
            replies: SealedReplies::new(trail.clone()),
            expiry: Expiry::new(core.clone()),
            verifications: Verifications::new(
                core.clone(),
                trail.clone(),
                Alerts::new(core.clone()),
            ),
            alerts: Alerts::new(core.clone()),
            trail,
            exports: Exports::new(core.clone()),
            figures: Figures::new(core.clone()),
            health: Health::new(core.clone()),
            core,
            running,
            created,
        };
        vault.core.adopt_rows().await?;
        if options.serve {
            vault.trail.check_rows().await?;
        }
        if !vault.core.guard().has_accounts().await? {
            match vault.accounts.create_account("default", "system").await {
                // Another process that starts at the same moment may have made it.
                Ok(_) | Err(StoreError::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(vault)
    }

    /// Fills an empty store from the file of an exported installation and verifies it against the ends the file names.
    /// The master key must be the one of the installation that was exported.
    pub async fn import_installation(
        options: Options,
        file: &mut (dyn BufRead + Send),
        actor: &str,
    ) -> Result<Report> {
        let store = options.target.open(options.opening()).await?;
        let imported = installation::import(&store, file).await;
        store.close().await;
        let ends = imported?;
        let vault = Self::open(options).await?;
        let report = vault.trail.verify(None, &ends, |_| {}).await;
        let recorded = vault.installation.record_import(actor).await;
        vault.close(Duration::from_secs(30)).await?;
        recorded?;
        report
    }

    /// Whether this call of [`Vault::open`] made the store.
    pub fn was_created(&self) -> bool {
        self.created
    }

    /// Name of the engine.
    pub fn engine(&self) -> &'static str {
        self.core.store.engine()
    }

    /// Number of processes that serve this store now: limits per key are shared between them.
    pub async fn servers(&self) -> Result<usize> {
        self.core.writer.servers().await
    }

    /// Groups of records written so far, each with one sync.
    pub fn commits(&self) -> u64 {
        self.core.writer.commits.load(Ordering::Relaxed)
    }

    /// Number of records that wait to be written.
    pub fn queued(&self) -> usize {
        self.core.writer.queue.len()
    }

    /// Writes queued records and releases the store. Records that cannot be written within `patience` are given up.
    pub async fn close(&self, patience: Duration) -> Result<()> {
        self.core.writer.queue.close();
        let Some(mut ended) = self.running.ended() else {
            return Ok(());
        };
        let mut result = Ok(());
        if tokio::time::timeout(patience, &mut ended).await.is_err() {
            self.core
                .writer
                .give_up
                .store(true, std::sync::atomic::Ordering::Release);
            result = Err(StoreError::Timeout);
            // Every pause of the writer is at most a second.
            let pauses = Duration::from_secs(5);
            self.running.stop_after(pauses, &mut ended).await;
        }
        self.core.store.close().await;
        result
    }

    /// Returns when everything queued before the call is on disk.
    pub async fn flush(&self) -> Result<()> {
        self.core.flush().await
    }
}

/// Opens engine and keys, and makes a writer that is still to be started.
async fn open_core(options: &Options) -> Result<(Arc<Core>, bool)> {
    let folder = options.target.folder().map(std::path::Path::to_owned);
    let store = options.target.open(options.opening()).await?;
    let opened = Keyring::open(store.clone(), options.master_key.clone(), folder).await;
    let (keyring, created) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            store.close().await;
            return Err(error);
        }
    };
    let keyring = Arc::new(keyring);
    let writer = Arc::new(Writer {
        store: store.clone(),
        keyring: keyring.clone(),
        clock: options.clock.clone(),
        instance: Uuid::now_v7(),
        queue: Queue::new(Bounds {
            jobs: options.queue_records,
            bytes: options.queue_bytes,
        }),
        used: Mutex::default(),
        allowed: Mutex::default(),
        seen: Mutex::default(),
        serve: options.serve,
        give_up: AtomicBool::new(false),
        commits: AtomicU64::new(0),
        acknowledged: Mutex::default(),
        compared: AtomicU64::new(0),
        rollbacks: AtomicU64::new(0),
    });
    let core = Core {
        store,
        keyring,
        writer,
        clock: options.clock.clone(),
        rosters: RosterCache::default(),
    };
    Ok((Arc::new(core), created))
}
