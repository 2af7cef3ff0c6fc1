//! Shared nouns of phigate, each defined once.
//!
//! The store writes them, the gateway decides with them, the command line and the dashboard show them. A row of a table
//! here has everything about a noun: its code in records and settings, its label, its tone on a page, and its
//! explanation. No other crate writes such a code as text.

mod act;
mod alert;
mod approvals;
mod auth_method;
mod code;
mod depth;
mod document;
mod documents;
mod error_code;
mod error_format;
mod export;
mod finding;
mod limit;
mod limits;
mod model_list;
mod modes;
mod phi_agreement;
mod policy;
mod provider_kind;
mod provider_option;
mod replace;
mod replies;
mod role;
mod roles;
mod tone;
mod unread;

pub use act::Act;
pub use alert::AlertCode;
pub use approvals::Approvals;
pub use auth_method::{AuthMethod, Secret};
pub use code::UnknownCode;
pub use depth::Depth;
pub use document::{DocumentText, Passage, Place, Stretch};
pub use documents::Documents;
pub use error_code::{Blame, ErrorCode};
pub use error_format::ErrorFormat;
pub use export::{ExportOnly, ExportRecord};
pub use finding::{Finding, Unscannable};
pub use limit::KeyLimit;
pub use limits::{LIMIT_NAMES, LimitOutOfRange, Limits, RawLimits};
pub use model_list::{ModelEntry, ModelListError, is_model_id, is_provider_name, read_models};
pub use modes::{Action, Effect, Mode, ModeRow, Replaced};
pub use phi_agreement::PhiAgreement;
pub use policy::{Level, Levels, Named, Policy, Ruling, Word, Words};
pub use provider_kind::ProviderKind;
pub use provider_option::ProviderOption;
pub use replace::Replace;
pub use replies::Replies;
pub use role::{Right, Rights, Role};
pub use roles::Roles;
pub use tone::Tone;
pub use unread::{NoText, Unread};
