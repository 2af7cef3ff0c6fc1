//! docs/errors.md agrees with the table of error codes.
//!
//! The part between the two marks is written from the table: run this test with `UPDATE_DOCS=1` after changing a row.
//! The rest of the page is written by hand.

use std::fmt::Write;
use std::path::PathBuf;

use phigate_types::ErrorCode;

const START: &str = "<!-- written from the table of error codes: start -->\n";
const END: &str = "<!-- written from the table of error codes: end -->\n";

#[test]
fn errors_page_matches_error_code_table() {
    let root = env!("CARGO_MANIFEST_DIR");
    let path: PathBuf = [root, "..", "..", "docs", "errors.md"].iter().collect();
    let page = std::fs::read_to_string(&path).expect("docs/errors.md can be read");
    let (before, rest) = page.split_once(START).expect("the page has the first mark");
    let (written, after) = rest.split_once(END).expect("the page has the second mark");
    let expected = render();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{START}{expected}{END}{after}"))
            .expect("the page can be written");
        return;
    }
    assert!(
        written == expected,
        "docs/errors.md is out of date: run this test with UPDATE_DOCS=1"
    );
}

fn render() -> String {
    let mut page = String::from("\n| Code | Status | Type | Meaning |\n|---|---|---|---|\n");
    for code in ErrorCode::all() {
        let _ = writeln!(
            page,
            "| `{}` | {} | `{}` | {} |",
            code.code(),
            code.status(),
            code.blame().word(),
            code.words()
        );
    }
    page.push('\n');
    page
}
