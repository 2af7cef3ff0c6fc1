//! Style, scripts and pictures, carried inside the binary.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// A file: its name, its media type, and what is in it.
type Asset = (&'static str, &'static str, &'static [u8]);

macro_rules! asset {
    ($name:literal, $kind:literal) => {
        (
            $name,
            $kind,
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/", $name)),
        )
    };
}

static ASSETS: &[Asset] = &[
    // Alphabetical.
    asset!("app.js", "text/javascript; charset=utf-8"),
    asset!("icons.svg", "image/svg+xml"),
    asset!("mark.svg", "image/svg+xml"),
    asset!("playground.js", "text/javascript; charset=utf-8"),
    asset!("style.css", "text/css; charset=utf-8"),
];

// The address of each asset carries a digest of its content, so browsers may keep it forever
// and still see a new version at once.
static ADDRESSES: LazyLock<BTreeMap<&'static str, String>> = LazyLock::new(|| {
    let address = |(name, _, content): &Asset| {
        let digest = digest(&SHA256, content);
        let version = digest.as_ref().iter().take(6);
        let version: String = version.map(|byte| format!("{byte:02x}")).collect();
        (*name, format!("/assets/{name}?v={version}"))
    };
    ASSETS.iter().map(address).collect()
});

/// The address of an asset, for use in a page.
pub(crate) fn address(name: &str) -> &'static str {
    ADDRESSES
        .get(name)
        .map_or("/assets/missing", String::as_str)
}

/// Serves one asset.
pub(crate) async fn serve(Path(name): Path<String>) -> Response {
    let Some((_, kind, content)) = ASSETS.iter().find(|(known, ..)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, *kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, *content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_carried() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert_ne!(address(&name), "/assets/missing", "{name}");
        }
    }

    #[test]
    fn every_asset_named_in_a_template_exists() {
        let templates = concat!(env!("CARGO_MANIFEST_DIR"), "/templates");
        let mut named = 0;
        for folder in [templates.to_owned(), format!("{templates}/parts")] {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                for name in text.split("asset(\"").skip(1) {
                    let name = name.split('"').next().unwrap();
                    assert_ne!(address(name), "/assets/missing", "{name} in {path:?}");
                    named += 1;
                }
            }
        }
        assert!(named > 5, "the search found no assets at all");
    }
}
