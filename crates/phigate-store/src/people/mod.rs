//! People: users of the dashboard, their logins, sessions and one-time links.

mod devices;
mod links;
mod login;
mod passwords;
mod recovery;
mod second_factor;
mod second_step;
mod sessions;
mod sign_on;
mod throttle;
mod users;

pub use devices::DEVICE_DAYS;
pub(crate) use links::LinkBody;
pub use passwords::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};
pub use sign_on::SignOn;
pub(crate) use users::UserBody;

use std::sync::Arc;

use crate::core::Core;
use passwords::Passwords;
use throttle::Sweeper;

/// Users: logins, passwords, second factors.
#[derive(Clone)]
pub struct People {
    core: Arc<Core>,
    passwords: Arc<Passwords>,
    /// Failed logins from one place without a delay.
    login_failures: u32,
    sweeper: Arc<Sweeper>,
}

/// Sessions of the dashboard.
#[derive(Clone)]
pub struct Sessions {
    core: Arc<Core>,
}

/// One-time links: the first owner, invitations.
#[derive(Clone)]
pub struct Links {
    core: Arc<Core>,
    people: People,
}

impl People {
    pub(crate) fn new(core: Arc<Core>, login_failures: u32) -> Self {
        let passwords = Passwords::new(core.keyring.root.passwords.clone());
        Self {
            core,
            passwords: Arc::new(passwords),
            login_failures,
            sweeper: Arc::default(),
        }
    }
}

impl Sessions {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

impl Links {
    pub(crate) fn new(core: Arc<Core>, people: People) -> Self {
        Self { core, people }
    }
}
