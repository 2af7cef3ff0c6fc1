//! Images: their sizes, and whether all of their bytes are pixels.
//!
//! Text in images is not read. Images too narrow or too low for text are let through if they hold nothing else.

use phigate_types::Unread;

use crate::bounds;

/// Chunks of PNG files that are numbers.
const NUMBERS: &[&[u8; 4]] = &[
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"sRGB", b"cHRM", b"pHYs", b"bKGD",
    b"sBIT", b"hIST", b"tIME",
];

/// Checks an image of a document.
///
/// # Errors
///
/// [`Unread::Image`] if text may be in it.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Unread> {
    let size = png(bytes)
        .or_else(|| gif(bytes))
        .or_else(|| jpeg(bytes))
        .filter(|size| size.is_plain);
    let side = bounds::IMAGE_SIDE;
    match size {
        Some(size) if size.width <= side || size.height <= side => Ok(()),
        _ => Err(Unread::Image),
    }
}

/// Whether bytes are a preview of the document's first page, as office programs save it.
pub(crate) fn is_preview(bytes: &[u8]) -> bool {
    let size = png(bytes).or_else(|| jpeg(bytes));
    size.is_some_and(|size| size.width.max(size.height) <= bounds::PREVIEW_SIDE)
}

/// Size of an image in pixels.
struct Size {
    width: u32,
    height: u32,
    /// Whether every byte is of a known kind, and none is text.
    is_plain: bool,
}

fn wide(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn png(bytes: &[u8]) -> Option<Size> {
    let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let (width, height) = (wide(bytes, 16)?, wide(bytes, 20)?);
    let mut is_plain = true;
    let mut last: &[u8] = &[];
    while !rest.is_empty() {
        let length = usize::try_from(wide(rest, 0)?).ok()?;
        last = rest.get(4..8)?;
        is_plain &= NUMBERS.iter().any(|known| known[..] == *last);
        rest = rest.get(length.checked_add(12)?..)?;
    }
    is_plain &= last == b"IEND";
    Some(Size {
        width,
        height,
        is_plain,
    })
}

fn gif(bytes: &[u8]) -> Option<Size> {
    let rest = bytes
        .strip_prefix(b"GIF87a")
        .or_else(|| bytes.strip_prefix(b"GIF89a"))?;
    let side = |at: usize| {
        Some(u32::from(u16::from_le_bytes([
            *rest.get(at)?,
            *rest.get(at + 1)?,
        ])))
    };
    let (width, height) = (side(0)?, side(2)?);
    let colours = |flags: u8| {
        if flags & 0x80 == 0 {
            0
        } else {
            3usize << ((flags & 7) + 1)
        }
    };
    let mut at = 7 + colours(*rest.get(4)?);
    loop {
        let is_end = match *rest.get(at)? {
            b';' => true,
            b',' => {
                at += 11 + colours(*rest.get(at + 9)?);
                false
            }
            // Graphic control; comments and applications may hold text.
            b'!' if *rest.get(at + 1)? == 0xf9 => {
                at += 2;
                false
            }
            _ => return None,
        };
        if is_end {
            let is_plain = at + 1 == rest.len();
            return Some(Size {
                width,
                height,
                is_plain,
            });
        }
        loop {
            let length = usize::from(*rest.get(at)?);
            at += length + 1;
            if length == 0 {
                break;
            }
        }
    }
}

fn jpeg(bytes: &[u8]) -> Option<Size> {
    bytes.strip_prefix(b"\xff\xd8")?;
    let (mut at, mut is_plain) = (2usize, true);
    loop {
        let marker = *bytes.get(at + 1)?;
        let length = usize::from(u16::from_be_bytes([
            *bytes.get(at + 2)?,
            *bytes.get(at + 3)?,
        ]));
        match marker {
            _ if *bytes.get(at)? != 0xff => return None,
            // Start of a frame.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let sides = wide(bytes, at + 5)?;
                // In pixels the mark of the end is written otherwise.
                let behind = crate::sniff::after(&bytes[at..], b"\xff\xd9")?;
                let is_plain = is_plain && behind.is_empty();
                return Some(Size {
                    width: sides & 0xffff,
                    height: sides >> 16,
                    is_plain,
                });
            }
            // Comments, and data of applications but JFIF's few numbers.
            0xfe | 0xe1..=0xef => is_plain = false,
            0xe0 => is_plain &= length <= 16,
            _ => {}
        }
        at = at.checked_add(2 + length)?;
    }
}
