//! Chat completions: the format that every family of providers is translated from and to.

mod check;
mod form;
mod message;
mod replies;
mod unscannable;

use phigate_types::ErrorFormat;

use crate::wire::openai::{ChunkWatch, read_completion};

use super::Door;

pub(super) use replies::ChatWalk;

/// The door.
pub static CHAT: Door = Door {
    form: &form::ChatForm,
    label: "Chat completions",
    operation: "chat",
    path: "/v1/chat/completions",
    errors: ErrorFormat::OpenAi,
    headers: &[],
    queries: &[],
    read_reply: read_completion,
    watch: || Box::<ChunkWatch>::default(),
    walk: || Box::<ChatWalk>::default(),
};
