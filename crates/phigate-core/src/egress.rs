//! The last look before a request leaves.
//!
//! Translation joins texts that were apart, so PHI may show only in the provider's format. [`clear`] is the one way
//! from a [`ProviderRequest`] to a [`Cleared`], and only a `Cleared` can be recorded and sent.
//!
//! ```
//! use phi_detect::Detector;
//! use phigate_core::doors;
//! use phigate_core::protect::{self, Outcome, Policy, Scanner};
//! use phigate_core::request::{Request, RequestLimits};
//! use phigate_core::wire::Site;
//! use phigate_core::{egress, wire};
//! use phigate_types::{Mode, ProviderKind};
//!
//! let body = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"SSN 536-22-8741"}]}"#;
//! let scanner = Scanner::new(Detector::default());
//! let policy = Policy::uniform(Mode::MASK);
//!
//! let request = Request::read(doors::CHAT.form, body.to_vec(), &RequestLimits::default()).expect("it is a request");
//! let scanned = protect::scan(&scanner, request);
//! let Outcome::Forward(clean) = protect::apply(&policy, &scanner, scanned) else {
//!     panic!("it can be masked")
//! };
//! let format = wire::format_for_model("gpt-4o").expect("the model is known");
//! let site = Site::new(ProviderKind::OpenAi, "gpt-4o");
//! let request = format.write_request(&clean, &site, &|user| user.to_owned());
//! let cleared = egress::clear(&scanner, request.expect("it can be written")).expect("it is clean");
//! assert!(!cleared.body().windows(3).any(|three| three == b"536"));
//! ```

use std::borrow::Cow;

use phi_detect::PhiKind;

use crate::json::{Bounds, Document};
use crate::protect::{Kept, Scanner, scan_document};
use crate::request::Form;
use crate::wire::{Expectation, Header, ProviderRequest, Translated};

/// A request that may leave once its decision is recorded: exactly these bytes, to this path, with these headers.
///
/// Only [`clear`] makes one, and nothing else unwraps a request in a provider's format:
///
/// ```compile_fail,E0451
/// # use phigate_core::{egress::Cleared, wire::ProviderRequest};
/// # fn uncleared(request: ProviderRequest) -> Cleared {
/// Cleared { request: request.translated }
/// # }
/// ```
pub struct Cleared {
    request: Translated,
}

/// Shows only the length of the body.
impl std::fmt::Debug for Cleared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Cleared({} bytes)", self.request.body.len())
    }
}

impl Cleared {
    /// Path segments under the provider's address; the first is the version. The sender encodes each on its own.
    pub fn path(&self) -> &[String] {
        &self.request.path
    }

    /// The query, without the question mark.
    pub fn query(&self) -> Option<&str> {
        self.request.query.as_deref()
    }

    /// All headers to send, apart from those of HTTP itself and what proves who asks.
    pub fn headers(&self) -> &'static [Header] {
        self.request.headers
    }

    /// Headers that the caller gave for the provider, in place of those of the same name.
    pub fn given(&self) -> &[(&'static str, String)] {
        &self.request.given
    }

    /// The JSON body. It may hold PHI if the policy lets it pass.
    pub fn body(&self) -> &[u8] {
        &self.request.body
    }

    /// Unwraps the JSON body.
    pub fn into_body(self) -> Vec<u8> {
        self.request.body
    }

    /// Unwraps the path, the query and the JSON body.
    pub fn into_parts(self) -> (Vec<String>, Option<Cow<'static, str>>, Vec<u8>) {
        (self.request.path, self.request.query, self.request.body)
    }

    /// Parameters whose value was changed to one that the provider accepts.
    pub fn adjusted(&self) -> &[String] {
        &self.request.adjusted
    }

    /// Parameters that the provider does not have.
    pub fn dropped(&self) -> &[String] {
        &self.request.dropped
    }

    /// Returns the request's expectations about its reply.
    pub fn expectation(&self) -> &Expectation {
        &self.request.expectation
    }
}

/// Reason that a translated request may not leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// PHI of these kinds shows in the provider's format.
    Phi(Vec<PhiKind>),
    /// The model's name holds PHI and would become part of an address.
    PhiInAddress,
    /// The request was not fully scanned.
    Unfinished,
}

/// Looks at a translated request once more. What the policy forwards unscanned, and what left translation as it was
/// scanned, is cleared at once.
pub fn clear(scanner: &Scanner, request: ProviderRequest) -> Result<Cleared, Held> {
    let ProviderRequest {
        translated: mut request,
        form,
        kept,
        needs_rescan,
        has_phi_in_path,
    } = request;
    if has_phi_in_path {
        return Err(Held::PhiInAddress);
    }
    if needs_rescan {
        request.body = rescan(scanner, &kept, form, request.body)?;
    }
    Ok(Cleared { request })
}

/// Scans a body as it would leave, and gives it back if nothing was found that may not leave.
fn rescan(scanner: &Scanner, kept: &Kept, form: &dyn Form, body: Vec<u8>) -> Result<Vec<u8>, Held> {
    let document = Document::parse(body, PROVIDER_BOUNDS).map_err(|_| Held::Unfinished)?;
    let result = scan_document(scanner, form, &document, &|value| kept.is_read(value));
    match result.kinds_beside(kept, &document) {
        kinds if !kinds.is_empty() => Err(Held::Phi(kinds)),
        _ if !result.is_complete => Err(Held::Unfinished),
        _ => Ok(document.into_bytes()),
    }
}

/// Translation wraps what the caller nested, and unpacks the arguments of tool calls, which are bounded by themselves.
const PROVIDER_BOUNDS: Bounds = Bounds {
    depth_max: 1024,
    values_max: usize::MAX,
};
