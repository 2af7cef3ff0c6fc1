//! Plain types of the [`Vault`](crate::Vault) interface.

mod account;
mod admin_key;
mod alert;
mod allow;
mod api_key;
mod audit;
mod declared;
mod export;
mod filter;
mod issuer;
mod kinds;
mod people;
mod policy;
mod provider;
mod recognizer;
mod reveal;
mod roster;
mod sign_on;
mod stats;

pub use account::{
    Account, AccountInfo, Admission, ApiKeyInfo, Detection, ModeState, NewApiKey, Retention,
    Settings,
};
pub use admin_key::{AdminAdmission, AdminKeyInfo, NewAdminKey};
pub use alert::{Acknowledged, Alert, AlertState};
pub use allow::{AllowInfo, AllowedValues};
pub(crate) use api_key::KeyBody;
pub use audit::{
    AdminAct, Attempt, AttemptEnd, By, Decision, Identifier, NewAttempt, NewDecision, Outcome,
    ProviderTerms, Record, ReplyFacts, Revealed, SealedDigests, Sizes, Usage,
};
pub use declared::Declared;
pub use export::{ExportBatch, ExportConfig, ExportInfo, ExportState, ExportedLine};
pub use filter::{
    Count, Cursor, Disclosure, Filter, FurtherDisclosure, Page, RecordKind, RequestRow,
};
pub use issuer::{IssuerConfig, IssuerInfo, TokenRule};
pub use kinds::{KindSettings, KindsAct};
pub use people::{
    Invite, Link, LinkPurpose, Login, LoginOutcome, NewSession, Session, SessionPolicy, Subject,
    User,
};
pub use policy::{KeyWords, PolicyLevel, PolicyWords, WordChanges};
pub use provider::{NewSecret, Provider, ProviderConfig, ProviderInfo, ProviderSecret};
pub use recognizer::{RecognizerInfo, StoredRecognizer};
pub use reveal::{RevealRequest, RevealSubject};
pub(crate) use roster::{RosterCache, RosterCodes, RosterKey};
pub use roster::{RosterDraft, RosterInfo, Rosters};
pub use sign_on::{
    GroupRole, GroupRoleError, SignOnConfig, SignOnInfo, SignOnOutcome, SignOnPerson, SignOnSetup,
    SignOut,
};
pub use stats::{Bucket, ProviderHealth, Stats, Use, Window};
