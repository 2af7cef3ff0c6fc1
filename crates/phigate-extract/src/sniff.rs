//! Looks at bytes: what they begin with, and what they have inside.

/// Returns what follows the first occurrence of a word.
pub(crate) fn after<'b>(bytes: &'b [u8], word: &[u8]) -> Option<&'b [u8]> {
    let at = position(bytes, word)?;
    bytes.get(at + word.len()..)
}

/// Returns the offset of the first occurrence of a word.
pub(crate) fn position(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|window| window == word)
}

/// Whether bytes have a word inside.
pub(crate) fn has(bytes: &[u8], word: &[u8]) -> bool {
    after(bytes, word).is_some()
}

/// Format that bytes begin as, other than text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Magic {
    /// A ZIP archive.
    Zip,
    /// A compound file: old office files, macro projects, embedded objects, encrypted office files.
    Compound,
    /// A PDF.
    Pdf,
    /// Another archive or compressed file.
    Archive,
    /// An image.
    Image,
}

const MAGICS: &[(&[u8], Magic)] = &[
    (b"PK\x03\x04", Magic::Zip),
    (b"PK\x05\x06", Magic::Zip),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Magic::Compound),
    (b"%PDF-", Magic::Pdf),
    (b"\x1f\x8b", Magic::Archive),
    (b"7z\xbc\xaf\x27\x1c", Magic::Archive),
    (b"Rar!\x1a\x07", Magic::Archive),
    (b"BZh", Magic::Archive),
    (b"\xfd7zXZ\0", Magic::Archive),
    (b"\x28\xb5\x2f\xfd", Magic::Archive),
    (b"\x89PNG\r\n\x1a\n", Magic::Image),
    (b"\xff\xd8\xff", Magic::Image),
    (b"GIF8", Magic::Image),
    (b"II*\0", Magic::Image),
    (b"MM\0*", Magic::Image),
    (b"\xd7\xcd\xc6\x9a", Magic::Image),
    (b"\x01\0\0\0", Magic::Image),
    (b"\0\0\x01\0", Magic::Image),
];

/// Returns the format that bytes begin as; `None` for text and everything unknown.
pub(crate) fn magic(bytes: &[u8]) -> Option<Magic> {
    let known = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic));
    if let Some((_, magic)) = known {
        return Some(*magic);
    }
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let is_bitmap = bytes.starts_with(b"BM") && bytes.get(6..10) == Some(&[0; 4]);
    if is_webp || is_bitmap {
        return Some(Magic::Image);
    }
    (bytes.get(257..262) == Some(b"ustar")).then_some(Magic::Archive)
}
