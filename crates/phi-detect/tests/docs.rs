//! docs/phi-types.md says what the rule table says.
//!
//! The part between the two marks is written from the table: run this test with
//! `UPDATE_DOCS=1` after changing a row. The rest of the page is written by hand.

use std::fmt::Write;
use std::path::PathBuf;

use phi_detect::{PhiRule, RULES};

const START: &str = "<!-- written from the rule table: start -->\n";
const END: &str = "<!-- written from the rule table: end -->\n";

#[test]
fn phi_types_page_matches_table() {
    let path: PathBuf = [
        env!("CARGO_MANIFEST_DIR"),
        "..",
        "..",
        "docs",
        "phi-types.md",
    ]
    .iter()
    .collect();
    let page = std::fs::read_to_string(&path).expect("docs/phi-types.md can be read");
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
        "docs/phi-types.md is out of date: run this test with UPDATE_DOCS=1"
    );
}

fn render() -> String {
    let mut page =
        String::from("\n| Kind | Code | Placeholder | Default threshold |\n|---|---|---|---|\n");
    for rule in RULES {
        let note = if rule.is_on_by_default { "" } else { ", off" };
        let _ = writeln!(
            page,
            "| {} | `{}` | `{}` | {}{note} |",
            rule.label, rule.code, rule.placeholder, rule.threshold
        );
    }
    for rule in RULES {
        page.push_str(&section(rule));
    }
    page.push('\n');
    page
}

fn section(rule: &PhiRule) -> String {
    let mut section = format!("\n## {}\n\n{}\n\n", rule.label, rule.summary);
    let _ = writeln!(section, "**Left alone:** {}\n", rule.not_found);
    let _ = writeln!(section, "**Authority:** {}\n", rule.authority);
    section.push_str("Found, exactly the part between « and »:\n\n");
    for hit in rule.hits {
        let _ = writeln!(section, "- {}", code(hit));
    }
    section.push_str("\nNot found:\n\n");
    for miss in rule.misses {
        let _ = writeln!(section, "- {}", code(miss));
    }
    section
}

/// A text as inline code; line breaks are shown, backticks fenced.
fn code(text: &str) -> String {
    let shown = text.replace('\n', "⏎");
    if shown.contains('`') {
        format!("`` {shown} ``")
    } else {
        format!("`{shown}`")
    }
}
