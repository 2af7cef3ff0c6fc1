//! A page that says one thing: not found, not allowed, not now.

use askama::Template;

use crate::dashboard::chrome::Chrome;

/// What happened, and what to do.
#[derive(Template)]
#[template(path = "message.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) heading: &'static str,
    pub(crate) words: &'static str,
    pub(crate) href: &'static str,
    pub(crate) link: &'static str,
}

impl Page {
    /// The words, cut at backticks: every second piece is a command to type.
    fn pieces(&self) -> impl Iterator<Item = (bool, &'static str)> {
        let is_command = |index: usize| index % 2 == 1;
        let pieces = self.words.split('`').enumerate();
        pieces.map(move |(index, text)| (is_command(index), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_set_apart_from_words() {
        let page = Page {
            chrome: Chrome::default(),
            heading: "Not now",
            words: "Run `phigate doctor` & look.",
            href: "/",
            link: "Back",
        };
        let html = page.render().unwrap();
        assert!(
            html.contains("Run <code>phigate doctor</code> &#38; look."),
            "{html}"
        );
    }
}
