//! Looking for the marker, in whatever spelling, in files and texts.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// The marker as it might be written: plain, base64 at any offset, hexadecimal, UTF-16, percent-encoded.
fn spellings(marker: &str) -> Vec<Vec<u8>> {
    let bytes = marker.as_bytes();
    let mut found = vec![bytes.to_vec(), marker.to_uppercase().into_bytes()];
    for offset in 0..3 {
        let padded = [vec![0; offset], bytes.to_vec()].concat();
        for text in [STANDARD.encode(&padded), URL_SAFE.encode(&padded)] {
            // The letters at both ends depend on the neighbours.
            let middle = &text.trim_end_matches('=')[(offset * 8).div_ceil(6)..];
            found.push(middle.as_bytes()[..middle.len() - 1].to_vec());
        }
    }
    let hex = |byte: &u8| format!("{byte:02x}");
    found.push(bytes.iter().map(hex).collect::<String>().into_bytes());
    found.push(marker.encode_utf16().flat_map(u16::to_le_bytes).collect());
    found
}

/// Offset of the marker in some bytes, in any spelling.
pub fn place(bytes: &[u8], marker: &str) -> Option<usize> {
    let mut all = spellings(marker).into_iter();
    all.find_map(|spelling| memchr::memmem::find(bytes, &spelling))
}

/// Fails the test if a text holds the marker, and shows the text before it.
pub fn text(what: &str, text: &str, marker: &str) {
    if let Some(at) = place(text.as_bytes(), marker) {
        let from = text.floor_char_boundary(at.saturating_sub(300));
        let to = text.floor_char_boundary((at + 60).min(text.len()));
        panic!("{what} holds the marker: …{}…", &text[from..to]);
    }
}

/// Looks through every file of a folder; the number of bytes read.
pub fn folder(path: &Path, marker: &str) -> usize {
    let mut read = 0;
    for entry in std::fs::read_dir(path).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read += folder(&path, marker);
        } else if let Ok(bytes) = std::fs::read(&path) {
            assert!(
                place(&bytes, marker).is_none(),
                "{} holds the marker",
                path.display()
            );
            read += bytes.len();
        }
    }
    read
}

#[test]
fn the_sweep_finds_every_spelling() {
    for spelling in spellings("qzxcanary7719") {
        let bytes = [b"before ".to_vec(), spelling, b" after".to_vec()].concat();
        assert!(place(&bytes, "qzxcanary7719").is_some());
    }
    assert_eq!(place(b"nothing of interest", "qzxcanary7719"), None);
}
