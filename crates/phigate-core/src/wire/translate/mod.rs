//! What the translating formats share: reading a caller's request, and writing completions and chunks.

pub(super) mod completion;
pub(super) mod draft;
pub(super) mod media;
pub(super) mod messages;
pub(super) mod tools;
pub(super) mod turns;
