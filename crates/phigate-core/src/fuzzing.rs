//! Ways into private readers, for the fuzzer alone.

pub use crate::wire::event_stream_frames;
use crate::wire::sse::SseReader;

/// Events of a stream, each with its name and data, or `None` if an event was too large; and the bytes that made them.
pub type SseEvents = (Option<Vec<(Vec<u8>, Option<Vec<u8>>)>>, Vec<u8>);

/// Reads server-sent events from pieces of a stream.
pub fn sse_events(pieces: &[&[u8]]) -> SseEvents {
    let (mut reader, mut events, mut raw) = (SseReader::new(1024), Vec::new(), Vec::new());
    for piece in pieces {
        let mut input = *piece;
        loop {
            match reader.next_event(&mut input) {
                Ok(Some(event)) => {
                    raw.extend_from_slice(&event.raw);
                    events.push((event.name, event.data));
                }
                Ok(None) => break,
                // How much was read by then depends on the cut.
                Err(_) => return (None, Vec::new()),
            }
        }
    }
    if let Some(event) = reader.finish() {
        raw.extend_from_slice(&event.raw);
        events.push((event.name, event.data));
    }
    (Some(events), raw)
}
