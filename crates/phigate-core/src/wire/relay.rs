//! Relays requests to a provider that speaks the caller's format, and its streams, without translation.
//!
//! The body is sent byte for byte, apart from the model when an alias replaces it and from a form's settings. Streams
//! come back byte for byte too, event by event, but are checked: an error inside a stream and a stream without its end
//! are failures.

use phigate_types::ProviderKind;

use crate::json::{Json, Value};

use super::failure::unreadable;
use super::sse::{SseEvent, SseReader};
use super::{
    Call, Expectation, FailureKind, Header, ProviderFailure, Refusal, ReplyContext, ReplySummary,
    StreamTranslator, Translated,
};

/// The call unchanged, if providers of the family speak its format themselves.
pub(super) fn relay(
    call: &Call<'_>,
    family: ProviderKind,
    headers: &'static [Header],
) -> Option<Result<Translated, Refusal>> {
    let (native, path) = call.form.native();
    if native != family {
        return None;
    }
    let path = path.iter().map(|step| (*step).to_owned()).collect();
    Some(as_it_came(call, path, headers))
}

fn as_it_came(
    call: &Call<'_>,
    path: Vec<String>,
    headers: &'static [Header],
) -> Result<Translated, Refusal> {
    let root = call.document.root();
    let model = root.get("model").ok_or_else(|| Refusal::missing("model"))?;
    let mut edits = opening(call, &root, &model, path.last())?;
    let mut adjusted = Vec::new();
    for setting in call.form.settings().iter().filter(|_| call.is_strict) {
        let given = root.get(setting.name);
        if given.is_some_and(|value| value.raw() == setting.value) {
            continue;
        }
        edits.push(set(&root, given.as_ref(), setting.name, setting.value));
        adjusted.push(setting.name.to_owned());
    }
    Ok(Translated {
        path,
        query: call.aside.query.map(Into::into),
        headers,
        given: call.aside.headers.clone(),
        body: edited(call.document.expose(), edits),
        is_as_scanned: true,
        adjusted,
        dropped: Vec::new(),
        expectation: Expectation::default(),
    })
}

/// An edit of a body: the range and its new content.
type Edit = (std::ops::Range<usize>, String);

/// Returns the edits for the model; empty if the body already names it. If the path names the model, the provider's
/// opening field takes its place. Requests that only count tokens name the model in any case.
fn opening(
    call: &Call<'_>,
    root: &Value<'_>,
    model: &Value<'_>,
    step: Option<&String>,
) -> Result<Vec<Edit>, Refusal> {
    let (name, value) = call.opening;
    let is_asked = model.string().is_some_and(|asked| asked == call.model);
    let asked = || (model.span(), Json::text(call.model).to_json_text());
    let mut edits: Vec<Edit> = Vec::new();
    if name == "model" {
        edits.extend((!is_asked).then(asked));
        return Ok(edits);
    }
    if root.get(name).is_some() {
        return Err(Refusal::value(name, "the provider's own value is sent"));
    }
    let value = Json::text(value).to_json_text();
    if step.is_some_and(|step| step == COUNTING) {
        edits.extend((!is_asked).then(asked));
        edits.push(set(root, None, name, &value));
        return Ok(edits);
    }
    let key = model.key().ok_or_else(|| Refusal::missing("model"))?;
    let place = key.span().start..model.span().end;
    edits.push((place, format!("\"{name}\":{value}")));
    Ok(edits)
}

/// The last path segment of requests that only count tokens.
const COUNTING: &str = "count_tokens";

/// The edit that gives a parameter this value. A new parameter is inserted first: the body is a non-empty object.
fn set(root: &Value<'_>, given: Option<&Value<'_>>, name: &str, value: &str) -> Edit {
    match given {
        Some(given) => (given.span(), value.to_owned()),
        None => {
            let inside = root.span().start + 1;
            (inside..inside, format!("\"{name}\":{value},"))
        }
    }
}

fn edited(text: &str, mut edits: Vec<Edit>) -> Vec<u8> {
    edits.sort_by_key(|(place, _)| place.start);
    let mut out = String::with_capacity(text.len() + 16);
    let mut copied = 0;
    for (place, replacement) in edits {
        out.push_str(&text[copied..place.start]);
        out.push_str(&replacement);
        copied = place.end;
    }
    out.push_str(&text[copied..]);
    out.into_bytes()
}

/// Handling of an event.
pub(crate) enum Flow {
    /// Passed on unchanged.
    Pass,
    /// Dropped: the event has no meaning.
    Skip,
    /// Passed on unchanged, as the last event.
    Last,
    /// Replaced by this, as the last event.
    LastAs(Vec<u8>),
}

/// Reads the events of one format.
pub(crate) trait Watch: Send {
    /// Reads an event. Its bytes are valid UTF-8.
    fn event(&mut self, event: &SseEvent) -> Result<Flow, ProviderFailure>;

    /// The summary of the answer up to now.
    fn summary(&self) -> &ReplySummary;
}

/// Relays whole events and reads them.
pub(crate) struct Relay {
    reader: SseReader,
    watch: Box<dyn Watch>,
    is_done: bool,
}

impl Relay {
    pub(crate) fn new(context: &ReplyContext, watch: Box<dyn Watch>) -> Self {
        Self {
            reader: SseReader::new(context.event_bytes_max),
            watch,
            is_done: false,
        }
    }

    fn relay(&mut self, event: &SseEvent, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let text = std::str::from_utf8(&event.raw).map_err(|_| unreadable())?;
        let flow = match event.data {
            None if is_comment(text) => Flow::Pass,
            None => Flow::Skip,
            Some(_) => self.watch.event(event)?,
        };
        match flow {
            Flow::Skip => {}
            Flow::Pass => out.extend_from_slice(&event.raw),
            Flow::Last => {
                self.is_done = true;
                out.extend_from_slice(&event.raw);
            }
            Flow::LastAs(bytes) => {
                self.is_done = true;
                out.extend_from_slice(&bytes);
            }
        }
        Ok(())
    }
}

impl StreamTranslator for Relay {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let mut input = bytes;
        while !self.is_done {
            let Some(event) = self
                .reader
                .next_event(&mut input)
                .map_err(|_| unreadable())?
            else {
                break;
            };
            self.relay(&event, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        if !self.is_done
            && let Some(event) = self.reader.finish()
        {
            let before = out.len();
            self.relay(&event, out)?;
            if out.len() > before {
                out.extend_from_slice(b"\n\n");
            }
        }
        if self.is_done {
            Ok(())
        } else {
            Err(ProviderFailure::new(FailureKind::CutStream))
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn summary(&self) -> &ReplySummary {
        self.watch.summary()
    }
}

/// Whether this is a comment. Comments keep connections alive, so they are passed on; other lines without data have no
/// meaning.
fn is_comment(text: &str) -> bool {
    text.split(['\r', '\n'])
        .all(|line| line.is_empty() || line.starts_with(':'))
}
