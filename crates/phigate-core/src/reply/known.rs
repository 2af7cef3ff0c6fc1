//! Events that add to one text and say nothing else, known again without being read as JSON.
//!
//! Nearly all events of a stream are like the one before but for the model's words.

use super::Stop;
use super::field::Fields;
use super::field_id::FieldId;
use crate::json::write_escaped;
use crate::wire::Frame;
use crate::wire::sse::SseEvent;

/// Event of a known look, whatever its text.
pub(crate) struct KnownEvent {
    id: FieldId,
    frame: Frame,
    /// Position of the model's text in the frame; another text may be padding.
    number: usize,
}

/// Writes each text as a separate event.
pub(crate) type WriteTexts<'w> = dyn Fn(Vec<(FieldId, String)>, &mut Vec<u8>) + 'w;

impl KnownEvent {
    /// An event that was read from `data`, adds `text` to `id`, and would say nothing without it.
    pub(crate) fn new(data: &[u8], id: FieldId, text: &str, padding: Option<&str>) -> Option<Self> {
        let is_ahead = |padding: &str| padding.as_ptr() < text.as_ptr();
        Some(Self {
            id,
            frame: Frame::around(data, [Some(text), padding].into_iter().flatten())?,
            number: usize::from(padding.is_some_and(is_ahead)),
        })
    }

    /// Takes the next event, and writes the part that may go out now. `None` if it has another look.
    pub(crate) fn take(
        &self,
        fields: &mut Fields,
        event: &SseEvent,
        write_texts: &WriteTexts<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Result<(), Stop>> {
        let data = event.data.as_deref().unwrap_or_default();
        let place = self.frame.place_of(self.number, data)?;
        let text = std::str::from_utf8(&data[place.clone()]).ok()?;
        let taken = match text {
            "" => Ok(None),
            _ => fields.take_piece(self.id, text),
        };
        write_texts(std::mem::take(&mut fields.before), out);
        Some(taken.map(|changed| match changed.as_deref() {
            None => out.extend_from_slice(&event.raw),
            // All of it is held back.
            Some("") => {}
            Some(changed) => {
                if !event.name.is_empty() {
                    out.extend_from_slice(b"event: ");
                    out.extend_from_slice(&event.name);
                    out.push(b'\n');
                }
                out.extend_from_slice(b"data: ");
                out.extend_from_slice(&data[..place.start]);
                write_escaped(changed, out);
                out.extend_from_slice(&data[place.end..]);
                out.extend_from_slice(b"\n\n");
            }
        }))
    }
}
