//! Plan for the reply to a request, settled before the request leaves.

use std::sync::Arc;

use http::{HeaderMap, HeaderName};
use phi_detect::PhiKind;
use phigate_core::doors::Door;
use phigate_core::protect::{self, CleanRequest, Outcome, Policy, Scanned, Scanner};
use phigate_core::reply::{
    self, Echoes, Issued, Mint, ReplyRules, ReplyScan, ReplyStream, ToolNames,
};
use phigate_core::request::RequestError;
use phigate_core::text::PhiText;
use phigate_store::{Account, Conversation, ConversationName, Vault};
use phigate_types::{ErrorCode, Replies};

use crate::error::GatewayError;

const CONVERSATION: HeaderName = HeaderName::from_static("x-gateway-conversation");

/// The conversation's name, if the caller gives it.
pub(crate) fn conversation_name(headers: &HeaderMap) -> Result<Option<String>, GatewayError> {
    let mut given = headers.get_all(CONVERSATION).iter();
    let Some(name) = given.next() else {
        return Ok(None);
    };
    let name = name.as_bytes();
    if given.next().is_some() || !reply::is_conversation_name(name) {
        let message = "name a conversation once, with 1 to 128 visible ASCII characters";
        return Err(RequestError::field(
            ErrorCode::InvalidValue,
            "X-Gateway-Conversation",
            message,
        )
        .into());
    }
    Ok(Some(String::from_utf8_lossy(name).into_owned()))
}

/// Draft of the plan while the request is masked.
pub(crate) struct ReplyDraft {
    conversation: Option<Conversation>,
    tools: ToolNames,
    replies: Replies,
    /// The values of the request, if replies are scanned.
    values: Vec<(PhiKind, PhiText)>,
}

impl ReplyDraft {
    pub(crate) fn new(
        vault: &Vault,
        account: &Account,
        conversation: Option<&str>,
        scanned: &Scanned,
    ) -> Self {
        let settings = &account.settings;
        let conversation = settings.restore.then(|| match conversation {
            Some(name) => vault
                .access
                .conversation(&account.id, ConversationName::Given(name)),
            None => {
                let opening = scanned.request().opening();
                vault
                    .access
                    .conversation(&account.id, ConversationName::Opening(&opening))
            }
        });
        let values = match settings.replies {
            Replies::Off => Vec::new(),
            _ => scanned.values().collect(),
        };
        Self {
            conversation,
            tools: ToolNames::new(settings.restore_tools.iter().cloned()),
            replies: settings.replies,
            values,
        }
    }

    /// Applies the account's policy, with tokens if masked values are restored, and returns the tokens issued.
    pub(crate) fn apply(
        &self,
        policy: &Policy,
        scanner: &Scanner,
        scanned: Scanned,
    ) -> (Outcome, Issued) {
        let Some(conversation) = &self.conversation else {
            return (protect::apply(policy, scanner, scanned), Issued::default());
        };
        let code_of = |kind: &str, value: &str| conversation.code(kind, value);
        let mut mint = Mint::new(&code_of, scanned.request().document());
        let mut token_of = |kind, value: &str| mint.token(kind, value);
        let outcome = protect::apply_with(policy, scanner, scanned, Some(&mut token_of));
        (outcome, mint.into_issued())
    }

    /// The plan, once the request is masked.
    pub(crate) fn finish(
        self,
        issued: Issued,
        clean: &CleanRequest,
        scanner: &Arc<Scanner>,
    ) -> ReplyPlan {
        let scan = (self.replies != Replies::Off).then(|| ReplyScan {
            scanner: Arc::clone(scanner),
            action: self.replies,
            echoes: Echoes::new(clean.original().to_vec(), self.values),
        });
        let conversation = self
            .conversation
            .as_ref()
            .filter(|_| !issued.is_empty())
            .map(|conversation| conversation.id().to_owned());
        ReplyPlan {
            restores: self.conversation.is_some(),
            replies: self.replies,
            conversation,
            rules: Arc::new(ReplyRules {
                issued,
                tools: self.tools,
                scan,
                content_is_json: clean.request().asks_for_json(),
            }),
        }
    }
}

/// Plan for a reply.
#[derive(Debug, Clone)]
pub(crate) struct ReplyPlan {
    /// Whether masked values are given back, were there any.
    pub(crate) restores: bool,
    /// Treatment of new PHI.
    pub(crate) replies: Replies,
    /// The conversation that the tokens belong to, if any was issued.
    pub(crate) conversation: Option<String>,
    pub(crate) rules: Arc<ReplyRules>,
}

impl ReplyPlan {
    /// The stage for a streamed reply; `None` if the reply is passed on unchanged.
    pub(crate) fn stage(&self, door: &Door, event_bytes_max: usize) -> Option<ReplyStream> {
        let is_idle = self.rules.is_idle();
        (!is_idle).then(|| door.reply_stream(Arc::clone(&self.rules), event_bytes_max))
    }
}
