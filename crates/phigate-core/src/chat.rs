//! The chat request: the one walk over all of its text.
