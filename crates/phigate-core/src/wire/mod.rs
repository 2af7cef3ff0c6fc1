//! The formats of the providers, behind one format for callers.
