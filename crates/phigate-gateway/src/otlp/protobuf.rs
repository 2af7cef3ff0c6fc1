//! Messages in Protocol Buffers, as far as OTLP needs them: fields are written by number, and one kind of answer is
//! read.

/// A message that is being written.
#[derive(Default)]
pub(crate) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

impl Message {
    /// A number without a sign.
    pub(crate) fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | VARINT);
        self.varint(value);
    }

    /// A number of eight bytes.
    pub(crate) fn fixed(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Text.
    pub(crate) fn text(&mut self, field: u64, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// A floating-point number.
    pub(crate) fn double(&mut self, field: u64, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// Numbers of eight bytes each.
    pub(crate) fn packed(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &bytes);
    }

    /// A message inside.
    pub(crate) fn message(&mut self, field: u64, inside: &Self) {
        self.bytes(field, &inside.0);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    /// Bytes.
    pub(crate) fn bytes(&mut self, field: u64, value: &[u8]) {
        self.varint(field << 3 | BYTES);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// A field of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The first field of a number; `None` if it is absent or the message is malformed.
pub(crate) fn field(mut message: &[u8], wanted: u64) -> Option<Value<'_>> {
    while !message.is_empty() {
        let key = take_varint(&mut message)?;
        let value = match key & 7 {
            VARINT => Value::Number(take_varint(&mut message)?),
            FIXED64 => Value::Bytes(take(&mut message, 8)?),
            BYTES => {
                let length = usize::try_from(take_varint(&mut message)?).ok()?;
                Value::Bytes(take(&mut message, length)?)
            }
            5 => Value::Bytes(take(&mut message, 4)?),
            _ => return None,
        };
        if key >> 3 == wanted {
            return Some(value);
        }
    }
    None
}

fn take<'a>(message: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some(taken)
}

fn take_varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(message, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_fields_are_read_back() {
        let mut inside = Message::default();
        inside.number(1, 300);
        inside.text(2, "too old");
        let mut message = Message::default();
        message.fixed(11, 7);
        message.message(1, &inside);
        let bytes = message.finish();
        let Some(Value::Bytes(inside)) = field(&bytes, 1) else {
            panic!("field 1 is missing");
        };
        assert_eq!(field(inside, 1), Some(Value::Number(300)));
        assert_eq!(field(inside, 2), Some(Value::Bytes(b"too old")));
        assert_eq!(field(inside, 3), None);
        // 300 as in the documentation of the encoding.
        assert_eq!(&inside[..3], [0x08, 0xac, 0x02]);
        for cut in 1..bytes.len() {
            let _ = field(&bytes[..cut], 99);
        }
    }
}
