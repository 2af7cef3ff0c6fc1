//! Everything a caller can be told, with its status and code.
