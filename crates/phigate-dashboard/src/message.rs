//! A page that says one thing: not found, not allowed, not now. A signed-in person keeps the navigation.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use http::StatusCode;

use crate::layout::Layout;

/// Message with the reason and the next step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    pub(crate) heading: &'static str,
    pub(crate) words: &'a str,
    pub(crate) href: &'static str,
    pub(crate) link: &'static str,
}

/// Message for a guest.
#[derive(Template)]
#[template(path = "message/alone.html")]
struct Alone<'a> {
    layout: &'a Layout,
    message: Message<'a>,
}

/// Message for a signed-in person.
#[derive(Template)]
#[template(path = "message/inside.html")]
struct Inside<'a> {
    layout: &'a Layout,
    message: Message<'a>,
}

impl<'a> Message<'a> {
    /// The page, in this frame.
    pub(crate) fn render(self, layout: &Layout) -> askama::Result<String> {
        let message = self;
        match layout.nav.is_empty() {
            true => Alone { layout, message }.render(),
            false => Inside { layout, message }.render(),
        }
    }

    /// The page, as the answer to a visit.
    pub(crate) fn answer(self, status: StatusCode, layout: &Layout) -> Response {
        match self.render(layout) {
            Ok(html) => (status, Html(html)).into_response(),
            Err(_) => status.into_response(),
        }
    }

    /// The words, cut at backticks: every second piece is a command to type.
    fn pieces(&self) -> impl Iterator<Item = (bool, &'a str)> {
        let is_command = |index: usize| index % 2 == 1;
        let pieces = self.words.split('`').enumerate();
        pieces.map(move |(index, text)| (is_command(index), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::NavItem;

    const MESSAGE: Message<'static> = Message {
        heading: "Not now",
        words: "Run `phigate doctor` & look.",
        href: "/",
        link: "Back",
    };

    #[test]
    fn commands_are_set_apart_from_words() {
        let html = MESSAGE.render(&Layout::default()).unwrap();
        assert!(
            html.contains("Run <code>phigate doctor</code> &#38; look."),
            "{html}"
        );
    }

    #[test]
    fn signed_in_message_keeps_navigation() {
        let help = NavItem {
            count: 0,
            href: "/help",
            label: "Help",
            icon: "help",
            current: false,
        };
        let inside = Layout {
            nav: vec![help],
            ..Layout::default()
        };
        for (layout, has_navigation) in [(Layout::default(), false), (inside, true)] {
            let html = MESSAGE.render(&layout).unwrap();
            assert!(html.contains("<h1>Not now</h1>"));
            assert_eq!(html.contains("href=\"/help\""), has_navigation);
        }
    }
}
