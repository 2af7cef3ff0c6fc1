//! Search for the texts of a reply, defined by each format of callers.

use super::Stop;
use super::field::Fields;
use crate::json::Json;
use crate::wire::sse::SseEvent;

/// Walks over the replies of one format. One walk serves one reply.
pub(crate) trait Walk: Send {
    /// Takes the texts of a complete reply.
    fn reply(&mut self, fields: &mut Fields, reply: &mut Json<'_>) -> Result<(), Stop>;

    /// Takes the texts of an event, and writes what may go out now. After an error what was written may still be sent.
    fn event(
        &mut self,
        fields: &mut Fields,
        event: &SseEvent,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop>;

    /// The stream broke off: what was held is judged and written.
    fn break_off(&mut self, fields: &mut Fields, out: &mut Vec<u8>) -> Result<(), Stop>;

    /// The number of the next event, in formats that number them.
    fn next_number(&self) -> Option<u64> {
        None
    }
}
