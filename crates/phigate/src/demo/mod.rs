//! Simulated providers for trying everything without a key.
