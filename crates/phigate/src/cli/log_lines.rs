//! Lines of the log, formatted at low cost, because every request writes one.
//!
//! The output equals that of the library. Unusual lines are left to the library: colours, records of other logging
//! crates, lines inside spans, values that need escapes.

use std::fmt::{self, Debug, Write};

use jiff::Timestamp;
use jiff::tz::Offset;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::config::LogFormat;

/// Initial capacity; most lines are shorter.
const LINE_BYTES: usize = 512;

/// A formatter with the library's formatter as its fallback.
pub(super) struct Lines<F> {
    format: LogFormat,
    library: F,
}

impl<F> Lines<F> {
    pub(super) fn new(format: LogFormat, library: F) -> Self {
        Self { format, library }
    }
}

impl<S, N, F> FormatEvent<S, N> for Lines<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let is_usual = !writer.has_ansi_escapes() && context.event_scope().is_none();
        match is_usual.then(|| write_line(self.format, event)).flatten() {
            Some(line) => writer.write_str(&line),
            None => self.library.format_event(context, writer, event),
        }
    }
}

/// The line; `None` if it needs the library's formatter.
fn write_line(format: LogFormat, event: &Event<'_>) -> Option<String> {
    let mut line = Line {
        text: String::with_capacity(LINE_BYTES),
        format,
        is_plain: true,
    };
    line.begin(event.metadata());
    event.record(&mut line);
    line.end(event.metadata());
    line.is_plain.then_some(line.text)
}

/// A line in progress.
struct Line {
    text: String,
    format: LogFormat,
    is_plain: bool,
}

impl Line {
    fn begin(&mut self, metadata: &Metadata<'_>) {
        let level = metadata.level().as_str();
        match self.format {
            LogFormat::Text => {
                push_time(&mut self.text, Timestamp::now());
                self.text.push_str(if level.len() < 5 { "  " } else { " " });
                self.push(&[level, " ", metadata.target(), ":"]);
            }
            LogFormat::Json => {
                self.text.push_str("{\"timestamp\":\"");
                push_time(&mut self.text, Timestamp::now());
                self.push(&["\",\"level\":\"", level, "\""]);
            }
        }
        // Records of another crate have their origin in their fields.
        self.is_plain = metadata.target() != "log";
    }

    fn end(&mut self, metadata: &Metadata<'_>) {
        match self.format {
            LogFormat::Text => self.text.push('\n'),
            LogFormat::Json => self.push(&[",\"target\":\"", metadata.target(), "\"}\n"]),
        }
    }

    fn push(&mut self, pieces: &[&str]) {
        for piece in pieces {
            self.text.push_str(piece);
        }
    }

    /// Writes the name of a field and the separator before its value.
    fn name(&mut self, field: &Field) {
        let name = field.name();
        match self.format {
            LogFormat::Text if name == MESSAGE => self.text.push(' '),
            LogFormat::Text => self.push(&[" ", name, "="]),
            LogFormat::Json => self.push(&[",\"", name, "\":"]),
        }
        self.is_plain &= !name.starts_with("r#");
    }

    /// Writes a value with the same text in both formats.
    fn number(&mut self, field: &Field, value: impl fmt::Display) {
        self.name(field);
        self.is_plain &= write!(self.text, "{value}").is_ok();
    }

