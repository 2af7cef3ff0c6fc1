//! The content of a request, original beside sent, cut at its findings.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::tz::TimeZone;
use phi_detect::PhiKind;
use phigate_core::json::{Bounds, Document};
use phigate_core::request;
use phigate_store::{Decision, Revealed};
use phigate_types::Finding;
use phigate_types::{Effect, Mode, Replaced};

use crate::view::{Piece, kind_class};

/// Content, revealed.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) sent_title: &'static str,
    pub(crate) passages: Vec<Passage>,
    pub(crate) original: String,
    pub(crate) sent: String,
    /// The provider's text, if it held new PHI.
    pub(crate) reply: String,
}

/// One text of the request in which something was found, before and after.
#[derive(Debug)]
pub(crate) struct Passage {
    pub(crate) path: String,
    pub(crate) original: Vec<Piece>,
    pub(crate) sent: Vec<Piece>,
}

/// Treatment of a request's texts on the way out.
enum Treatment {
    Unchanged,
    NothingSent,
    /// Each finding was treated by the policy; findings of older records, which do not say how, as in this mode. The year
    /// of the request decides what a generalized value may tell.
    Rewritten(Mode, i32),
}

/// Passages that are shown side by side; the whole text is below them.
const PASSAGES: usize = 200;

impl Content {
    /// Puts original and sent text beside each other. The sent text is taken from the record, never recomputed: if a
    /// text is not in the record, the page says so.
    pub(crate) fn new(decision: &Decision, revealed: &Revealed) -> Content {
        let bytes = |content: &Option<phigate_store::SecretBytes>| {
            content
                .as_ref()
                .map(|content| String::from_utf8_lossy(content.expose()).into_owned())
        };
        let original = bytes(&revealed.original).unwrap_or_default();
        let treatment = treatment(decision);
        let sent = match (&treatment, bytes(&revealed.sent)) {
            (_, Some(sent)) => sent,
            (Treatment::Unchanged, None) => original.clone(),
            (Treatment::NothingSent | Treatment::Rewritten(..), None) => String::new(),
        };
        let texts = strings(&original);
        let sent_texts: Vec<String> = strings(&sent).into_iter().map(|(_, text)| text).collect();
        let mut by_path: HashMap<&str, Vec<&Finding>> = HashMap::new();
        for finding in &decision.findings {
            by_path.entry(&finding.path).or_default().push(finding);
        }
        let passages = texts
            .iter()
            .filter_map(|(path, text)| Some((path, text, by_path.get(path.as_str())?)))
            .take(PASSAGES)
            .map(|(path, text, here)| passage(path, text, here, &treatment, &sent_texts))
            .collect();
        Content {
            sent_title: match treatment {
                Treatment::Unchanged => "Sent to the provider, unchanged",
                Treatment::NothingSent => "Nothing was sent",
                Treatment::Rewritten(..) => "Sent to the provider",
            },
            passages,
            original: pretty(&original),
            sent: pretty(&sent),
            reply: pretty(&bytes(&revealed.reply).unwrap_or_default()),
        }
    }
}

fn treatment(decision: &Decision) -> Treatment {
    // The action says what happened; the mode only what was meant to.
    let done = Mode::all().find(|mode| mode.action == decision.action);
    match done.map(|mode| (mode, mode.effect)) {
        Some((_, Effect::Keep)) => Treatment::Unchanged,
        Some((mode, Effect::Replace(_))) => {
            let sent = decision.time.to_zoned(TimeZone::UTC);
            Treatment::Rewritten(mode, i32::from(sent.year()))
        }
        Some((_, Effect::Block)) | None => Treatment::NothingSent,
    }
}

fn passage(
    path: &str,
    text: &str,
    findings: &[&Finding],
    treatment: &Treatment,
    sent_texts: &[String],
) -> Passage {
    let original: Vec<Piece> = cut(text, findings, None)
        .into_iter()
        .map(|one| one.piece)
        .collect();
    let sent = match treatment {
        Treatment::Unchanged => original.clone(),
        Treatment::NothingSent => Vec::new(),
        Treatment::Rewritten(mode, year) => {
            let expected = cut(text, findings, Some((*mode, *year)));
            let texts = expected.iter().map(|one| one.piece.text.as_str());
            let expected_text: String = texts.collect();
            // A translation may join texts, so it is enough that a sent text holds this one.
            let as_sent = || sent_texts.iter().find_map(|sent| as_sent(&expected, sent));
            if sent_texts.iter().any(|sent| sent.contains(&expected_text)) {
                expected.into_iter().map(|one| one.piece).collect()
            } else if let Some(pieces) = as_sent() {
                pieces
            } else {
                vec![Piece::plain(
                    "This text is not in what was sent. Look at the whole request below.",
                )]
            }
        }
    };
    Passage {
        path: path.to_owned(),
        original,
        sent,
    }
}

