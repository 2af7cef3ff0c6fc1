//! A complete reply.

use std::sync::Arc;

use super::field::Fields;
use super::walk::Walk;
use super::{ReplyRules, Stop, Tally};
use crate::json::Json;
use crate::text::PhiText;

/// A complete reply as the caller may see it.
#[derive(Debug)]
pub struct WholeReply {
    /// The body, or the reason that it is withheld.
    pub body: Result<Vec<u8>, Stop>,
    /// Counts of findings and replacements.
    pub tally: Tally,
    /// The provider's text, if it held new PHI.
    pub heard: Option<PhiText>,
}

/// Deals with a complete reply in the caller's format.
pub(crate) fn whole(rules: &Arc<ReplyRules>, walk: &mut dyn Walk, body: Vec<u8>) -> WholeReply {
    let mut fields = Fields::new(Arc::clone(rules), false);
    let mut result = changed(&mut fields, walk, &body);
    let is_blocked = fields.tally.has_new_phi() && fields.blocks();
    if is_blocked && result.is_ok() {
        result = Err(Stop::Blocked);
    }
    WholeReply {
        body: result.map(|changed| changed.unwrap_or(body)),
        heard: fields.heard(),
        tally: fields.tally,
    }
}

/// Returns the changed body; `None` if it is unchanged.
fn changed(fields: &mut Fields, walk: &mut dyn Walk, body: &[u8]) -> Result<Option<Vec<u8>>, Stop> {
    let mut reply = Json::read(body).map_err(|_| Stop::Unreadable)?;
    if !reply.is_object() {
        return Err(Stop::Unreadable);
    }
    walk.reply(fields, &mut reply)?;
    Ok(fields.is_changed.then(|| reply.to_bytes()))
}
