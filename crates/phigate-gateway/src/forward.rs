//! A request that may leave, and the plan for its answer.

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

/// Request to forward, its destination, and the plan for its answer.
pub(crate) struct Forward {
    pub(crate) cleared: Cleared,
    pub(crate) action: Action,
    /// The provider's name.
    pub(crate) provider: String,
    /// Terms in force with the provider's operator.
    pub(crate) terms: ProviderTerms,
    /// The model, as callers of this provider ask for it.
    pub(crate) model: String,
    pub(crate) destination: Destination,
    pub(crate) exchange: Exchange,
    /// Fallback providers.
    pub(crate) others: Option<Others>,
}

/// Context for reading the answer.
pub(crate) struct Exchange {
    pub(crate) door: &'static Door,
    pub(crate) format: &'static dyn WireFormat,
    pub(crate) context: ReplyContext,
    pub(crate) is_stream: bool,
    /// Plan for scanning and restoring the reply.
    pub(crate) reply: ReplyPlan,
    pub(crate) account_id: String,
    /// Store of the reply that the dashboard shows.
    pub(crate) stages: Option<Arc<Stages>>,
}
