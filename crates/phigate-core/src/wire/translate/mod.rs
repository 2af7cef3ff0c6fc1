//! Shared parts of the translating formats: reads a caller's request, and writes completions and chunks.

pub(super) mod completion;
pub(super) mod draft;
pub(super) mod media;
pub(super) mod messages;
pub(super) mod tools;
pub(super) mod turns;