/// A piece as it may have been sent.
struct Expected {
    piece: Piece,
    /// The coarser value that may stand in place of a placeholder.
    coarse: Option<String>,
}

impl Expected {
    /// The piece's length at the beginning of a sent text; `None` if something else is there. A placeholder may carry a
    /// code, `[NAME_7K3QD]` for `[NAME]`, or be a coarser value.
    fn length_in(&self, rest: &str) -> Option<usize> {
        let text = self.piece.text.as_str();
        match text.strip_suffix(']') {
            Some(open) if !self.piece.class.is_empty() && rest.starts_with(open) => {
                rest.find(']').map(|end| end + 1)
            }
            _ if rest.starts_with(text) => Some(text.len()),
            _ => {
                let coarse = self.coarse.as_deref()?;
                rest.starts_with(coarse).then_some(coarse.len())
            }
        }
    }
}

/// Returns the pieces as they are in a sent text.
fn as_sent(expected: &[Expected], sent: &str) -> Option<Vec<Piece>> {
    let first = expected.first()?;
    let starts = sent.char_indices().map(|(at, _)| at);
    let mut starts = starts.filter(|at| first.length_in(&sent[*at..]).is_some());
    starts.find_map(|at| pieces_at(expected, &sent[at..]))
}

/// Returns the pieces at the beginning of a sent text.
fn pieces_at(expected: &[Expected], mut rest: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::with_capacity(expected.len());
    for one in expected {
        let length = one.length_in(rest)?;
        if length > 0 {
            pieces.push(Piece {
                text: rest[..length].to_owned(),
                ..one.piece.clone()
            });
        }
        rest = &rest[length..];
    }
    Some(pieces)
}

/// Cuts a text at findings, whose positions count characters; with a mode and a year, as the text was sent.
fn cut(text: &str, findings: &[&Finding], sent_in: Option<(Mode, i32)>) -> Vec<Expected> {
    let plain = |text: &str| Expected {
        piece: Piece::plain(text),
        coarse: None,
    };
    let starts = text.char_indices().map(|(at, _)| at);
    let starts: Vec<usize> = starts.chain([text.len()]).collect();
    let byte = |position: u64| {
        let position = usize::try_from(position).ok()?;
        starts.get(position).copied()
    };
    let mut pieces = Vec::new();
    let mut copied = 0;
    for finding in findings {
        let (Some(start), Some(end)) = (byte(finding.start), byte(finding.end)) else {
            continue;
        };
        let (Some(before), Some(found)) = (text.get(copied..start), text.get(start..end)) else {
            continue;
        };
        if !before.is_empty() {
            pieces.push(plain(before));
        }
        let kind = PhiKind::from_code(&finding.kind);
        let treated = sent_in.map(|(mode, _)| finding.action.unwrap_or(mode).effect);
        let shown = match (treated, kind) {
            (Some(Effect::Replace(word)), Some(kind)) => word(Replaced {
                placeholder: kind.placeholder(),
                text: found,
            }),
            _ => Cow::Borrowed(found),
        };
        if !shown.is_empty() {
            let masked = kind.filter(|kind| shown == kind.placeholder());
            let coarse = masked.zip(sent_in);
            let title = format!(
                "{}, score {:.2}, rule {}",
                label(finding),
                finding.score,
                finding.rule
            );
            pieces.push(Expected {
                coarse: coarse.and_then(|(kind, (_, year))| kind.generalize(found, year)),
                piece: Piece {
                    text: shown.into_owned(),
                    class: kind.map_or("k6", kind_class),
                    title,
                },
            });
        }
        copied = end;
    }
    if let Some(rest) = text.get(copied..).filter(|rest| !rest.is_empty()) {
        pieces.push(plain(rest));
    }
    pieces
}

