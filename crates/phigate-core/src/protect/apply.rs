//! Deciding what becomes of a scanned request.

use std::borrow::Cow;
use std::ops::Range;

use phi_detect::PhiKind;
use phigate_types::{Effect, Mode, Replaced};

use crate::chat::{self, ChatRequest, Place, RequestError};
use crate::json::{Bounds, Document};
use crate::reply::Mint;

use super::located::LocatedFinding;
use super::report::Report;
use super::rewrite::ROUNDS_MAX;
use super::scan::{Scanned, scan_document, values_of};
use super::scanner::Scanner;

/// What the account's owner decided.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The handling mode.
    pub mode: Mode,
    /// Whether attachments that cannot be scanned may go on in every mode.
    pub allow_unscannable: bool,
}

/// What becomes of a request.
#[derive(Debug)]
pub enum Outcome {
    /// It goes on, changed or not.
    Forward(CleanRequest),
    /// It is refused because it holds PHI.
    Block(Report),
    /// It is refused because it could not be made safe.
    Refuse(RequestError, Report),
    /// It is refused because it was not looked at in whole.
    Unfinished(Report),
}

/// A request that may leave: every finding was dealt with as the mode says.
pub struct CleanRequest {
    request: ChatRequest,
    /// The bytes as the caller sent them, where the mode changed them.
    original: Option<Vec<u8>>,
    report: Report,
    mode: Mode,
}

/// Bodies are told by their length.
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
    pub fn request(&self) -> &ChatRequest {
        &self.request
    }

    /// The body as the caller sent it.
    pub fn original(&self) -> &[u8] {
        self.original
            .as_deref()
            .unwrap_or_else(|| self.request.document().expose().as_bytes())
    }

    /// Whether the mode changed the body.
    pub fn is_rewritten(&self) -> bool {
        self.original.is_some()
    }

    /// What was found.
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

/// Applies the account's policy. Where it masks, a mint gives each value a token of its own instead of a placeholder.
pub fn apply_with(
    policy: &Policy,
    scanner: &Scanner,
    scanned: Scanned,
    mint: Option<&mut Mint<'_>>,
) -> Outcome {
    let Scanned {
        request,
        findings,
        report,
    } = scanned;
    if report.has_phi() && matches!(policy.mode.effect, Effect::Block) {
        return Outcome::Block(report);
    }
    // What an owner allows is attachments. A text that was not looked at in whole may hold anything.
    if !report.is_complete() && !policy.mode.forwards_unscanned() {
        return Outcome::Unfinished(report);
    }
    if let Some(part) = report.unscannable().first()
        && !policy.allow_unscannable
        && !policy.mode.forwards_unscanned()
    {
        let message = format!(
            "{} cannot be scanned for PHI and is not forwarded in this mode",
            name_of(&part.path)
        );
        let refusal = RequestError::field("unscannable_content", part.path.clone(), message);
        return Outcome::Refuse(refusal, report);
    }
    match policy.mode.effect {
        Effect::Replace(replacement) if report.has_phi() => {
            let mut stand_ins = StandIns { replacement, mint };
            match rewrite(scanner, &request, findings, &mut stand_ins) {
                Ok(rewritten) => {
                    let original = Some(request.document().expose().as_bytes().to_vec());
                    Outcome::Forward(CleanRequest {
                        request: rewritten,
                        original,
                        report,
                        mode: policy.mode,
                    })
                }
                Err(Unsafe::NotRewritable(refusal)) => Outcome::Refuse(refusal, report),
                Err(Unsafe::Unfinished) => Outcome::Unfinished(report),
            }
        }
        Effect::Keep | Effect::Block | Effect::Replace(_) => Outcome::Forward(CleanRequest {
            request,
            original: None,
            report,
            mode: policy.mode,
        }),
    }
}

fn name_of(path: &str) -> &str {
    if path.is_empty() { "the request" } else { path }
}

/// What a look at a document as it would leave shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastLook {
    /// Nothing of concern.
    Clean,
    /// PHI of these kinds.
    Phi(Vec<PhiKind>),
    /// It was not looked at in whole.
    Unfinished,
}

/// Looks at a document as it would leave. Translation joins texts that stood apart, so PHI may show only now.
pub fn look_again(scanner: &Scanner, body: Vec<u8>) -> LastLook {
    let Ok(document) = Document::parse(body, PROVIDER_BOUNDS) else {
        return LastLook::Unfinished;
    };
    let looked = scan_document(scanner, &document);
    if looked.is_clean() {
        return LastLook::Clean;
    }
    if looked.findings.is_empty() {
        return LastLook::Unfinished;
    }
    let mut kinds: Vec<PhiKind> = looked.findings.iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    LastLook::Phi(kinds)
}

