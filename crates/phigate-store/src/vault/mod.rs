//! [`Vault`]: what the gateway, the command line and the dashboard use.

mod accounts;
mod admit;
mod adopt;
mod api_keys;
mod audit;
mod conversation;
mod devices;
mod end_user;
pub(crate) mod join;
mod links;
mod passwords;
mod providers;
mod record;
mod retention;
mod rotate;
mod second_step;
mod sessions;
mod settings;
mod stats;
mod throttle;
mod transfer;
mod users;
mod verify;
mod verify_rows;

pub use api_keys::KEY_NAME_CHARS_MAX;
pub use audit::TOKEN_IDENTIFIER;
pub use conversation::{Conversation, ConversationName};
pub use devices::DEVICE_DAYS;
pub use passwords::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};

use crate::backend::Target;
use crate::guard::{self, Guard};
use crate::item::{Change, Item};
use crate::keys::keyring::Keyring;
use crate::keys::master::MasterKeySource;
use crate::model::AdminAct;
use crate::store::{CommitError, Store};
use crate::writer::job::{Job, Waiter};
use crate::writer::queue::{Bounds, Queue};
use crate::writer::thread::Running;
use crate::writer::{Writer, entry};
use crate::{Clock, Result, StoreError};
use phigate_types::Act;
use std::collections::HashMap;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use uuid::Uuid;

pub(crate) use accounts::account_name;
pub(crate) use audit::parse as parse_record;
pub(crate) use retention::RECORDS_DELETED;
pub(crate) use transfer::IMPORT;

/// How a vault is opened. Start from [`Options::new`] and change what differs.
#[derive(Clone)]
pub struct Options {
    /// Where the store is.
    pub target: Target,
    /// Where the master key comes from.
    pub master_key: MasterKeySource,
    /// Make the store (and the key file) when there is none.
    pub create: bool,
    /// Behave as a server: keep a lease, and record the requests of ended processes as interrupted.
    pub serve: bool,
    /// Where the time comes from.
    pub clock: Clock,
    /// Most records that may wait to be written.
    pub queue_records: usize,
    /// Most bytes of sealed content that may wait to be written.
    pub queue_bytes: usize,
    /// Makes every commit of SQLite take this much longer, as a slower disk does. For tests and
    /// measurements.
    pub sync_delay: Duration,
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
            login_failures: 5,
        }
    }
}

/// An open store with its keys and its writer. Share it in an `Arc`; end with [`Vault::close`].
pub struct Vault {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) writer: Arc<Writer>,
    pub(crate) clock: Clock,
    passwords: passwords::Passwords,
    login_failures: u32,
    sweeper: throttle::Sweeper,
    cache: Mutex<admit::Cache>,
    running: Running,
    created: bool,
}

/// How long an admin change may take.
const ADMIN: Duration = Duration::from_secs(10);

