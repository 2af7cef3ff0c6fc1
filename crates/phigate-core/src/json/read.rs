//! The reader: one pass over the bytes, one node per value.

mod scalar;

use std::collections::HashSet;

use super::string::resolved;
use super::{Bounds, Kind, Node};

/// The reason and the position of a refusal, without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {position}")]
pub struct JsonError {
    /// The problem.
    pub problem: JsonProblem,
    /// The offset of the byte at which it was noticed.
    pub position: usize,
}

impl JsonError {
    pub(super) fn at(problem: JsonProblem, position: usize) -> Self {
        Self { problem, position }
    }
}

/// The reasons to refuse a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonProblem {
    /// The text is not JSON.
    #[error("the body is not valid JSON")]
    Syntax,
    /// An object with a duplicate key.
    #[error("an object has the same key twice")]
    DuplicateKey,
    /// Deeper than allowed.
    #[error("the body is nested too deeply")]
    TooDeep,
    /// More values and keys than allowed.
    #[error("the body holds too many values")]
    TooMany,
}

/// Initial capacity: about the number of nodes of a short chat, and a block size that allocators serve quickly.
const NODES: usize = 24;

/// Deviations from strict JSON that a reader accepts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tolerance {
    /// Half of a surrogate pair, which is read as U+FFFD: providers cut emoji in two when they stream. And numbers
    /// beyond the range of a double.
    pub(crate) odd_values: bool,
}

pub(super) fn read(
    text: &str,
    bounds: Bounds,
    tolerance: Tolerance,
) -> Result<Vec<Node>, JsonError> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        text,
        position: 0,
        nodes: Vec::with_capacity(NODES),
        bounds,
        tolerance,
    };
    reader.skip_space();
    reader.value(0, 0, 0)?;
    reader.skip_space();
    if reader.position != reader.bytes.len() {
        return Err(reader.syntax());
    }
    Ok(reader.nodes)
}

struct Reader<'t> {
    bytes: &'t [u8],
    text: &'t str,
    position: usize,
    nodes: Vec<Node>,
    bounds: Bounds,
    tolerance: Tolerance,
}

impl Reader<'_> {
    fn syntax(&self) -> JsonError {
        JsonError::at(JsonProblem::Syntax, self.position)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.peek() != Some(byte) {
            return Err(self.syntax());
        }
        self.position += 1;
        Ok(())
    }

    /// Reads one value. Recursion is bounded by `depth_max`.
    fn value(&mut self, parent: u32, position: u32, depth: usize) -> Result<(), JsonError> {
        if self.nodes.len() >= self.bounds.values_max {
            return Err(JsonError::at(JsonProblem::TooMany, self.position));
        }
        match self.peek() {
            Some(b'{') => self.object(parent, position, depth + 1),
            Some(b'[') => self.array(parent, position, depth + 1),
            Some(b'"') => self.string(parent, position, false),
            Some(b't') => self.word("true", Kind::Bool, parent, position),
            Some(b'f') => self.word("false", Kind::Bool, parent, position),
            Some(b'n') => self.word("null", Kind::Null, parent, position),
            Some(b'-' | b'0'..=b'9') => self.number(parent, position),
            _ => Err(self.syntax()),
        }
    }

    fn open(
        &mut self,
        kind: Kind,
        parent: u32,
        position: u32,
        depth: usize,
    ) -> Result<usize, JsonError> {
        if depth > self.bounds.depth_max {
            return Err(JsonError::at(JsonProblem::TooDeep, self.position));
        }
        let index = self.nodes.len();
        let start = self.position;
        self.nodes.push(Node {
            kind,
            escaped: false,
            is_key: false,
            parent,
            position,
            end: 0,
            span: start..start,
        });
        self.position += 1;
        self.skip_space();
        Ok(index)
    }

    fn close(&mut self, index: usize) {
        self.position += 1;
        let end = self.nodes.len() as u32;
        let node = &mut self.nodes[index];
        node.end = end;
        node.span.end = self.position;
    }

    fn array(&mut self, parent: u32, position: u32, depth: usize) -> Result<(), JsonError> {
        let index = self.open(Kind::Array, parent, position, depth)?;
        let mut count = 0;
        while self.peek() != Some(b']') {
            if count > 0 {
                self.expect(b',')?;
                self.skip_space();
            }
            self.value(index as u32, count, depth)?;
            self.skip_space();
            count += 1;
        }
        self.close(index);
        Ok(())
    }

    fn object(&mut self, parent: u32, position: u32, depth: usize) -> Result<(), JsonError> {
        let index = self.open(Kind::Object, parent, position, depth)?;
        let mut keys: Vec<usize> = Vec::new();
        while self.peek() != Some(b'}') {
            if !keys.is_empty() {
                self.expect(b',')?;
                self.skip_space();
            }
            if self.peek() != Some(b'"') {
                return Err(self.syntax());
            }
            let count = keys.len() as u32;
            keys.push(self.nodes.len());
            self.string(index as u32, count, true)?;
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            self.value(index as u32, count, depth)?;
            self.skip_space();
        }
        self.refuse_duplicates(&keys)?;
        self.close(index);
        Ok(())
    }

    /// Compares decoded keys, since `"a"` and `"\u0061"` are one key to every other parser.
    fn refuse_duplicates(&self, keys: &[usize]) -> Result<(), JsonError> {
        const SMALL: usize = 12;
        let decoded = |index: usize| {
            let node = &self.nodes[index];
            let inner = &self.text[node.span.start + 1..node.span.end - 1];
            resolved(inner, node.escaped)
        };
        let duplicate = if keys.len() <= SMALL {
            (1..keys.len()).find(|&late| {
                let key = decoded(keys[late]);
                keys[..late].iter().any(|&early| decoded(early) == key)
            })
        } else {
            let mut seen = HashSet::with_capacity(keys.len());
            (0..keys.len()).find(|&index| !seen.insert(decoded(keys[index])))
        };
        match duplicate {
            Some(index) => Err(JsonError::at(
                JsonProblem::DuplicateKey,
                self.nodes[keys[index]].span.start,
            )),
            None => Ok(()),
        }
    }

    fn leaf(
        &mut self,
        kind: Kind,
        escaped: bool,
        is_key: bool,
        parent: u32,
        position: u32,
        start: usize,
    ) {
        let end = self.nodes.len() as u32 + 1;
        self.nodes.push(Node {
            kind,
            escaped,
            is_key,
            parent,
            position,
            end,
            span: start..self.position,
        });
    }

    fn word(
        &mut self,
        word: &str,
        kind: Kind,
        parent: u32,
        position: u32,
    ) -> Result<(), JsonError> {
        let start = self.position;
        if !self.bytes[start..].starts_with(word.as_bytes()) {
            return Err(self.syntax());
        }
        self.position += word.len();
        self.leaf(kind, false, false, parent, position, start);
        Ok(())
    }
}
