//! Times of reports as text.

use jiff::Timestamp;

/// A time in a sentence.
pub(crate) fn in_words(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// A time as a value.
pub(crate) fn to_the_second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
