//! Style, scripts and pictures, carried inside the binary.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/assets"]
struct Assets;

// The address of each asset carries a digest of its content, so browsers may keep it forever
// and still see a new version at once.
static ADDRESSES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    Assets::iter()
        .filter_map(|name| {
            let digest = Assets::get(&name)?.metadata.sha256_hash();
            let version: String = digest[..6]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let address = format!("/assets/{name}?v={version}");
            Some((name.into_owned(), address))
        })
        .collect()
});

/// The address of an asset, for use in a page.
pub(crate) fn address(name: &str) -> &'static str {
    ADDRESSES
        .get(name)
        .map_or("/assets/missing", String::as_str)
}

/// Serves one asset.
pub(crate) async fn serve(Path(name): Path<String>) -> Response {
    let Some(file) = Assets::get(&name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, file.data).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

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
