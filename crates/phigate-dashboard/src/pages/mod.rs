//! One file per page: its typed context, its template, its handlers.

pub(crate) mod account;
pub(crate) mod acts;
pub(crate) mod admin_keys;
pub(crate) mod alerts;
pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod chains;
mod connect;
mod content;
pub(crate) mod dropped;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod help;
pub(crate) mod installation;
pub(crate) mod instead;
pub(crate) mod issuers;
pub(crate) mod keys;
mod log;
pub(crate) mod log_filter;
pub(crate) mod login;
pub(crate) mod not_phi;
pub(crate) mod overview;
pub(crate) mod playground;
pub(crate) mod presets;
pub(crate) mod provider;
pub(crate) mod providers;
pub(crate) mod record;
pub(crate) mod reports;
mod rows;
pub(crate) mod settings;
pub(crate) mod setup;
pub(crate) mod sign_on;
pub(crate) mod terms;
pub(crate) mod trials;
pub(crate) mod users;
pub(crate) mod verify;

#[cfg(test)]
mod samples;
