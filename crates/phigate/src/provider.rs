//! The connection to a provider.
