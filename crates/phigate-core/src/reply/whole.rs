//! A complete reply.

use std::sync::Arc;

use super::field::{Fields, member};
use super::{ReplyRules, Stop, Tally};
use crate::json::Json;
use crate::text::PhiText;

/// A complete reply as the caller may see it.
#[derive(Debug)]
pub struct WholeReply {
    /// The body; none when the reply is to be withheld.
    pub body: Result<Vec<u8>, Stop>,
    /// What was found and done.
    pub tally: Tally,
    /// What the provider said, if it held new PHI.
    pub heard: Option<PhiText>,
}

/// Deals with a complete chat completion in the caller's format.
pub fn whole(rules: &Arc<ReplyRules>, body: Vec<u8>) -> WholeReply {
    let mut fields = Fields::new(Arc::clone(rules), false);
    let mut result = changed(&mut fields, &body);
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

/// The body as it goes out; none when it goes out as it came.
fn changed(fields: &mut Fields, body: &[u8]) -> Result<Option<Vec<u8>>, Stop> {
    let mut completion = Json::read(body).map_err(|_| Stop::Unreadable)?;
    let Json::Object(members) = &mut completion else {
        return Err(Stop::Unreadable);
    };
    for (name, choices) in members.iter_mut() {
        let Json::List(choices) = choices else {
            continue;
        };
        for choice in choices.iter_mut().filter(|_| name == "choices") {
            take_choice(fields, choice)?;
        }
    }
    Ok(fields.is_changed.then(|| completion.to_bytes()))
}

fn take_choice(fields: &mut Fields, choice: &mut Json<'_>) -> Result<(), Stop> {
    let index = choice.count_of("index");
    let found = fields.tally.findings();
    let Json::Object(members) = choice else {
        return Ok(());
    };
    for (_, message) in members.iter_mut().filter(|(name, _)| name == "message") {
        fields.take_message(index, message)?;
    }
    // Log probabilities spell the text that was found.
    if fields.withholds()
        && fields.tally.findings() > found
        && let Some(logprobs) = member(choice, "logprobs")
    {
        fields.withhold(logprobs);
    }
    Ok(())
}
