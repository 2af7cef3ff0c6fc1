//! `POST /v1/scan`: finds PHI in texts or in JSON.

use phi_detect::Profile;
use phigate_types::{Depth, Effect, ErrorCode, Mode};
use serde::Serialize;

use crate::doors::CHAT;
use crate::json::{Document, Kind, NodeId, Value};
use crate::protect::{Found, Policy, ScannedDocument, Scanner, scan_plain};
use crate::request::{self, RequestError};
use crate::text::PhiText;

use super::fields::{given, object, of_kind, strings, wrong_value};
use super::{Answer, Answered, Refused, ServiceContext};

/// The three fields that can hold the content to scan.
const FORMS: [&str; 3] = ["text", "texts", "json"];

/// Most bytes of content that are explained: explaining has no deadline, and costs more per candidate than scanning.
const EXPLAINED_BYTES_MAX: usize = 16 << 10;

/// Fields beside the content.
const OPTIONS: [&str; 4] = ["action", "depth", "explain", "profile"];

/// The action that changes nothing. The other actions are the modes that replace findings.
const FIND: &str = "find";

/// Answers a scan request.
pub fn scan(context: &ServiceContext<'_>, body: Vec<u8>) -> Answered {
    let document = object(body, context.bounds)?;
    let root = document.root();
    let asked = Asked::read(&root)?;
    let at_depth = asked.depth.map(|depth| context.scanner.at_depth(depth));
    let scanner = at_depth.as_ref().unwrap_or(context.scanner);
    let of_profile = asked.profile.map(|profile| scanner.with_profile(profile));
    let scanner = of_profile.as_ref().unwrap_or(scanner);
    let scanned = scan_plain(scanner, CHAT.form, document);
    let report = scanned.report().clone();
    if !report.is_complete() {
        return Err(Refused::unfinished(&report));
    }
    let rewritten = match asked.mode {
        None => None,
        // The requested mode applies instead of the account's policy, because nothing is forwarded.
        Some(mode) => match scanned.rewrite(
            scanner,
            &Policy::uniform(mode).allowing_unscannable(context.policy.allows_unscannable()),
        ) {
            Ok(rewritten) => Some(rewritten),
            Err(reason) => return Err(Refused::not_rewritten(reason, &report)),
        },
    };
    let body = asked.answer(scanner, &scanned, rewritten.as_ref());
    let body = PhiText::new(body);
    Ok(Answer { body, report })
}

/// A parsed request, with its values as nodes of its body.
struct Asked {
    mode: Option<Mode>,
    /// Depth of this scan, instead of the account's.
    depth: Option<Depth>,
    /// Kinds to look for, instead of the account's.
    profile: Option<Profile>,
    /// Whether the answer says what spoke for and against each candidate.
    explains: bool,
    /// The values to scan, with one result for each.
    values: Vec<NodeId>,
    /// The member of a result that holds the rewritten value.
    member: &'static str,
}

impl Asked {
    fn read(root: &Value<'_>) -> Result<Self, RequestError> {
        let mode = action(root)?;
        let depth = depth(root)?;
        let profile = profile(root)?;
        let explains = explains(root)?;
        for value in root.values() {
            let name = value.key().and_then(|key| key.string()).unwrap_or_default();
            if !FORMS.contains(&name.as_ref()) && !OPTIONS.contains(&name.as_ref()) {
                let name = request::parameter_name(&value, &[]);
                return Err(wrong_value(name, "is not a field of a scan"));
            }
        }
        let mut forms = FORMS
            .into_iter()
            .filter_map(|form| Some((form, root.get(form)?)));
        let Some((form, value)) = forms.next() else {
            let message = "text, texts or json is required";
            let code = ErrorCode::MissingRequiredParameter;
            return Err(RequestError::field(code, "text", message));
        };
        if let Some((other, _)) = forms.next() {
            let words = format!("cannot stand beside {form}: send one of text, texts and json");
            return Err(wrong_value(other, &words));
        }
        if explains && value.raw().len() > EXPLAINED_BYTES_MAX {
            let words = format!("takes content of at most {EXPLAINED_BYTES_MAX} bytes");
            return Err(wrong_value("explain", &words));
        }
        let (values, member) = match form {
            "texts" => {
                strings(&value, form)?;
                (value.values().map(|text| text.id()).collect(), "text")
            }
            "text" => {
                of_kind(&value, Kind::String, form, "a string")?;
                (vec![value.id()], "text")
            }
            _ => (vec![value.id()], "json"),
        };
        Ok(Self {
            mode,
            depth,
            profile,
            explains,
            values,
            member,
        })
    }

