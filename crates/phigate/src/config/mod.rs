//! Settings: flags, environment, file and defaults, checked once.
