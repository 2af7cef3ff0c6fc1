//! Notes about a reply, for its record and its headers: findings, and how they were treated.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use phi_detect::PhiKind;
use phigate_core::reply::Tally;
use phigate_core::text::PhiText;
use phigate_store::{ReplyFacts, SecretBytes};
use phigate_types::Replies;

use crate::facts::list;
use crate::reply_plan::ReplyPlan;

const PHI_RESTORED: HeaderName = HeaderName::from_static("x-gateway-phi-restored");
const REPLY_PHI_TYPES: HeaderName = HeaderName::from_static("x-gateway-reply-phi-types");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Findings in a reply, and how they were treated.
#[derive(Debug, Default)]
pub(crate) struct ReplyNotes {
    restores: bool,
    replies: Replies,
    tally: Tally,
    /// The provider's text, if it held new PHI; sealed beside the outcome.
    pub(crate) heard: Option<SecretBytes>,
}

impl ReplyNotes {
    /// Notes for a reply that is treated so.
    pub(crate) fn new(plan: &ReplyPlan) -> Self {
        Self {
            restores: plan.restores,
            replies: plan.replies,
            ..Self::default()
        }
    }

    /// Takes over the current tally and text.
    pub(crate) fn saw(&mut self, tally: &Tally, heard: Option<PhiText>) {
        self.tally.clone_from(tally);
        if let Some(heard) = heard {
            self.heard = Some(SecretBytes::new(heard.into_exposed().into_bytes()));
        }
    }

    /// Facts for the record.
    pub(crate) fn facts(&self) -> ReplyFacts {
        let restored = self.restores.then_some(self.tally.restored);
        if self.replies == Replies::Off {
            return ReplyFacts {
                restored,
                ..ReplyFacts::default()
            };
        }
        let found = self.tally.found.iter();
        let types = found.map(|(kind, count)| (kind.code().to_owned(), *count));
        let done = self.tally.has_new_phi().then(|| self.replies.done());
        ReplyFacts {
            restored,
            reply_types: Some(types.collect()),
            reply_echoes: Some(self.tally.echoes),
            reply_action: done.map(str::to_owned),
        }
    }

    /// Writes the headers of a complete reply.
    pub(crate) fn write_headers(&self, headers: &mut HeaderMap) {
        if self.restores {
            headers.insert(PHI_RESTORED, HeaderValue::from(self.tally.restored));
        }
        if self.replies != Replies::Off {
            let kinds = self.tally.kinds();
            let codes: Vec<&str> = kinds.into_iter().map(PhiKind::code).collect();
            headers.insert(REPLY_PHI_TYPES, list(&codes));
        }
        self.write_stream_headers(headers);
    }

    /// The headers of a stream, of which nothing is known yet. Values that were masked belong in no cache.
    pub(crate) fn write_stream_headers(&self, headers: &mut HeaderMap) {
        if self.restores {
            headers.insert(header::CACHE_CONTROL, NO_STORE);
        }
    }
}
