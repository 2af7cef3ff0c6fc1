//! The walk over responses, whole and in events.
//!
//! A stream says every text several times: in deltas, when the text is done, when its part and its item are done, and
//! in the response at the end. All of them must agree.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::json::Json;
use crate::reply::{FieldId, Fields, Part, Stop, Walk, member};
use crate::wire::sse::SseEvent;

use super::item::{self, Known, REASONING, SUMMARY};

/// Events that add to a text, without `.delta`: which text, and the member of the `.done` event that repeats it.
const DELTAS: &[(&str, Part, &str)] = &[
    ("response.output_text", Part::Content, "text"),
    ("response.refusal", Part::Refusal, "refusal"),
    (
        "response.function_call_arguments",
        Part::Arguments,
        "arguments",
    ),
    ("response.mcp_call_arguments", Part::Arguments, "arguments"),
    ("response.custom_tool_call_input", Part::Input, "input"),
    ("response.code_interpreter_call_code", Part::Input, "code"),
    (
        "response.reasoning_summary_text",
        Part::Reasoning(SUMMARY),
        "text",
    ),
    (
        "response.reasoning_text",
        Part::Reasoning(REASONING),
        "text",
    ),
];

/// Members of an event that hold its content.
const TOLD: &[&str] = &[
    // Alphabetical.
    "arguments",
    "code",
    "delta",
    "input",
    "refusal",
    "text",
];

/// Members of an event that its walk takes, or that hold no text.
const OF_EVENT: &[&str] = &[
    // Alphabetical.
    "annotation",
    "arguments",
    "code",
    "delta",
    "input",
    "item",
    "logprobs",
    "obfuscation",
    "part",
    "refusal",
    "response",
    "text",
];

/// Walks over one response.
#[derive(Default)]
pub(super) struct ResponseWalk {
    known: Known,
    /// Texts that are coming in, in pieces.
    open: BTreeMap<FieldId, Open>,
    /// Difference by which the numbers of our events are ahead of the provider's.
    shift: i64,
    /// The number of the provider's next event, if it numbers them.
    next: Option<u64>,
}

/// A text that is coming in.
#[derive(Default)]
struct Open {
    written: String,
    treated: String,
    /// Members of its delta events besides the delta, for events that the gateway adds.
    template: Vec<(Cow<'static, str>, Json<'static>)>,
}

impl Walk for ResponseWalk {
    fn reply(&mut self, fields: &mut Fields, reply: &mut Json<'_>) -> Result<(), Stop> {
        item::take_response(fields, &mut self.known, reply)
    }

    fn event(
        &mut self,
        fields: &mut Fields,
        event: &SseEvent,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let data = event.data.as_deref().unwrap_or_default();
        let mut data = Json::read(data).map_err(|_| Stop::Unreadable)?;
        let number = data.get("sequence_number").and_then(Json::as_u64);
        fields.is_changed = false;
        let result = self.take(fields, &mut data);
        self.next = number;
        self.write_before(fields, number, out);
        result?;
        self.next = number.map(|number| number.saturating_add(1));
        if fields.is_changed && is_empty_delta(&data) {
            self.shift -= 1;
        } else if fields.is_changed || self.shift != 0 {
            self.renumber(&mut data, number);
            write_event(&data, out);
        } else {
            out.extend_from_slice(&event.raw);
        }
        Ok(())
    }

    fn break_off(&mut self, fields: &mut Fields, out: &mut Vec<u8>) -> Result<(), Stop> {
        let result = self.flush(fields, |_| true);
        self.write_before(fields, self.next, out);
        result
    }

    fn next_number(&self) -> Option<u64> {
        let next = self.next?;
        Some(next.saturating_add_signed(self.shift))
    }
}

impl ResponseWalk {
    fn take(&mut self, fields: &mut Fields, data: &mut Json<'_>) -> Result<(), Stop> {
        let kind = data.text_of("type").unwrap_or_default().to_owned();
        let index = data.count_of("output_index");
        fields.take_unknown(index, data, OF_EVENT)?;
        if let Some((name, step)) = kind.rsplit_once('.')
            && let Some((_, part, member)) = DELTAS.iter().find(|row| row.0 == name)
        {
            let number = data.count_of("content_index") + data.count_of("summary_index");
            let id = FieldId::numbered(index, *part, number);
            return match step {
                "delta" => self.take_delta(fields, id, data),
                _ => self.take_done(fields, id, member, data),
            };
        }
        let is_summary = kind.starts_with("response.reasoning_summary_part.");
        let number = data.count_of("content_index") + data.count_of("summary_index");
        if kind.ends_with(".done") {
            self.flush(fields, |id| id.choice == index)?;
        }
        if let Some(part) = member(data, "part") {
            let place = (index, number);
            return item::take_part(fields, &mut self.known, place, is_summary, part);
        }
        if let Some(item) = member(data, "item") {
            return item::take_item(fields, &mut self.known, index, item);
        }
        if let Some(response) = member(data, "response") {
            if response.text_of("status") != Some("in_progress") {
                self.flush(fields, |_| true)?;
            }
            return item::take_response(fields, &mut self.known, response);
        }
        if kind.ends_with(".annotation.added")
            && let Some(annotation) = member(data, "annotation")
        {
            return fields.take_leaves(index, annotation);
        }
        TOLD.iter().try_for_each(|name| match member(data, name) {
            Some(value) => fields.take_beside(index, value),
            None => Ok(()),
        })
    }

