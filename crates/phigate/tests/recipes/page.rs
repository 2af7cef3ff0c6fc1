//! A page that says who looks at it.

use askama::Template;

use crate::layout::Layout;
use crate::visit::{Answer, SignedIn, page};

/// The page.
#[derive(Template)]
#[template(path = "twin.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
}

/// `GET /twin`
pub(crate) async fn show(visit: SignedIn) -> Answer {
    page(&Page {
        layout: visit.layout("/twin"),
    })
}
