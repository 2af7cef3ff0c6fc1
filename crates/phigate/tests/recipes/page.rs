//! A page that says who looks at it.

use askama::Template;

use crate::chrome::Chrome;
use crate::visit::{Answer, SignedIn, page};

/// The page.
#[derive(Template)]
#[template(path = "twin.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
}

/// `GET /twin`
pub(crate) async fn show(visit: SignedIn) -> Answer {
    page(&Page {
        chrome: visit.chrome("/twin"),
    })
}
