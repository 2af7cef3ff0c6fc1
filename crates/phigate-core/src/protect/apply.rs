//! Applies an account's policy to a scanned request.

pub use phigate_types::Policy;
use phigate_types::{Action, Effect, ErrorCode, Ruling};

use crate::json::Document;
use crate::request::{Request, RequestError};

use super::kept::Kept;
use super::located::{is_blocked, ruling};
use super::report::Report;
use super::rewrite::{StandIns, Tokens, Unsafe, rewrite_document};
use super::scan::Scanned;
use super::scanner::Scanner;

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

/// A request that may leave: every finding was treated as the policy says. Only [`apply`] makes one:
///
/// ```compile_fail,E0451
/// # use phigate_core::{request::Request, protect::CleanRequest};
/// # fn unapplied(request: Request, other: CleanRequest) -> CleanRequest {
/// CleanRequest { request, ..other }
/// # }
/// ```
pub struct CleanRequest {
    request: Request,
    /// The body as the caller sent it, if it was changed.
    original: Option<Document>,
    report: Report,
    /// The policy, and what it leaves unchanged. Boxed: most outcomes are smaller.
    kept: Box<Kept>,
    action: Action,
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
            self.action
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

    /// The document as the caller sent it, if it was changed.
    pub(crate) fn original_document(&self) -> Option<&Document> {
        self.original.as_ref()
    }

    /// The findings.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The policy that was applied.
    pub fn policy(&self) -> &Policy {
        self.kept.policy()
    }

    /// The findings that leave as they are.
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The strongest action on a finding.
    pub fn action(&self) -> Action {
        self.action
    }
}

/// Applies a policy to a scanned request.
pub fn apply(policy: &Policy, scanner: &Scanner, scanned: Scanned) -> Outcome {
    apply_with(policy, scanner, scanned, None)
}

/// Applies a policy: here each finding gets its treatment, and a single finding that blocks refuses the request. Masked
/// values get tokens instead of placeholders.
pub fn apply_with(
    policy: &Policy,
    scanner: &Scanner,
    scanned: Scanned,
    tokens: Option<&mut Tokens<'_>>,
) -> Outcome {
    let Scanned {
        request,
        findings,
        allowed,
        report,
    } = scanned;
    if is_blocked(policy, &findings) {
        return Outcome::Block(report);
    }
    // The setting allows attachments only. A text that was not fully scanned may hold anything.
    if !report.is_complete() && !policy.forwards_unscanned() {
        return Outcome::Unfinished(report);
    }
    if let Some(refusal) = unscannable(policy, &report) {
        return Outcome::Refuse(refusal, report);
    }
    let rulings = findings.iter().map(|found| ruling(policy, &found.finding));
    let mode = rulings
        .reduce(Ruling::or_stronger)
        .map(|ruling| ruling.mode());
    let mut clean = CleanRequest {
        original: None,
        report,
        kept: Box::new(Kept::new(policy, request.document(), &findings, &allowed)),
        request,
        action: mode.map_or(Action::FORWARDED, |mode| mode.action),
    };
    if mode.is_some_and(|mode| matches!(mode.effect, Effect::Replace(_))) {
        let (form, document) = (clean.request.form(), clean.request.document());
        let mut stand_ins = StandIns::new(policy, scanner, tokens);
        match rewrite_document(
            scanner,
            form,
            document,
            (&findings, &clean.kept),
            &mut stand_ins,
        ) {
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
    if policy.allows_unscannable() || policy.forwards_unscanned() {
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