    fn quoted(&mut self, is_quoted: bool, write: impl FnOnce(&mut String) -> fmt::Result) {
        let quote = if is_quoted { "\"" } else { "" };
        self.text.push_str(quote);
        let start = self.text.len();
        self.is_plain &= write(&mut self.text).is_ok();
        self.is_plain &= self.text.as_bytes()[start..].iter().all(is_plain);
        self.text.push_str(quote);
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.name(field);
        let is_quoted = self.format == LogFormat::Json || field.name() != MESSAGE;
        self.quoted(is_quoted, |text| text.write_str(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.name(field);
        let is_quoted = self.format == LogFormat::Json;
        self.quoted(is_quoted, |text| write!(text, "{value:?}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number(field, value);
    }

    fn record_f64(&mut self, _: &Field, _: f64) {
        self.is_plain = false;
    }

    fn record_error(&mut self, _: &Field, _: &(dyn std::error::Error + 'static)) {
        self.is_plain = false;
    }
}

/// The name of the message field.
const MESSAGE: &str = "message";

/// Whether a byte needs no escape, even in quotes.
fn is_plain(byte: &u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

/// Writes a time as `2026-01-31T23:59:59.000001Z`.
fn push_time(text: &mut String, time: Timestamp) {
    let time = Offset::UTC.to_datetime(time);
    let microsecond = time.subsec_nanosecond() / 1_000;
    for (value, digits, end) in [
        (i32::from(time.year()), 4, '-'),
        (i32::from(time.month()), 2, '-'),
        (i32::from(time.day()), 2, 'T'),
        (i32::from(time.hour()), 2, ':'),
        (i32::from(time.minute()), 2, ':'),
        (i32::from(time.second()), 2, '.'),
        (microsecond, 6, 'Z'),
    ] {
        let mut place = 10_i32.pow(digits);
        while place > 1 {
            place /= 10;
            let digit = value / place % 10;
            text.push(char::from(b'0' + digit as u8));
        }
        text.push(end);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing::Dispatch;
    use tracing_subscriber::fmt::layer;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        /// The written lines, with digits of times replaced by 0.
        fn lines(&self) -> Vec<String> {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            let is_digit = |letter: char| letter.is_ascii_digit();
            let line = |line: &str| {
                let (start, rest) = line.split_at(line.find('Z').unwrap());
                start.replace(is_digit, "0") + rest
            };
            text.lines().map(line).collect()
        }
    }

    fn say_all() {
        let id = uuid::Uuid::nil();
        tracing::info!(request.id = %id, key.id = "k1", door = None::<&str>, status = 200_u16, stream = false,
            bytes = 12_u64, change = -3_i64, "request answered");
        tracing::warn!(reason = "it says \"no\"", "a value in quotes");
        tracing::error!("cannot read {}: {}", "a\u{1b}[31mfile", "a\ttab");
        tracing::debug!(share = 0.5, kind = ?Some(1), "a share of {id}");
        tracing::trace!(name = "Zoë", r#type = "word");
        let error = io::Error::other("it broke");
        tracing::info!(error = &error as &dyn std::error::Error, "with an error");
        tracing::info_span!("inside", of = 1).in_scope(|| tracing::info!("of a span"));
    }

    /// The output of all test events.
    fn said(write: impl FnOnce(Written) -> Dispatch) -> Vec<String> {
        let written = Written::default();
        let dispatch = write(written.clone());
        tracing::dispatcher::with_default(&dispatch, say_all);
        let lines = written.lines();
        assert_eq!(lines.len(), 7);
        lines
    }

    #[test]
    fn plain_lines_equal_the_library_output() {
        let text = |to: Written| layer().with_ansi(false).with_writer(move || to.clone());
        let theirs = said(|to| Dispatch::new(registry().with(text(to))));
        let ours = said(|to| {
            let lines = text(to).map_event_format(|library| Lines::new(LogFormat::Text, library));
            Dispatch::new(registry().with(lines))
        });
        assert_eq!(ours, theirs);
    }

    #[test]
    fn json_lines_equal_the_library_output() {
        let json = |to: Written| {
            let lines = layer().with_ansi(false).with_writer(move || to.clone());
            lines.json().flatten_event(true)
        };
        let theirs = said(|to| Dispatch::new(registry().with(json(to))));
        let ours = said(|to| {
            let lines = json(to).map_event_format(|library| Lines::new(LogFormat::Json, library));
            Dispatch::new(registry().with(lines))
        });
        assert_eq!(ours, theirs);
    }
}