    fn take_delta(
        &mut self,
        fields: &mut Fields,
        id: FieldId,
        data: &mut Json<'_>,
    ) -> Result<(), Stop> {
        let written = data.text_of("delta").unwrap_or_default().to_owned();
        let open = self.open.entry(id).or_default();
        if open.template.is_empty() {
            open.template = template(data);
        }
        open.written.push_str(&written);
        if fields.withholds()
            && let Some(logprobs) = member(data, "logprobs")
        {
            item::empty(fields, logprobs);
        }
        let result = match member(data, "delta") {
            Some(delta) => fields.take_text(id, delta),
            None => Ok(()),
        };
        if result.is_ok() {
            let treated = data.text_of("delta").unwrap_or_default();
            open.treated.push_str(treated);
        }
        result
    }

    fn take_done(
        &mut self,
        fields: &mut Fields,
        id: FieldId,
        name: &str,
        data: &mut Json<'_>,
    ) -> Result<(), Stop> {
        self.flush(fields, |open| *open == id)?;
        if fields.withholds()
            && let Some(logprobs) = member(data, "logprobs")
        {
            item::empty(fields, logprobs);
        }
        match member(data, name) {
            Some(text) => self.known.take(fields, id, text),
            None => Ok(()),
        }
    }

    /// Ends texts: flushes the held part of each and remembers the result.
    fn flush(
        &mut self,
        fields: &mut Fields,
        is_wanted: impl Fn(&FieldId) -> bool,
    ) -> Result<(), Stop> {
        let wanted: Vec<FieldId> = self
            .open
            .keys()
            .copied()
            .filter(|id| is_wanted(id))
            .collect();
        for id in wanted {
            let mut rest = Vec::new();
            let result = fields.end(&[id], &mut rest);
            if let Some(open) = self.open.get_mut(&id) {
                for (_, text) in &rest {
                    open.treated.push_str(text);
                }
            }
            fields.before.append(&mut rest);
            result?;
            if let Some(open) = self.open.get_mut(&id) {
                let written = std::mem::take(&mut open.written);
                let treated = std::mem::take(&mut open.treated);
                self.known.add(id.part, written, treated);
            }
        }
        Ok(())
    }

    /// Writes texts that must precede an event, as separate events.
    fn write_before(&mut self, fields: &mut Fields, number: Option<u64>, out: &mut Vec<u8>) {
        for (id, text) in std::mem::take(&mut fields.before) {
            let template = self.open.get(&id).map(|open| open.template.clone());
            let Some(mut members) = template.filter(|_| !text.is_empty()) else {
                continue;
            };
            members.push(("delta".into(), Json::text(text)));
            let mut event = Json::Object(members);
            self.renumber(&mut event, number);
            self.shift += 1;
            write_event(&event, out);
        }
    }

    fn renumber(&self, event: &mut Json<'_>, number: Option<u64>) {
        if let (Some(place), Some(number)) = (member(event, "sequence_number"), number) {
            *place = number.saturating_add_signed(self.shift).into();
        }
    }
}

/// Returns the members of a delta event besides the delta.
fn template(data: &Json<'_>) -> Vec<(Cow<'static, str>, Json<'static>)> {
    let is_kept = |name: &str| PLACES.contains(&name);
    let members = data.members().iter().filter(|(name, _)| is_kept(name));
    let owned = members.map(|(name, value)| {
        let name = Cow::Owned(name.clone().into_owned());
        (name, value.clone().into_owned())
    });
    owned.collect()
}

/// Members of an event that say which part its text belongs to.
const PLACES: &[&str] = &[
    // Alphabetical.
    "content_index",
    "item_id",
    "output_index",
    "sequence_number",
    "summary_index",
    "type",
];

/// Whether all of a delta is held back, and its event says nothing else.
fn is_empty_delta(data: &Json<'_>) -> bool {
    let is_known = |name: &str| OF_EVENT.contains(&name) || PLACES.contains(&name);
    if !data.members().iter().all(|(name, _)| is_known(name)) {
        return false;
    }
    let is_delta = data
        .text_of("type")
        .is_some_and(|kind| kind.ends_with(".delta"));
    is_delta && data.text_of("delta") == Some("")
}

fn write_event(data: &Json<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(data.text_of("type").unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\ndata: ");
    data.write(out);
    out.extend_from_slice(b"\n\n");
}
