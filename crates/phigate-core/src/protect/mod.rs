//! What happens to a request in each mode.
