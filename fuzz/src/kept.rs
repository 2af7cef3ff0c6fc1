//! Kept inputs and dictionary words, one per line in quotes, as in the fuzzer's dictionaries.

use std::fmt::Write as _;
use std::path::PathBuf;

/// Largest number of kept inputs per target, and their total size.
const INPUTS_MAX: usize = 200;
const BYTES_MAX: usize = 24 << 10;

/// Words that inputs are built from.
pub fn words() -> Vec<Vec<u8>> {
    read(include_str!("../words.dict"))
}

/// Inputs of a target that earlier runs kept.
pub fn kept(target: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(path(target));
    text.map_or_else(|_| Vec::new(), |text| read(&text))
}

/// Keeps the shortest of these inputs of a target and replaces those kept before.
pub fn keep(target: &str, mut inputs: Vec<Vec<u8>>) {
    inputs.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
    let mut bytes = 0;
    let within = inputs.iter().take(INPUTS_MAX).take_while(|input| {
        bytes += input.len();
        bytes <= BYTES_MAX
    });
    let lines: String = within.map(|input| quoted(input) + "\n").collect();
    std::fs::write(path(target), lines).expect("the folder kept/ is there");
}

/// An input as a quoted line.
pub fn quoted(input: &[u8]) -> String {
    let mut line = String::from("\"");
    for byte in input {
        match byte {
            b'"' | b'\\' => line.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => line.push(char::from(*byte)),
            byte => write!(line, "\\x{byte:02x}").expect("a string takes everything"),
        }
    }
    line + "\""
}

fn path(target: &str) -> PathBuf {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kept");
    folder.join(format!("{target}.dict"))
}

/// Parses the inputs of a text with one per line; other lines are comments.
fn read(text: &str) -> Vec<Vec<u8>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix('"'));
    lines
        .filter_map(|line| line.strip_suffix('"'))
        .map(unquoted)
        .collect()
}

fn unquoted(line: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), line.as_bytes());
    while let [first, after @ ..] = rest {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        (bytes, rest) = match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                bytes.extend(hex(&[*high, *low]));
                (bytes, after)
            }
            (b'\\', [byte, after @ ..]) | (byte, after) => {
                bytes.push(*byte);
                (bytes, after)
            }
        };
    }
    bytes
}
