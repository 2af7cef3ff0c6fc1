//! Applies an account's policy to a scanned request.

use phigate_types::{Effect, ErrorCode, Mode};

use crate::json::Document;
use crate::request::{Request, RequestError};

use super::report::Report;
use super::rewrite::{StandIns, Tokens, Unsafe, rewrite_document};
use super::scan::Scanned;
use super::scanner::Scanner;

/// The account's policy.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The handling mode.
    pub mode: Mode,
    /// Whether attachments that cannot be scanned are forwarded in every mode.
    pub allow_unscannable: bool,
}

/// The decision about a request.
#[derive(Debug)]
pub enum Outcome {
    /// Forward the request, changed or not.
    Forward(CleanRequest),
    /// Refuse it, because it holds PHI.
    Block(Report),
    /// Refuse it, because it cannot be made safe.
    Refuse(RequestError, Report),
    /// Refuse it, because the scan was not complete.
    Unfinished(Report),
}

/// A request that may leave: every finding was dealt with as the mode says. Only [`apply`] makes one:
///
/// ```compile_fail,E0451
/// # use phigate_core::{request::Request, protect::{CleanRequest, Scanned}};
/// # use phigate_types::Mode;
/// # fn unapplied(request: Request, scanned: Scanned) -> CleanRequest {
/// CleanRequest { request, original: None, report: scanned.report().clone(), mode: Mode::FLAG }
/// # }
/// ```
pub struct CleanRequest {
    request: Request,
    /// The body as the caller sent it, if the mode changed it.
    original: Option<Document>,
    report: Report,
    mode: Mode,
}

/// Shows only the lengths of the bodies.
impl std::fmt::Debug for CleanRequest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sent, original) = (
            self.request.document().expose().len(),
            self.original().len(),
        );
        write!(
            out,
            "CleanRequest({sent} bytes of {original}, {})",
            self.mode
        )
    }
}

impl CleanRequest {
    /// The request as it may leave.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The body as the caller sent it.
    pub fn original(&self) -> &[u8] {
        let original = self.original.as_ref();
        let document = original.unwrap_or_else(|| self.request.document());
        document.expose().as_bytes()
    }

    /// The document as the caller sent it, if the mode changed it.
    pub(crate) fn original_document(&self) -> Option<&Document> {
        self.original.as_ref()
    }

    /// The findings.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The mode that was applied.
    pub fn mode(&self) -> Mode {
        self.mode
    }
}

/// Applies the account's policy to a scanned request.
pub fn apply(policy: &Policy, scanner: &Scanner, scanned: Scanned) -> Outcome {
    apply_with(policy, scanner, scanned, None)
}

/// Applies the account's policy. In masking modes, each value gets a token instead of a placeholder.
pub fn apply_with(
    policy: &Policy,
    scanner: &Scanner,
    scanned: Scanned,
    tokens: Option<&mut Tokens<'_>>,
) -> Outcome {
    let Scanned {
        request,
        findings,
        report,
    } = scanned;
    if report.has_phi() && matches!(policy.mode.effect, Effect::Block) {
        return Outcome::Block(report);
    }
    // The setting allows attachments only. A text that was not fully scanned may hold anything.
    if !report.is_complete() && !policy.mode.forwards_unscanned() {
        return Outcome::Unfinished(report);
    }
    if let Some(refusal) = unscannable(policy, &report) {
        return Outcome::Refuse(refusal, report);
    }
    let mut clean = CleanRequest {
        request,
        original: None,
        report,
        mode: policy.mode,
    };
    if let Effect::Replace(replacement) = policy.mode.effect
        && clean.report.has_phi()
    {
        let (form, document) = (clean.request.form(), clean.request.document());
        let mut stand_ins = StandIns::new(replacement, tokens);
        match rewrite_document(scanner, form, document, &findings, &mut stand_ins) {
            Ok(rewritten) => clean.original = Some(clean.request.replace_document(rewritten)),
            Err(Unsafe::NotRewritable(path)) => {
                return Outcome::Refuse(not_rewritable(path), clean.report);
            }
            Err(Unsafe::Unfinished) => return Outcome::Unfinished(clean.report),
        }
    }
    Outcome::Forward(clean)
}

/// The refusal of a request with parts that cannot be scanned; `None` if the policy allows them.
pub(super) fn unscannable(policy: &Policy, report: &Report) -> Option<RequestError> {
    if policy.allow_unscannable || policy.mode.forwards_unscanned() {
        return None;
    }
    let part = report.unscannable().first()?;
    let message = format!(
        "{} cannot be scanned for PHI and is not forwarded in this mode: {ALLOWED_BY}",
        name_of(&part.path)
    );
    let path = part.path.clone();
    Some(RequestError::field(
        ErrorCode::UnscannableContent,
        path,
        message,
    ))
}

pub(super) fn not_rewritable(path: String) -> RequestError {
    let message = format!(
        "{} holds PHI that cannot be replaced without breaking the request",
        name_of(&path)
    );
    RequestError::field(ErrorCode::PhiNotRewritable, path, message)
}

/// Says which setting lets such parts through, and who can change it.
const ALLOWED_BY: &str = "an owner of the account can allow such parts under Settings, Detection, or with phigate settings set allow_unscannable=on";

fn name_of(path: &str) -> &str {
    if path.is_empty() { "the request" } else { path }
}
