//! Images of a PDF. Text in them is not read, so only those too narrow or too low for text are let through.

use phigate_types::Unread;

use super::file::File;
use super::object::{Dict, Object};
use crate::bounds;

/// The most pixels of all images of a document together. Otherwise a page could be cut into strips.
const PIXELS: usize = 1 << 18;

/// Checks the sides of an image.
pub(super) fn check_sides(width: usize, height: usize) -> Result<usize, Unread> {
    let side = bounds::IMAGE_SIDE as usize;
    let pixels = width.saturating_mul(height);
    if width > side && height > side || pixels > PIXELS {
        return Err(Unread::Image);
    }
    Ok(pixels)
}

/// Returns the most bytes that the pixels of an image can have.
pub(super) fn most(dict: &Dict, width: usize, height: usize) -> usize {
    let is = |long: &str, short: &str, names: &[&str]| {
        let name = dict.name(long).or_else(|| dict.name(short));
        name.is_some_and(|name| names.iter().any(|known| known.as_bytes() == name))
    };
    let is_mask = [b"ImageMask".as_slice(), b"IM"].iter().any(|key| {
        dict.get_own(key)
            .is_some_and(|value| *value == Object::Bool(true))
    });
    let bits = dict
        .get_own(b"BitsPerComponent")
        .or_else(|| dict.get_own(b"BPC"));
    let bits = bits.and_then(Object::size).unwrap_or(8).min(16);
    let bits = if is_mask {
        1
    } else if is("ColorSpace", "CS", &["DeviceGray", "G"]) {
        bits
    } else if is("ColorSpace", "CS", &["DeviceRGB", "RGB"]) {
        3 * bits
    } else {
        4 * bits
    };
    width
        .saturating_mul(bits)
        .div_ceil(8)
        .saturating_mul(height)
}

/// Checks an image that is an object, and returns how many pixels it has.
pub(super) fn check(file: &File<'_>, index: usize, dict: &Dict) -> Result<usize, Unread> {
    let size = |key: &str| {
        file.get(dict, key)
            .and_then(Object::size)
            .ok_or(Unread::Image)
    };
    let (width, height) = (size("Width")?, size("Height")?);
    let pixels = check_sides(width, height)?;
    let (filter, bytes) = file.pixels(index)?;
    match filter {
        Some(_) => crate::image::check(&bytes)?,
        // Some writers end the data with the end of a line.
        None if bytes.len() > most(dict, width, height) + 2 => return Err(Unread::Image),
        None => {}
    }
    Ok(pixels)
}

/// Adds pixels to those of other images.
pub(super) fn add(pixels: &mut usize, more: usize) -> Result<(), Unread> {
    *pixels = pixels.saturating_add(more);
    if *pixels > PIXELS {
        return Err(Unread::Image);
    }
    Ok(())
}
