//! The description of the API, as served on `/openapi.json` and printed by `phigate openapi`.
//!
//! The handwritten `openapi.json` has places such as `"{error_codes}"`, which are filled from the tables: a new kind of
//! PHI, mode or error code is described without another line.

use std::sync::LazyLock;

use phi_detect::PhiKind;
use phigate_core::service;
use phigate_types::{Action, Blame, ErrorCode, Mode, Word};
use serde_json::json;

/// The description.
pub(crate) fn description() -> &'static str {
    static DESCRIPTION: LazyLock<String> = LazyLock::new(fill);
    &DESCRIPTION
}

fn fill() -> String {
    let told = ErrorCode::all().filter(|code| code.is_told());
    let lists = [
        // Place, and the words of its table.
        ("\"{blames}\"", list(Blame::all().map(Blame::word))),
        ("\"{error_codes}\"", list(told.map(ErrorCode::code))),
        ("\"{actions}\"", list(Action::all().map(Action::code))),
        ("\"{phi_kind}\"", phi_kind()),
        ("\"{policy_actions}\"", list(Word::all().map(Word::code))),
        ("\"{scan_actions}\"", list(service::scan_actions())),
        ("\"{scan_profiles}\"", list(service::scan_profiles())),
        (
            "{modes}",
            sentence(&Mode::all().map(Mode::code).collect::<Vec<_>>()),
        ),
    ];
    let written = include_str!("openapi.json").to_owned();
    let fill = |text: String, (place, words): &(&str, String)| text.replace(place, words);
    lists.iter().fold(written, fill)
}

fn list(words: impl Iterator<Item = &'static str>) -> String {
    json!(words.collect::<Vec<_>>()).to_string()
}

/// The codes of kinds: those of the table, and those of an account's recognizers.
fn phi_kind() -> String {
    let table: Vec<&str> = PhiKind::all().map(PhiKind::code).collect();
    let own = format!("^{}[a-z0-9_]+$", PhiKind::OWN_PREFIX);
    json!([{ "enum": table }, { "pattern": own }]).to_string()
}

/// Joins words into a list ("one, two or three").
fn sentence(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use phigate_core::doors::DOORS;
    use serde_json::Value;

    use super::*;

    fn read() -> Value {
        serde_json::from_str(description()).unwrap()
    }

    #[test]
    fn openapi_description_lists_served_paths() {
        let description = read();
        assert!(description["openapi"].as_str().unwrap().starts_with("3."));
        for door in DOORS {
            assert!(description["paths"].get(door.path).is_some(), "{door:?}");
        }
        for path in [
            "/v1/scan",
            "/beta/litellm_basic_guardrail_api",
            "/v1/models",
            "/v1/models/{id}",
            "/v1/policy",
            "/v1/requests/{id}",
            "/healthz",
            "/readyz",
            "/openapi.json",
        ] {
            assert!(description["paths"].get(path).is_some(), "{path}");
        }
        assert_eq!(description["info"]["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn tables_fill_their_places() {
        let error =
            read()["components"]["schemas"]["Error"]["properties"]["error"]["properties"].take();
        assert_eq!(error["code"]["enum"][0], ErrorCode::AuditUnavailable.code());
        assert_eq!(error["type"]["enum"][1], Blame::Phi.word());
        let kinds = error["phi_types"]["items"]["anyOf"][0]["enum"]
            .as_array()
            .unwrap();
        assert_eq!(kinds.len(), PhiKind::all().count());
        assert!(description().contains("information: flag, block, redact or mask."));
        assert!(description().contains(r#""enum": ["find","redact","mask"]"#));
        assert!(!description().contains("\"{"), "a place was not filled");
    }
}