fn label(finding: &Finding) -> &str {
    match PhiKind::from_code(&finding.kind) {
        Some(kind) => kind.label(),
        None => &finding.kind,
    }
}

/// Returns every string of a document with its place; empty if the body is not a document.
/// The text of a finding in the content of its request; `None` for a finding in a document, a key or a number.
pub(crate) fn value_of(revealed: &Revealed, finding: &Finding) -> Option<String> {
    let original = revealed.original.as_ref()?;
    let body = std::str::from_utf8(original.expose()).ok()?;
    let mut texts = strings(body).into_iter();
    let (_, text) = texts.find(|(path, _)| *path == finding.path)?;
    let [start, end] = [finding.start, finding.end].map(|at| usize::try_from(at).ok());
    let (start, end) = (start?, end?);
    let value: String = text
        .chars()
        .skip(start)
        .take(end.checked_sub(start)?)
        .collect();
    (value.chars().count() == end - start).then_some(value)
}

fn strings(body: &str) -> Vec<(String, String)> {
    let Ok(document) = Document::parse(body.as_bytes().to_vec(), Bounds::NONE) else {
        return Vec::new();
    };
    document
        .nodes()
        .filter(|value| !value.is_key())
        .filter_map(|value| Some((request::path(&value), value.string()?.into_owned())))
        .collect()
}

