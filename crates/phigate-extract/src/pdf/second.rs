//! The second reader of a PDF, which shares nothing with the first: its own search for objects, its own filters, fonts and
//! pages. Pages on which both do not read the same letters and digits are not read.

use hayro_interpret::font::{GlyphRun, PositionedGlyph};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::kurbo::{Affine, BezPath, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, InterpreterSettings, RenderContent, SoftMask, interpret_page,
};
use phigate_types::Unread;
use unicode_normalization::UnicodeNormalization;

/// Letters and digits of a page.
#[derive(Default)]
struct Letters {
    text: String,
    /// Length of the text before the last run, and whether that was filled.
    filled: Option<(usize, Affine)>,
}

/// Returns the letters and digits of a text, whatever their shape.
pub(super) fn folded(text: &str) -> String {
    let letters = text.nfkc().filter(|each| each.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Checks that the second reader finds the same on every page.
///
/// # Errors
///
/// [`Unread::ReadersDisagree`] if it does not.
pub(super) fn agree(bytes: &[u8], pages: &[String]) -> Result<(), Unread> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|_| Unread::ReadersDisagree)?;
    if pdf.pages().len() != pages.len() {
        return Err(Unread::ReadersDisagree);
    }
    let cache = InterpreterCache::new();
    let settings = InterpreterSettings {
        render_content: RenderContent::PAGE,
        ..InterpreterSettings::default()
    };
    for (page, first) in pdf.pages().iter().zip(pages) {
        let everything = Rect::new(-1e6, -1e6, 1e6, 1e6);
        let mut context = Context::new(
            Affine::IDENTITY,
            everything,
            &cache,
            pdf.xref(),
            settings.clone(),
        );
        let mut letters = Letters::default();
        interpret_page(page, &mut context, &mut letters);
        if folded(&letters.text) != *first {
            return Err(Unread::ReadersDisagree);
        }
    }
    Ok(())
}

impl<'a> Device<'a> for Letters {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, _: DrawProps<'a>, mode: &DrawMode) {
        let place = run.glyphs().first().map(PositionedGlyph::transform);
        let from = self.text.len();
        for glyph in run.glyphs() {
            match glyph.as_unicode() {
                Some(BfString::Char(each)) => self.text.push(each),
                Some(BfString::String(text)) => self.text.push_str(&text),
                None => {}
            }
        }
        match mode {
            // Filled and outlined text comes twice.
            DrawMode::Stroke(_) => {
                if let (Some((before, at)), Some(place)) = (self.filled.take(), place)
                    && at == place
                    && self.text[before..from] == self.text[from..]
                {
                    self.text.truncate(from);
                }
            }
            _ => self.filled = place.map(|place| (from, place)),
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
