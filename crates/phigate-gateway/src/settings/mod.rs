//! Settings of an account, as an owner sees them: one table of fields, and the ways in which a change weakens
//! protection.
//!
//! The command line and the dashboard read and write settings by this table alone.

mod allow;
mod fields;
mod kind_state;
mod kinds;
mod policy;
mod profile;
mod recognizers;
mod weaker;

use phigate_store::Settings;
use phigate_types::Mode;

pub use allow::read_entry;
pub use fields::{
    AccountField, DAYS_MAX, KEY_LIMIT_MAX, SettingError, account_field, account_fields,
};
pub use kind_state::{KindState, kind_states, kinds_of};
pub use kinds::Kinds;
pub use policy::{PolicyRow, changed_policy, policy_table, read_words};
pub use profile::{KindEdit, profile_name, profile_of};
pub use recognizers::read_recognizer;
pub use weaker::Weaker;

/// Everything that an owner can set for an account, apart from its providers.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountSettings {
    /// The PHI handling mode.
    pub mode: Mode,
    /// The other settings.
    pub settings: Settings,
}
