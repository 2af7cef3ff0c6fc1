//! Exports: records leave the installation for the targets that owners named, as they are written.
//!
//! | File | Purpose |
//! |---|---|
//! | `kind.rs` | table of the kinds of targets, one row and one file per kind |
//! | `file.rs`, `otlp.rs`, `s3.rs`, `syslog.rs`, `webhook.rs` | the kinds |
//! | `address.rs` | the form of addresses, and the rules about them |
//! | `target.rs` | form of a row of the table |
//! | `sink.rs` | abilities and failures of a kind |
//! | `http.rs` | calls over HTTP |
//! | `exporter.rs` | one target: reads, sends, waits, tries again |
//! | `supervisor.rs` | starts and stops exporters as owners change targets |
//! | `telemetry.rs` | spans and metrics, for the operator's collector |
//! | `trial.rs` | checks a target when it is set, and on request |

mod address;
mod exporter;
mod file;
mod http;
mod kind;
mod otlp;
mod s3;
mod sink;
mod supervisor;
mod syslog;
mod target;
mod telemetry;
mod trial;
mod webhook;

pub use kind::{ExportSetupError, check_export};
pub use supervisor::Exporters;
pub use telemetry::TelemetryExporter;
