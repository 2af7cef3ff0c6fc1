//! Strict search for the end of a chunked body, without keeping its bytes.
//!
//! The HTTP library decodes the body; this only finds its end, so that both find the next head at the same offset.
//! Framing on which the two could disagree is refused.

/// Bound on a size line or trailer line; trailers and extensions are not used.
const LINE_BYTES_MAX: usize = 4096;

/// Part of the body that the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Size line, with the digits read so far.
    Size {
        digits: u8,
    },
    /// Extension behind the digits.
    Extension,
    /// The line feed after a size line.
    SizeFeed,
    /// Data of a chunk, with this many bytes to come.
    Data,
    /// The carriage return and line feed after a chunk.
    DataReturn,
    DataFeed,
    /// Trailer line, or the start of one.
    TrailerStart,
    Trailer,
    TrailerFeed,
    /// The last line feed.
    EndFeed,
}

/// Parser state between two pieces of a body.
#[derive(Debug)]
pub(crate) struct Chunked {
    place: Place,
    size: u64,
    /// Bytes of size lines and trailers since the last data; bounds endless lines.
    line_bytes: usize,
}

/// Result of a piece of the body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All bytes belong to the body, and it goes on.
    More,
    /// The body ends after these many bytes.
    End(usize),
    /// The framing is wrong.
    Broken,
}

impl Chunked {
    pub(crate) fn new() -> Self {
        Self {
            place: Place::Size { digits: 0 },
            size: 0,
            line_bytes: 0,
        }
    }

    /// Follows the body through these bytes.
    pub(crate) fn follow(&mut self, bytes: &[u8]) -> Step {
        let mut position = 0;
        while position < bytes.len() {
            if self.place == Place::Data {
                let here =
                    (bytes.len() - position).min(usize::try_from(self.size).unwrap_or(usize::MAX));
                position += here;
                self.size -= here as u64;
                if self.size == 0 {
                    self.place = Place::DataReturn;
                }
                continue;
            }
            let byte = bytes[position];
            position += 1;
            self.line_bytes += 1;
            if self.place == Place::EndFeed && byte == b'\n' {
                return Step::End(position);
            }
            match self.next(byte) {
                Some(place) if self.line_bytes <= LINE_BYTES_MAX => self.place = place,
                _ => return Step::Broken,
            }
        }
        Step::More
    }

    /// Next state after one byte outside of data; `None` if the byte is not allowed.
    fn next(&mut self, byte: u8) -> Option<Place> {
        match (self.place, byte) {
            (Place::Size { digits }, _) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16)?;
                self.size = self.size.checked_mul(16)?.checked_add(u64::from(digit))?;
                (digits < 15).then_some(Place::Size { digits: digits + 1 })
            }
            (Place::Size { digits: 1.. }, b';') => Some(Place::Extension),
            (Place::Size { digits: 1.. } | Place::Extension, b'\r') => Some(Place::SizeFeed),
            (Place::Extension, b'\t' | b' '..=b'~') => Some(Place::Extension),
            (Place::SizeFeed, b'\n') if self.size == 0 => Some(Place::TrailerStart),
            (Place::SizeFeed, b'\n') => {
                self.line_bytes = 0;
                Some(Place::Data)
            }
            (Place::DataReturn, b'\r') => Some(Place::DataFeed),
            (Place::DataFeed, b'\n') => Some(Place::Size { digits: 0 }),
            (Place::TrailerStart, b'\r') => Some(Place::EndFeed),
            (Place::Trailer, b'\r') => Some(Place::TrailerFeed),
            (Place::TrailerStart | Place::Trailer, b'\t' | b' '..=b'~') => Some(Place::Trailer),
            (Place::TrailerFeed, b'\n') => Some(Place::TrailerStart),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the body in pieces of `size` bytes; returns the offset of its end, or `None` if the framing is wrong.
    fn end(body: &[u8], size: usize) -> Option<usize> {
        let mut chunked = Chunked::new();
        for (number, piece) in body.chunks(size).enumerate() {
            match chunked.follow(piece) {
                Step::More => {}
                Step::End(position) => return Some(number * size + position),
                Step::Broken => return None,
            }
        }
        panic!("the body does not end")
    }

    #[test]
    fn chunked_end_is_found_for_every_cut() {
        for body in [
            "0\r\n\r\n",
            "5\r\nhello\r\n0\r\n\r\n",
            "A;name=value\r\n0123456789\r\n00\r\n\r\n",
            "3\r\n\r\n0\r\n0\r\nX-Trailer: 1\r\nY: 2\r\n\r\n",
        ] {
            let followed = format!("{body}GET / HTTP/1.1");
            for size in 1..=followed.len() {
                assert_eq!(
                    end(followed.as_bytes(), size),
                    Some(body.len()),
                    "{body:?} in pieces of {size}"
                );
            }
        }
    }

    #[test]
    fn doubtful_framing_is_broken() {
        for body in [
            "\r\n",
            "x\r\n",
            "0x5\r\nhello\r\n",
            "5\nhello\r\n",
            "5 \r\nhello\r\n",
            "-1\r\n",
            ";x\r\n",
            "5\r\nhello0\r\n",
            "5\r\nhello\n0\r\n",
            "0\r\nX: a\n\r\n",
            "ffffffffffffffff1\r\n",
            "1;\0\r\n",
            "0\r\n\rx",
        ] {
            assert_eq!(end(body.as_bytes(), 3), None, "{body:?}");
        }
        let endless = format!("1;{}", "x".repeat(LINE_BYTES_MAX));
        assert_eq!(end(endless.as_bytes(), 100), None);
    }
}
