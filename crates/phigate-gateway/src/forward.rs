//! What was decided to leave, and what is expected back.

use std::sync::Arc;

use phigate_core::doors::Door;
use phigate_core::egress::Cleared;
use phigate_core::wire::{ReplyContext, WireFormat};
use phigate_store::ProviderTerms;
use phigate_types::Action;

use crate::order::Others;
use crate::provider::Destination;
use crate::reply_plan::ReplyPlan;
use crate::stages::Stages;

/// What leaves, where to, and what is expected back.
pub(crate) struct Forward {
    pub(crate) cleared: Cleared,
    pub(crate) action: Action,
    /// The provider's name.
    pub(crate) provider: String,
    /// What is in force with its operator.
    pub(crate) terms: ProviderTerms,
    /// The model, as callers of this provider ask for it.
    pub(crate) model: String,
    pub(crate) destination: Destination,
    pub(crate) exchange: Exchange,
    /// Who else can be asked, if it fails.
    pub(crate) others: Option<Others>,
}

/// What is needed to read the answer.
pub(crate) struct Exchange {
    pub(crate) door: &'static Door,
    pub(crate) format: &'static dyn WireFormat,
    pub(crate) context: ReplyContext,
    pub(crate) is_stream: bool,
    /// What is done with the reply.
    pub(crate) reply: ReplyPlan,
    pub(crate) account_id: String,
    /// Where a request from the dashboard leaves what was answered.
    pub(crate) stages: Option<Arc<Stages>>,
}
