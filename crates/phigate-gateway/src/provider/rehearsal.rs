//! A request of the gateway's own words that tests whether a provider answers. It cannot contain text of a caller, so
//! nothing is recorded before it is sent.

use phi_detect::Detector;
use phigate_core::doors::CHAT;
use phigate_core::egress::{self, Cleared};
use phigate_core::protect::{self, Outcome, Policy, Scanner};
use phigate_core::request::{Request, RequestLimits};
use phigate_core::wire::{Site, WireFormat};
use phigate_types::Mode;
use serde_json::json;

/// The prompt.
const WORDS: &str = "Say hello in one word.";

/// A harmless request for one model of a provider.
pub(crate) struct Rehearsal {
    pub(super) cleared: Cleared,
}

impl Rehearsal {
    /// The request in the provider's format; `None` if it cannot be written.
    pub(crate) fn new(format: &'static dyn WireFormat, site: &Site<'_>) -> Option<Self> {
        let messages = json!([{ "role": "user", "content": WORDS }]);
        let body = json!({ "model": site.model, "messages": messages });
        let limits = RequestLimits::default();
        let request = Request::read(CHAT.form, body.to_string().into(), &limits).ok()?;
        let scanner = Scanner::new(Detector::default().without_names());
        let policy = Policy::uniform(Mode::FLAG);
        let scanned = protect::scan(&scanner, request);
        let Outcome::Forward(clean) = protect::apply(&policy, &scanner, scanned) else {
            return None;
        };
        let request = format.write_request(&clean, site, &|_| String::new());
        let cleared = egress::clear(&scanner, request.ok()?).ok()?;
        Some(Self { cleared })
    }

    /// The headers of the provider's format.
    pub(crate) fn headers(&self) -> &'static [phigate_core::wire::Header] {
        self.cleared.headers()
    }
}
