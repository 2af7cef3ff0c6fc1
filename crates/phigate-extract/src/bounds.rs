//! Limits of the reader, beside those of its process.

/// The most parts of an archive.
pub(crate) const PARTS: usize = 10_000;

/// The most bytes of all parts of an archive when they are expanded.
pub(crate) const EXPANDED: usize = 160 << 20;

/// The most by which a part may expand, in multiples of its compressed size.
pub(crate) const RATIO: usize = 100;

/// Bytes from which [`RATIO`] applies. Short parts of repeated tags expand further.
pub(crate) const RATIO_FROM: usize = 1 << 20;

/// The most bytes of text of a document.
pub(crate) const TEXT: usize = 32 << 20;

/// Nesting of elements, groups or messages.
pub(crate) const DEPTH: usize = 256;

/// The most cells of a workbook.
pub(crate) const CELLS: usize = 1_000_000;

/// The widest or highest image that may have any size in the other direction, in pixels.
pub(crate) const IMAGE_SIDE: u32 = 64;

/// The widest and highest preview of an office file, in pixels.
pub(crate) const PREVIEW_SIDE: u32 = 512;