    /// Writes the answer. The rewritten value is copied byte for byte, so that only findings differ from the caller's
    /// text.
    fn answer(
        &self,
        scanner: &Scanner,
        scanned: &ScannedDocument,
        rewritten: Option<&Document>,
    ) -> String {
        let mut out = String::from(r#"{"results":["#);
        for (index, node) in self.values.iter().enumerate() {
            out.push_str(if index == 0 {
                r#"{"findings":"#
            } else {
                r#",{"findings":"#
            });
            let value = scanned.document().value(*node);
            out.push_str(&self.findings(scanned, &value));
            if self.explains {
                out.push_str(r#","explanations":"#);
                out.push_str(&explanations(scanner, &value));
            }
            if let Some(rewritten) = rewritten {
                out.push_str(&format!(r#","{}":"#, self.member));
                out.push_str(rewritten.value(*node).raw());
            }
            out.push('}');
        }
        out.push_str(r#"],"detector_version":""#);
        out.push_str(phi_detect::VERSION);
        out.push_str("\"}");
        out
    }

    fn findings(&self, scanned: &ScannedDocument, value: &Value<'_>) -> String {
        let tells_paths = self.member == "json";
        let withheld = scanned.report().withheld_keys();
        let told = scanned.found_in(value).into_iter().map(|found| {
            let holder = scanned.document().value(found.node);
            let path = tells_paths.then(|| path_from(value, &holder, withheld));
            ReportedFinding::new(&found, path)
        });
        let told: Vec<ReportedFinding> = told.collect();
        serde_json::to_string(&told).expect("words and numbers always serialise")
    }
}

/// A finding for the caller.
#[derive(Serialize)]
struct ReportedFinding {
    #[serde(rename = "type")]
    kind: &'static str,
    start: usize,
    end: usize,
    score: f64,
    rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

impl ReportedFinding {
    fn new(found: &Found<'_>, path: Option<String>) -> Self {
        Self {
            kind: found.finding.kind.code(),
            start: found.start,
            end: found.end,
            score: found.finding.rounded_score(),
            rule: found.finding.rule,
            path,
        }
    }
}

/// A candidate with its reasons, without its text.
#[derive(Serialize)]
struct Explained {
    #[serde(rename = "type")]
    kind: &'static str,
    start: usize,
    end: usize,
    found: bool,
    score: f64,
    rule: &'static str,
    #[serde(rename = "for")]
    reasons_for: Vec<String>,
    #[serde(rename = "against")]
    reasons_against: Vec<String>,
}

/// Returns the evidence for and against each candidate of a text, as JSON. Values of other types have none.
fn explanations(scanner: &Scanner, value: &Value<'_>) -> String {
    let text = value.string().unwrap_or_default();
    let mut explained = scanner.detector().explain(&text);
    explained.sort_by_key(|one| (one.span.start, one.span.end));
    let code_points = |to: usize| text.get(..to).map_or(0, |before| before.chars().count());
    let told = explained.iter().map(|one| Explained {
        kind: one.kind.code(),
        start: code_points(one.span.start),
        end: code_points(one.span.end),
        found: one.is_found,
        score: f64::from((one.score * 1000.0).round()) / 1000.0,
        rule: one.rule,
        reasons_for: one.reasons_for(),
        reasons_against: one.reasons_against(),
    });
    let told: Vec<_> = told.collect();
    serde_json::to_string(&told).expect("words and numbers always serialise")
}

/// The depth asked for.
fn depth(root: &Value<'_>) -> Result<Option<Depth>, RequestError> {
    let Some(value) = given(root, "depth") else {
        return Ok(None);
    };
    of_kind(&value, Kind::String, "depth", "a string")?;
    let found = value.string().unwrap_or_default().parse();
    found.map(Some).map_err(|_| {
        let words: Vec<&str> = Depth::all().map(Depth::code).collect();
        wrong_value("depth", &format!("must be one of {}", words.join(", ")))
    })
}

/// The profile asked for.
fn profile(root: &Value<'_>) -> Result<Option<Profile>, RequestError> {
    let Some(value) = given(root, "profile") else {
        return Ok(None);
    };
    of_kind(&value, Kind::String, "profile", "a string")?;
    let found = Profile::from_code(&value.string().unwrap_or_default());
    found.map(Some).ok_or_else(|| {
        let words: Vec<&str> = scan_profiles().collect();
        wrong_value("profile", &format!("must be one of {}", words.join(", ")))
    })
}

/// The valid values of `profile`.
pub fn scan_profiles() -> impl Iterator<Item = &'static str> {
    Profile::all().map(Profile::code)
}

/// Whether explanations are asked for.
fn explains(root: &Value<'_>) -> Result<bool, RequestError> {
    let Some(value) = given(root, "explain") else {
        return Ok(false);
    };
    match value.raw() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong_value("explain", "must be true or false")),
    }
}

/// The mode that rewrites findings; `None` to change nothing.
fn action(root: &Value<'_>) -> Result<Option<Mode>, RequestError> {
    let Some(value) = given(root, "action") else {
        return Ok(None);
    };
    of_kind(&value, Kind::String, "action", "a string")?;
    let word = value.string().unwrap_or_default();
    if word == FIND {
        return Ok(None);
    }
    let named = rewriting().find(|mode| mode.code() == word);
    named.map(Some).ok_or_else(|| {
        let words: Vec<&str> = scan_actions().collect();
        wrong_value("action", &format!("must be one of {}", words.join(", ")))
    })
}

/// The valid values of `action`.
pub fn scan_actions() -> impl Iterator<Item = &'static str> {
    std::iter::once(FIND).chain(rewriting().map(Mode::code))
}

/// The modes that rewrite findings.
fn rewriting() -> impl Iterator<Item = Mode> {
    Mode::all().filter(|mode| matches!(mode.effect, Effect::Replace(_)))
}

/// The path from `top` to a value in it, made of the caller's keys. A key that holds PHI, or that is not a plain word,
/// is given by its position.
fn path_from(top: &Value<'_>, value: &Value<'_>, withheld: &[NodeId]) -> String {
    let mut steps = Vec::new();
    let mut at = *value;
    if at.is_key() {
        steps.push(format!(".{{{}}}", at.position()));
        at = at.parent().unwrap_or(at);
    }
    while at.id() != top.id() {
        steps.push(match at.key() {
            None => format!("[{}]", at.position()),
            Some(_) => format!(".{}", request::parameter_name(&at, withheld)),
        });
        let Some(parent) = at.parent() else { break };
        at = parent;
    }
    let path: String = steps.into_iter().rev().collect();
    path.strip_prefix('.').map(str::to_owned).unwrap_or(path)
}
