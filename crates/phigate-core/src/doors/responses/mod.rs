//! OpenAI's Responses: for models of providers that speak this format themselves.

mod check;
mod form;
mod item;
mod replies;
mod unscannable;
mod watch;

use phigate_types::ErrorFormat;

use super::Door;

/// The door.
pub static RESPONSES: Door = Door {
    form: &form::ResponsesForm,
    label: "OpenAI Responses",
    operation: "chat",
    path: "/v1/responses",
    errors: ErrorFormat::Responses,
    headers: &[],
    queries: &[],
    read_reply: watch::read_response,
    watch: || Box::<watch::ResponseWatch>::default(),
    walk: || Box::<replies::ResponseWalk>::default(),
};