/// A document over several lines, to be read. Only space between its parts changes: order, numbers and escapes stay
/// as they were, because this is evidence.
fn pretty(body: &str) -> String {
    if Document::parse(body.as_bytes().to_vec(), Bounds::NONE).is_err() {
        return body.to_owned();
    }
    let mut out = String::with_capacity(body.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let mut last = ' ';
    for character in body.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
            out.push(character);
            continue;
        }
        if character.is_ascii_whitespace() {
            continue;
        }
        let closes = matches!(character, '}' | ']');
        depth = if closes {
            depth.saturating_sub(1)
        } else {
            depth
        };
        let opened = matches!(last, '{' | '[');
        let breaks = if closes {
            !opened
        } else {
            opened || last == ','
        };
        if breaks {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        }
        out.push(character);
        match character {
            '"' => in_string = true,
            '{' | '[' => depth += 1,
            ':' => out.push(' '),
            _ => {}
        }
        last = character;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use phigate_types::Action;
    use serde_json::json;

    const ORIGINAL: &str = r#"{"model":"m","messages":[{"role":"user","content":"Ärztin: Jane Roe, SSN 123-45-6789."}]}"#;

    fn decision(mode: Mode, action: Action) -> Decision {
        let finding = |kind: &str, start: u64, end: u64| json!({"type": kind, "path": "messages[0].content", "start": start, "end": end, "score": 0.9, "rule": "r"});
        serde_json::from_value(json!({
            "request_id": uuid::Uuid::nil(), "time": "2026-11-15T00:00:00Z", "account": "default", "key_id": "k",
            "mode": mode, "action": action, "model": "m", "family": "openai", "stream": false, "phi_detected": true,
            "types": {}, "findings": [finding("name", 8, 16), finding("ssn", 22, 33)], "unscannable": [],
            "sizes": {"body": 1, "text": 1}, "detector_version": "test"
        }))
        .unwrap()
    }

    fn content(mode: Mode, action: Action, sent: Option<&str>) -> Content {
        let revealed = Revealed {
            request_id: uuid::Uuid::nil(),
            original: Some(ORIGINAL.as_bytes().into()),
            sent: sent.map(|sent| sent.as_bytes().into()),
            attempts: Vec::new(),
            reply: None,
        };
        Content::new(&decision(mode, action), &revealed)
    }

    fn text(pieces: &[Piece]) -> String {
        pieces
            .iter()
            .map(|piece| {
                if piece.class.is_empty() {
                    piece.text.clone()
                } else {
                    format!("«{}»", piece.text)
                }
            })
            .collect()
    }

    #[test]
    fn original_and_sent_are_split_at_findings() {
        let sent =
            r#"{"contents":[{"parts":[{"text":"You help.\n\nÄrztin: [NAME], SSN [SSN]."}]}]}"#;
        let masked = content(Mode::MASK, Action::MASKED, Some(sent));
        assert_eq!(masked.passages.len(), 1);
        assert_eq!(
            text(&masked.passages[0].original),
            "Ärztin: «Jane Roe», SSN «123-45-6789»."
        );
        assert_eq!(
            text(&masked.passages[0].sent),
            "Ärztin: «[NAME]», SSN «[SSN]»."
        );
        let coded = sent.replace("[NAME]", "[NAME_7K3QD]");
        let coded = coded.replace("[SSN]", "[SSN_0Z9YXA]");
        let coded = content(Mode::MASK, Action::MASKED, Some(&coded));
        assert_eq!(
            text(&coded.passages[0].sent),
            "Ärztin: «[NAME_7K3QD]», SSN «[SSN_0Z9YXA]»."
        );
        let redacted = content(
            Mode::REDACT,
            Action::REDACTED,
            Some(r#"{"messages":[{"content":"Ärztin: , SSN ."}]}"#),
        );
        assert_eq!(text(&redacted.passages[0].sent), "Ärztin: , SSN .");
    }

    #[test]
    fn each_finding_shows_its_own_treatment() {
        let mut decision = decision(Mode::FLAG, Action::MASKED);
        decision.findings[0].action = Some(Mode::MASK);
        decision.findings[1].action = Some(Mode::FLAG);
        let sent = r#"{"messages":[{"content":"Ärztin: [NAME], SSN 123-45-6789."}]}"#;
        let revealed = Revealed {
            request_id: uuid::Uuid::nil(),
            original: Some(ORIGINAL.as_bytes().into()),
            sent: Some(sent.as_bytes().into()),
            attempts: Vec::new(),
            reply: None,
        };
        let shown = Content::new(&decision, &revealed);
        let wanted = "Ärztin: «[NAME]», SSN «123-45-6789».";
        assert_eq!(text(&shown.passages[0].sent), wanted);
    }

    #[test]
    fn generalized_value_is_shown_as_sent() {
        let original = r#"{"messages":[{"content":"Jane Roe, born 03/14/1962, asks."}]}"#;
        let sent = r#"{"messages":[{"content":"[NAME_7K3QD], born 1962, asks."}]}"#;
        let mut decision = decision(Mode::MASK, Action::MASKED);
        (decision.findings[0].start, decision.findings[0].end) = (0, 8);
        let birth = &mut decision.findings[1];
        birth.kind = PhiKind::all().nth(1).unwrap().code().into();
        (birth.start, birth.end) = (15, 25);
        let revealed = Revealed {
            request_id: uuid::Uuid::nil(),
            original: Some(original.as_bytes().into()),
            sent: Some(sent.as_bytes().into()),
            attempts: Vec::new(),
            reply: None,
        };
        let shown = Content::new(&decision, &revealed);
        let wanted = "«[NAME_7K3QD]», born «1962», asks.";
        assert_eq!(text(&shown.passages[0].sent), wanted);
    }

    #[test]
    fn document_layout_keeps_its_content() {
        let body = r#"{ "z":[1.50,{}, []],"a":"b: {\"c\\\\\", 1}" }"#;
        let laid_out = "{\n  \"z\": [\n    1.50,\n    {},\n    []\n  ],\n  \"a\": \"b: {\\\"c\\\\\\\\\\\", 1}\"\n}";
        assert_eq!(pretty(body), laid_out);
        assert_eq!(pretty("no document {"), "no document {");
    }

    #[test]
    fn missing_sent_text_is_never_invented() {
        let other = content(
            Mode::MASK,
            Action::MASKED,
            Some(r#"{"messages":[{"content":"Jane Roe"}]}"#),
        );
        assert!(text(&other.passages[0].sent).starts_with("This text is not in what was sent"));
    }

    #[test]
    fn unchanged_and_unsent_requests_say_so() {
        let flagged = content(Mode::FLAG, Action::FORWARDED, None);
        assert_eq!(flagged.sent_title, "Sent to the provider, unchanged");
        assert_eq!(flagged.passages[0].sent, flagged.passages[0].original);
        for (mode, action) in [
            (Mode::BLOCK, Action::BLOCKED),
            (Mode::MASK, Action::REFUSED),
        ] {
            let unsent = content(mode, action, None);
            assert_eq!(unsent.sent_title, "Nothing was sent");
            assert!(unsent.passages[0].sent.is_empty() && unsent.sent.is_empty());
        }
    }
}