/// Translation wraps what the caller nested, and unpacks the arguments of tool calls, which are bounded by themselves.
const PROVIDER_BOUNDS: Bounds = Bounds {
    depth_max: 1024,
    values_max: usize::MAX,
};

/// What a mode puts in the place of a finding.
type Replacement = fn(Replaced<'_>) -> Cow<'_, str>;

/// Why a request could not be made safe.
enum Unsafe {
    NotRewritable(RequestError),
    Unfinished,
}

impl From<RequestError> for Unsafe {
    fn from(error: RequestError) -> Self {
        Self::NotRewritable(error)
    }
}

fn rewrite(
    scanner: &Scanner,
    request: &ChatRequest,
    found: Vec<LocatedFinding>,
    stand_ins: &mut StandIns<'_, '_>,
) -> Result<ChatRequest, Unsafe> {
    let mut current = request.clone();
    let mut found = found;
    for _ in 0..ROUNDS_MAX {
        let body = splice(current.document(), &found, stand_ins)?;
        // The body was within the limits before; rewriting does not add to it.
        current = ChatRequest::read_again(body).map_err(|_| not_rewritable(String::new()))?;
        let looked = scan_document(scanner, current.document());
        if looked.is_clean() {
            return Ok(current);
        }
        if !looked.is_complete {
            return Err(Unsafe::Unfinished);
        }
        found = looked.findings;
    }
    let path = found
        .first()
        .map(|first| chat::path(&current.document().value(first.node)));
    Err(not_rewritable(path.unwrap_or_default()).into())
}

fn not_rewritable(path: String) -> RequestError {
    let message = format!(
        "{} holds PHI that cannot be replaced without breaking the request",
        name_of(&path)
    );
    RequestError::field("phi_not_rewritable", path, message)
}

/// What stands in place of findings.
struct StandIns<'m, 'k> {
    replacement: Replacement,
    mint: Option<&'m mut Mint<'k>>,
}

impl StandIns<'_, '_> {
    /// A token wherever a placeholder would stand, if there is a mint.
    fn of<'v>(&mut self, kind: PhiKind, value: &'v str) -> Cow<'v, str> {
        let placeholder = kind.placeholder();
        let plain = (self.replacement)(Replaced {
            placeholder,
            text: value,
        });
        match &mut self.mint {
            Some(mint) if plain == placeholder => Cow::Owned(mint.token(kind, value)),
            _ => plain,
        }
    }
}

fn splice(
    document: &Document,
    found: &[LocatedFinding],
    stand_ins: &mut StandIns<'_, '_>,
) -> Result<Vec<u8>, RequestError> {
    if let Some(fixed) = found.iter().find(|finding| finding.place != Place::Text) {
        return Err(not_rewritable(chat::path(&document.value(fixed.node))));
    }
    let mut edits: Vec<(Range<usize>, String)> = Vec::with_capacity(found.len());
    let mut values = values_of(document, found).into_iter();
    for of_one_text in found.chunk_by(|one, next| one.node == next.node) {
        let value = document.value(of_one_text[0].node);
        let text = value.decoded();
        let mut rewritten = String::with_capacity(text.expose().len());
        let mut copied = 0;
        for finding in of_one_text {
            let value = values.next().unwrap_or_default();
            let stand_in = if finding.continues {
                Cow::Borrowed("")
            } else {
                stand_ins.of(finding.kind, &value)
            };
            rewritten.push_str(&text.expose()[copied..finding.span.start]);
            rewritten.push_str(&stand_in);
            let place = text.span_in_document(finding.span.clone());
            edits.push((place, json_escaped(&stand_in).into_owned()));
            copied = finding.span.end;
        }
        rewritten.push_str(&text.expose()[copied..]);
        if is_json(text.expose()) && !is_json(&rewritten) {
            return Err(not_rewritable(chat::path(&value)));
        }
    }
    Ok(document.splice(&edits))
}

/// A replacement as it stands inside a JSON string: a mode may keep a part of what was found.
fn json_escaped(text: &str) -> Cow<'_, str> {
    let needs_escape = |byte: u8| byte < 0x20 || matches!(byte, b'"' | b'\\');
    if !text.bytes().any(needs_escape) {
        return Cow::Borrowed(text);
    }
    let quoted = serde_json::Value::from(text).to_string();
    Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
}

/// Tool arguments are JSON inside a string: they must still be JSON afterwards.
fn is_json(text: &str) -> bool {
    let trimmed = text.trim_start();
    trimmed.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
