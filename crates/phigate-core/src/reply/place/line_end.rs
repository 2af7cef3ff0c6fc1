//! Effect of the end of a line on markup.

/// Effect of a character on what is open over several lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LineEnd {
    /// Whether it ends an empty line.
    pub(super) is_blank: bool,
    /// Whether a tag that is open may have lost its end: the block of HTML around it ends, or may.
    pub(super) cuts_tags: bool,
    /// Whether the content of an element such as `<style>` may have.
    pub(super) cuts_texts: bool,
}
