//! The gateway: all steps of a request between a caller and a provider.
//!
//! [`Gateway::answer`] is the way in. A request goes through these steps, each of which consumes the result of the step
//! before:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use axum::response::Response;
//! use phigate_gateway::{Call, Gateway, Open, Relayed, Sent, Stopped};
//!
//! async fn answer(gateway: &Arc<Gateway>, call: Call) -> Result<Response, Stopped> {
//!     let open = Open::admit(gateway, call).await?; // whose is it?
//!     let received = open.read().await?; // the body, within limits
//!     let decided = received.decide().await?; // scanned, treated, translated, scanned again
//!     let mut recorded = decided.record().await?; // on disk before anything leaves
//!     loop {
//!         let failed = match recorded.send().await? { // the provider's turn
//!             Sent::Answered(answered) => match answered.relay().await? { // its answer, and the outcome's record
//!                 Relayed::Given(response) => return Ok(response),
//!                 Relayed::Failed(failed) => failed, // it broke before the caller got anything
//!             },
//!             Sent::Failed(failed) => failed,
//!         };
//!         let fell_back = failed.fall_back().await?; // decided anew for the next provider
//!         recorded = fell_back.record().await?; // on disk before it leaves once more
//!     }
//! }
//! ```
//!
//! A request without an account cannot be read:
//!
//! ```compile_fail
//! # use phigate_gateway::{Call, Received, Stopped};
//! async fn skip_admission(call: Call) -> Result<Received, Stopped> {
//!     call.read().await
//! }
//! ```
//!
//! An unread request cannot be decided about:
//!
//! ```compile_fail
//! # use phigate_gateway::{Decided, Open, Stopped};
//! async fn skip_reading(open: Open) -> Result<Decided, Stopped> {
//!     open.decide().await
//! }
//! ```
//!
//! An undecided request cannot be recorded as a decision to forward:
//!
//! ```compile_fail
//! # use phigate_gateway::{Received, Recorded, Stopped};
//! async fn skip_the_decision(received: Received) -> Result<Recorded, Stopped> {
//!     received.record().await
//! }
//! ```
//!
//! An unrecorded request cannot be sent:
//!
//! ```compile_fail
//! # use phigate_gateway::{Decided, Sent, Stopped};
//! async fn skip_the_record(decided: Decided) -> Result<Sent, Stopped> {
//!     decided.send().await
//! }
//! ```
//!
//! A further attempt that was not recorded cannot be sent to another provider:
//!
//! ```compile_fail
//! # use phigate_gateway::{FellBack, Sent, Stopped};
//! async fn skip_the_second_record(fell_back: FellBack) -> Result<Sent, Stopped> {
//!     fell_back.send().await
//! }
//! ```
//!
//! A sent request cannot be sent again:
//!
//! ```compile_fail
//! # use phigate_gateway::{Recorded, Sent, Stopped};
//! async fn send_twice(recorded: Recorded) -> Result<Sent, Stopped> {
//!     recorded.send().await?;
//!     recorded.send().await
//! }
//! ```
//!
//! A request without the provider's answer cannot be relayed to the caller:
//!
//! ```compile_fail
//! # use axum::response::Response;
//! # use phigate_gateway::{Recorded, Stopped};
//! async fn skip_the_provider(recorded: Recorded) -> Result<Response, Stopped> {
//!     recorded.relay().await
//! }
//! ```
//!
//! No step can be made by hand, from other bytes:
//!
//! ```compile_fail
//! # use phigate_gateway::Received;
//! fn from_bytes(earlier: Received) -> Received {
//!     Received { body: "{}".into(), ..earlier }
//! }
//! ```

mod admin_call;
mod admit;
mod caller_tokens;
mod decide;
mod decision;
mod discovery;
pub mod documents;
mod early_limiter;
mod error;
mod export;
mod facts;
mod failure;
mod field_error;
mod finish_reason;
mod forward;
mod gateway;
mod intake;
mod issuer_check;
mod issuer_keys;
mod key_limits;
mod long_scans;
mod metrics;
mod open;
mod order;
mod otlp;
mod outcome;
mod pipeline;
mod policy_trial;
mod preview;
mod provider;
mod record;
mod refusals;
mod relay;
mod reply;
mod reply_notes;
mod reply_plan;
mod request_log;
mod route;
mod scan_job;
mod scan_memory;
mod scanners;
mod service;
mod settings;
mod short_scans;
mod sign_on;
mod stages;
mod stopped;
mod telemetry;
#[cfg(test)]
mod testing;
mod trial;

pub use admin_call::AdminCall;
pub use error::GatewayError;
pub use export::{ExportSetupError, Exporters, TelemetryExporter, check_export};
pub use field_error::FieldError;
pub use finish_reason::FinishReason;
pub use gateway::{Gateway, ProviderSettings};
pub use issuer_check::check_issuer;
pub use metrics::{AgreementEnd, Metrics};
pub use open::{Call, Open, Received, Sender};
pub use phigate_store::{Durability, Written};
pub use pipeline::{Answered, Decided, Failed, FellBack, Recorded, Relayed, Sent};
pub use policy_trial::{LevelChanges, PolicyTrial, TrialError, TriedFindings, TriedPolicy};
pub use preview::{DocumentFinding, Preview};
pub use provider::{
    BaseUrl, BaseUrlError, GivenSecret, KeyError, ProviderError, RootsError, SetupError,
    SetupRules, check_key, check_setup,
};
pub use route::{Route, listed_models, routes, routes_at};
pub use scanners::{
    detector, detector_of, detector_of_all, generalizing, scanner_of, scanner_of_all,
};
pub use settings::{
    AccountField, AccountSettings, DAYS_MAX, KEY_LIMIT_MAX, KindEdit, KindState, Kinds, PolicyRow,
    SettingError, Weaker, account_field, account_fields, changed_policy, kind_states, kinds_of,
    policy_table, profile_name, profile_of, read_entry, read_recognizer, read_words,
};
pub use sign_on::{SignOnCheck, SignOnEdit, SignOnError, SignOnFlow, SingleSignOn};
pub use stages::Stages;
pub use stopped::Stopped;
pub use telemetry::{Attribute, ListedModel, Operation, TelemetrySettings, Traces};
pub use trial::Trial;