impl Vault {
    /// Opens a store, making folder, schema, keys and the account `default` when it is new.
    ///
    /// Refuses a wrong, missing or badly kept master key, a newer schema and weak durability.
    /// Works while other processes have the same store open. Needs a tokio runtime.
    pub async fn open(options: Options) -> Result<Self> {
        let folder = options.target.folder().map(std::path::Path::to_owned);
        let store = options.target.open(options.create).await?;
        let opened = Keyring::open(store.clone(), options.master_key, folder).await;
        let (keyring, created) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                store.close().await;
                return Err(error);
            }
        };
        let keyring = Arc::new(keyring);
        store.slow_down(options.sync_delay);
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
            seen: Mutex::default(),
            serve: options.serve,
            give_up: AtomicBool::new(false),
            commits: AtomicU64::new(0),
        });
        let running = Running::start(writer.clone())?;
        let passwords = passwords::Passwords::new(keyring.root.passwords.clone());
        let vault = Self {
            store,
            keyring,
            writer,
            clock: options.clock,
            passwords,
            login_failures: options.login_failures,
            sweeper: throttle::Sweeper::default(),
            cache: Mutex::default(),
            running,
            created,
        };
        vault.adopt_rows().await?;
        if options.serve {
            vault.check_rows().await?;
        }
        if !vault.guard().has_accounts().await? {
            match vault.create_account("default", "system").await {
                // Another process starting at the same moment may have made it.
                Ok(_) | Err(StoreError::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(vault)
    }

    /// Whether this call of [`Vault::open`] made the store.
    pub fn was_created(&self) -> bool {
        self.created
    }

    /// Name of the engine.
    pub fn engine(&self) -> &'static str {
        self.store.engine()
    }

    /// How many processes answer requests on this store now: limits per key are shared between them.
    pub async fn servers(&self) -> Result<usize> {
        self.writer.servers().await
    }

    /// Groups of records written so far, each with one sync.
    pub fn commits(&self) -> u64 {
        self.writer.commits.load(Ordering::Relaxed)
    }

    /// Number of records that wait to be written.
    pub fn queued(&self) -> usize {
        self.writer.queue.len()
    }

    /// Whether the store answers and can be written right now: commits something empty.
    pub async fn ping(&self) -> Result<()> {
        self.store.generation().await?;
        let batch = crate::store::Batch::default();
        match tokio::time::timeout(Duration::from_secs(2), self.store.commit(Arc::new(batch))).await
        {
            Ok(Ok(())) => Ok(()),
            Ok(Err(
                crate::store::CommitError::Failed(error)
                | crate::store::CommitError::Unknown(error)
                | crate::store::CommitError::Rejected(error),
            )) => Err(error),
            Ok(Err(_)) => Err(StoreError::Conflict("write")),
            Err(_) => Err(StoreError::Timeout),
        }
    }

    /// Returns when everything queued before the call is on disk.
    pub async fn flush(&self) -> Result<()> {
        let (waiter, wait) = Waiter::new(true);
        self.writer.queue.push_always(Job::empty(waiter));
        wait.answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Writes what is queued and releases the store. After `patience` what cannot be written is given up.
    pub async fn close(&self, patience: Duration) -> Result<()> {
        self.writer.queue.close();
        let Some(mut ended) = self.running.ended() else {
            return Ok(());
        };
        let mut result = Ok(());
        if tokio::time::timeout(patience, &mut ended).await.is_err() {
            self.writer
                .give_up
                .store(true, std::sync::atomic::Ordering::Release);
            result = Err(StoreError::Timeout);
            // Every pause of the writer is at most a second.
            let pauses = Duration::from_secs(5);
            self.running.stop_after(pauses, &mut ended).await;
        }
        self.store.close().await;
        result
    }

    /// Copies the store to a new file while it is in use (SQLite). The copy holds no master key.
    pub async fn backup(&self, file: &std::path::Path, actor: &str) -> Result<()> {
        let taken = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(file);
        taken.map_err(|error| {
            StoreError::Unavailable(format!("cannot write the backup: {}", error.kind()))
        })?;
        let act = AdminAct::new(self.now(), "", actor, Act::InstallationBackup);
        self.record_admin(None, &act).await?;
        self.store.backup(file).await
    }

    /// The time, as records carry it.
    pub(crate) fn now(&self) -> jiff::Timestamp {
        (self.clock)()
    }

    /// Reads and writes authenticated rows.
    pub(crate) fn guard(&self) -> &Guard {
        self.keyring.guard()
    }

    /// Changes items and records the act, both or neither.
    pub(crate) async fn change(
        &self,
        account_id: &str,
        act: &AdminAct,
        changes: Vec<Change>,
        bump: bool,
    ) -> Result<()> {
        if !guard::concerns_listed(&changes) {
            let prepared = self.guard().prepare(&changes, None).await?;
            return self.submit(account_id, act, prepared.changes, bump).await;
        }
        let _turn = self.guard().turn().await;
        for _ in 0..guard::TRIES {
            let prepared = self.guard().prepare(&changes, Some(account_id)).await?;
            let act = AdminAct {
                number: prepared.number,
                ..act.clone()
            };
            let submitted = self.submit(account_id, &act, prepared.changes.clone(), bump);
            match submitted.await {
                Err(StoreError::Conflict(_)) if self.guard().has_moved(&prepared).await? => {}
                done => return done,
            }
        }
        Err(StoreError::Conflict("this"))
    }

    /// Hands changes that are ready to be written to the writer, with their record.
    pub(crate) async fn submit(
        &self,
        account_id: &str,
        act: &AdminAct,
        changes: Vec<Change>,
        bump: bool,
    ) -> Result<()> {
        let (waiter, mut wait) = Waiter::new(false);
        let mut job = Job::of(entry::admin(account_id, act), waiter);
        job.changes = changes;
        job.bump = bump;
        self.writer.queue.push(job).map_err(|refused| refused.1)?;
        match tokio::time::timeout(ADMIN, &mut wait.answer).await {
            Ok(answer) => answer.unwrap_or(Err(StoreError::Closed)),
            Err(_) if wait.abandon() => Err(StoreError::Timeout),
            Err(_) => wait.settled(),
        }
    }

    /// Changes items without a record, all or none. False when one was changed or removed in between.
    pub(crate) async fn change_quietly(&self, changes: Vec<Change>) -> Result<bool> {
        match self.guard().commit(&changes).await {
            Ok(()) => Ok(true),
            Err(CommitError::Stale) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Gives a conflict the name of what it is about.
pub(crate) fn about(what: &'static str) -> impl Fn(StoreError) -> StoreError {
    move |error| match error {
        StoreError::Conflict(_) => StoreError::Conflict(what),
        other => other,
    }
}

/// Maps by id, for joins in memory.
pub(crate) fn by_id(items: Vec<Item>) -> HashMap<String, Item> {
    items
        .into_iter()
        .map(|item| (item.id.clone(), item))
        .collect()
}
