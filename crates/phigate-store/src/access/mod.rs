//! Access: API keys, providers, and admission of callers.

mod admin_keys;
mod admit;
mod api_keys;
mod conversation;
mod end_user;
mod issuers;
mod providers;

pub use admin_keys::AdminKeys;
pub use api_keys::KEY_NAME_CHARS_MAX;
pub use conversation::{Conversation, ConversationName};
pub use issuers::Issuers;

use std::sync::{Arc, Mutex};

use crate::core::Core;

/// API keys, providers, admission.
#[derive(Clone)]
pub struct Access {
    core: Arc<Core>,
    cache: Arc<Mutex<admit::Cache>>,
}

impl Access {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            cache: Arc::default(),
        }
    }
}
