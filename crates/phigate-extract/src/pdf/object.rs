//! Objects of a PDF.

use phigate_types::Unread;

/// Object of a file, or operand of a page.
#[derive(Clone, PartialEq)]
pub(super) enum Object {
    /// Nothing, or a reference to an object that does not exist.
    Null,
    Bool(bool),
    Number(f64),
    /// Bytes of a string, which are text or not.
    Text(Vec<u8>),
    Name(Vec<u8>),
    Array(Vec<Object>),
    Dict(Dict),
    /// Number and generation of another object.
    Ref(u32, u16),
}

/// Dictionary, in the order in which it is written.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Dict(Vec<(Vec<u8>, Object)>);

impl Dict {
    /// Adds an entry.
    ///
    /// # Errors
    ///
    /// [`Unread::ReadersDisagree`] if there is one of its name, because some readers keep the first and some the last.
    pub(super) fn add(&mut self, key: Vec<u8>, value: Object) -> Result<(), Unread> {
        if self.get_own(&key).is_some() {
            return Err(Unread::ReadersDisagree);
        }
        self.0.push((key, value));
        Ok(())
    }

    /// Returns a value as it is written: a reference stays one.
    pub(super) fn get_own(&self, key: &[u8]) -> Option<&Object> {
        let mut all = self.0.iter();
        all.find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Whether it has an entry of this name.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get_own(key.as_bytes()).is_some()
    }

    /// Returns a name that is written in the dictionary itself.
    pub(super) fn name(&self, key: &str) -> Option<&[u8]> {
        match self.get_own(key.as_bytes()) {
            Some(Object::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether an entry is this name.
    pub(super) fn is(&self, key: &str, name: &str) -> bool {
        self.name(key) == Some(name.as_bytes())
    }

    /// Returns all entries.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &Object)> {
        self.0.iter().map(|(key, value)| (key.as_slice(), value))
    }

    /// Returns a copy without an entry.
    pub(super) fn without(&self, key: &[u8]) -> Self {
        let kept = self.0.iter().filter(|(known, _)| known != key);
        Self(kept.cloned().collect())
    }
}

impl Object {
    /// Returns a whole number.
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "checked to be a whole number in range"
            )]
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                Some(*number as i64)
            }
            _ => None,
        }
    }

    /// Returns a number of bytes, objects or pixels.
    pub(super) fn size(&self) -> Option<usize> {
        usize::try_from(self.integer()?).ok()
    }
}
