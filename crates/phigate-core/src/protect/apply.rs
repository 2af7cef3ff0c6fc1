//! Applies an account's policy to a scanned request.

pub use phigate_types::Policy;
use phigate_types::{Action, Effect, ErrorCode, Ruling, Unread};

use crate::json::Document;
use crate::request::{Request, RequestError};

use super::attached::{Attached, replace_attached};
use super::kept::Kept;
use super::located::{LocatedFinding, is_blocked, ruling};
use super::report::Report;
use super::rewrite::{Rewriting, StandIns, Tokens, Unsafe, rewrite_document};
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
    original: Option<Box<Document>>,
    report: Report,
    /// The policy, and what it leaves unchanged. Boxed: most outcomes are smaller.
    kept: Box<Kept>,
    action: Action,
    /// Top-level parameters in which a document became text.
    adjusted: Vec<String>,
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
        self.received().expose().as_bytes()
    }

    /// The request as the caller sent it.
    pub fn received(&self) -> &Document {
        self.original
            .as_deref()
            .unwrap_or_else(|| self.request.document())
    }

    /// Top-level parameters in which a document became text.
    pub fn adjusted(&self) -> &[String] {
        &self.adjusted
    }

    /// The document as the caller sent it, if it was changed.
    pub(crate) fn original_document(&self) -> Option<&Document> {
        self.original.as_deref()
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
        attached,
        report,
    } = scanned;
    if is_blocked(policy, &findings) || attached.iter().any(|one| one.is_blocked(policy)) {
        return Outcome::Block(report);
    }
    // The setting allows attachments only. A text that was not fully scanned may hold anything.
    if !report.is_complete() && !policy.forwards_unscanned() {
        return Outcome::Unfinished(report);
    }
    if let Some(refusal) = unscannable(policy, &report) {
        return Outcome::Refuse(refusal, report);
    }
    let in_documents = attached.iter().flat_map(Attached::findings);
    let all = findings.iter().chain(in_documents);
    let rulings = all.map(|found| ruling(policy, &found.finding));
    let mode = rulings
        .reduce(Ruling::or_stronger)
        .map(|ruling| ruling.mode());
    let mut kept = Box::new(Kept::new(policy, request.document(), &findings, &allowed));
    for one in attached.iter() {
        kept.extend(&one.list, one.findings(), &one.result.allowed);
    }
    let mut clean = CleanRequest {
        original: None,
        report,
        kept,
        adjusted: Vec::new(),
        request,
        action: mode.map_or(Action::FORWARDED, |mode| mode.action),
    };
    if mode.is_some_and(|mode| matches!(mode.effect, Effect::Replace(_))) {
        let mut stand_ins = StandIns::new(policy, scanner, tokens);
        match clean.rewrite(scanner, &attached, &findings, &mut stand_ins) {
            Ok(()) => {}
            Err(Unsafe::NotRewritable(path)) => {
                return Outcome::Refuse(not_rewritable(path), clean.report);
            }
            Err(Unsafe::Unfinished) => return Outcome::Unfinished(clean.report),
        }
    }
    clean.kept.remember(&clean.request);
    Outcome::Forward(clean)
}

impl CleanRequest {
    /// Replaces the findings. Documents become text first, and that text is part of the request from then on.
    fn rewrite(
        &mut self,
        scanner: &Scanner,
        attached: &[Attached],
        findings: &[LocatedFinding],
        stand_ins: &mut StandIns<'_, '_>,
    ) -> Result<(), Unsafe> {
        let request = &self.request;
        let with_texts = replace_attached(scanner, request, attached, &self.kept, stand_ins)?;
        let (document, read) = match &with_texts {
            Some(changed) => (&changed.document, &changed.read),
            None => (request.document(), request.read_documents()),
        };
        let rewriting = Rewriting {
            scanner,
            form: request.form(),
            kept: &self.kept,
            is_read: &|value| read.is_payload(value.id()),
        };
        let again = with_texts.as_ref().map(|_| rewriting.scan(document));
        if again.as_ref().is_some_and(|again| !again.is_complete) {
            return Err(Unsafe::Unfinished);
        }
        let found = match &again {
            // Also what shows only now that the text of a document is part of the request.
            Some(again) => self.kept.others(document, &again.findings),
            None => findings.into(),
        };
        let rewritten = match again.is_some() && found.is_empty() {
            true => document.clone(),
            false => rewrite_document(&rewriting, document, &found, stand_ins)?,
        };
        let read = read.clone();
        self.adjusted = with_texts.map_or_else(Vec::new, |changed| changed.adjusted);
        self.original = Some(Box::new(self.request.replace_document(rewritten, read)));
        Ok(())
    }
}

/// The refusal of a request with parts that cannot be scanned; `None` if the policy allows them.
pub(super) fn unscannable(policy: &Policy, report: &Report) -> Option<RequestError> {
    if policy.allows_unscannable() || policy.forwards_unscanned() {
        return None;
    }
    let part = report.unscannable().first()?;
    let reason = part.kind.parse::<Unread>();
    let reason = reason.map(|reason| format!("{} ({reason}); ", reason.words()));
    let message = format!(
        "{} cannot be scanned for PHI and is not forwarded in this mode: {}{ALLOWED_BY}",
        name_of(&part.path),
        reason.unwrap_or_default()
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
