//! tmp
use super::audit::Chain;
use crate::dashboard::Dash;
#[derive(Default)]
pub(crate) struct Verified;
pub(crate) fn known(_: &Dash, _: &str) -> Chain { Chain { tone: "soft", label: "Not verified yet".to_owned(), words: String::new() } }
