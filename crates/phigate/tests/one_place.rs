//! Shared words stand once: no code of a mode, an action, an error, an act, a kind or a limit is spelled outside its
//! table.
//!
//! The sources are read, not run: every string of the program that equals a code is looked at. A word may have another
//! meaning elsewhere, most of all in the formats of providers; those places are listed with their reason, and one that
//! is no longer needed fails as well.

use std::collections::BTreeSet;
use std::path::Path;

use phi_detect::PhiKind;
use phigate_types::{
    Act, Action, AuthMethod, Blame, ErrorCode, LIMIT_NAMES, Mode, PhiAgreement, ProviderKind,
    Replies,
};

use crate::support::sources::{code_of, files};

/// A noun with its codes, the files that may spell them, and the places in which a code has another meaning.
struct Noun {
    name: &'static str,
    codes: Vec<String>,
    tables: &'static [&'static str],
    elsewhere: &'static [(&'static str, &'static str)],
}

/// Codes that are everyday words of the program as well. A reader must judge whether such a word means the noun.
const EVERYDAY: &[&str] = &[
    // Kinds of PHI that are members of every other JSON document.
    "address",
    "age",
    "date",
    "device",
    "email",
    "facility",
    "ip",
    "name",
    "phone",
    "place",
    "record_id",
    "url",
    "username",
    "vehicle",
    // Acts in records.
    "login",
    // Parts of a request with a limit, and a field of records.
    "concurrency",
    "connections",
    "documents",
    "fields",
    "first_byte_ms",
    "messages",
    "parts",
    "queue",
    "tools",
    // Agreements, ways to authenticate and choices for replies.
    "bearer",
    "key",
    "never",
    "none",
    "off",
    // Stored items as subjects of messages.
    "account",
    "alert",
    "api_key",
    "lane",
    "link",
    "meta",
    "provider",
    "roll",
    "session",
    "user",
];

/// The words of OpenAI's, Anthropic's and Google's formats, some of which are codes of ours as well.
const FORMATS: (&str, &str) = ("phigate-core/src/wire/", "a word of a provider's format");
const DEMO: (&str, &str) = ("phigate/src/demo/", "a word of a simulated provider");
const ENVELOPE: (&str, &str) = (
    "phigate-edge/src/envelope.rs",
    "the type of an error in Anthropic's format",
);

#[expect(clippy::too_many_lines, reason = "a table")]
fn nouns() -> Vec<Noun> {
    let own = |codes: Vec<&'static str>| codes.into_iter().map(str::to_owned).collect();
    vec![
        Noun {
            name: "act",
            codes: own(Act::all().map(Act::code).collect()),
            tables: &["phigate-types/src/act.rs"],
            elsewhere: &[],
        },
        Noun {
            name: "action",
            codes: own(Action::all().map(Action::code).collect()),
            tables: &["phigate-types/src/modes/"],
            elsewhere: &[
                (
                    "phigate-core/src/wire/parameters.rs",
                    "what becomes of a parameter",
                ),
                ("phigate-gateway/src/metrics.rs", "a metric's name"),
                ("phigate-types/src/export.rs", "a choice of an export"),
                (
                    "phigate-types/src/phi_agreement.rs",
                    "what a provider may have",
                ),
                ("phigate-types/src/replies.rs", "what is done with a reply"),
            ],
        },
        Noun {
            name: "agreement about PHI",
            codes: own(PhiAgreement::all().map(PhiAgreement::code).collect()),
            tables: &["phigate-types/src/phi_agreement.rs"],
            elsewhere: &[
                ("phigate-types/src/modes/", "what was done with a request"),
                ("phigate-types/src/replies.rs", "what is done with a reply"),
            ],
        },
        Noun {
            name: "blame",
            codes: own(Blame::all().map(Blame::word).collect()),
            tables: &["phigate-types/src/error_code.rs"],
            elsewhere: &[FORMATS, ENVELOPE, DEMO],
        },
        Noun {
            name: "error code",
            codes: own(ErrorCode::all().map(ErrorCode::code).collect()),
            tables: &["phigate-types/src/error_code.rs"],
            elsewhere: &[
                FORMATS,
                ENVELOPE,
                DEMO,
                (
                    "phigate-core/src/doors/responses/watch.rs",
                    "a finish reason of OpenAI's",
                ),
                (
                    "phigate-core/src/recognizer/definition.rs",
                    "a field of a definition",
                ),
                (
                    "phigate-gateway/src/finish_reason.rs",
                    "a finish reason of OpenAI's",
                ),
                (
                    "phigate-gateway/src/trial/mistakes.rs",
                    "a code of OpenAI's",
                ),
            ],
        },
        Noun {
            name: "kind of PHI",
            codes: own(PhiKind::all().map(PhiKind::code).collect()),
            tables: &["phi-detect/src/kinds/"],
            elsewhere: &[
                (
                    "phigate-core/src/roster/field.rs",
                    "a column of a roster, and its kind",
                ),
                (
                    "phi-detect/src/names/decode.rs",
                    "which kinds the model finds",
                ),
                (
                    "phi-detect/src/rules/mod.rs",
                    "which kinds have a finder of their own",
                ),
                ("phi-detect/src/structure/", "keys of documents, as labels"),
                (
                    "phigate-core/src/protect/id_words.rs",
                    "labels for numbers in ids of models",
                ),
                (
                    "phigate-core/src/protect/identifier/",
                    "how values of a kind are compared",
                ),
                (
                    "phigate-core/src/service/presidio/entities.rs",
                    "Presidio's names of kinds",
                ),
                (
                    "phigate-dashboard/src/pages/settings/weakening.rs",
                    "the kind whose formats an account can set",
                ),
            ],
        },
        Noun {
            name: "kind of provider",
            codes: own(ProviderKind::all().map(ProviderKind::code).collect()),
            tables: &["phigate-types/src/provider_kind.rs"],
            elsewhere: &[
                FORMATS,
                (
                    "phigate-auth/src/aws/sign.rs",
                    "the name of a service of AWS's",
                ),
                ("phigate-types/src/auth_method.rs", "a way to authenticate"),
                (
                    "phigate-dashboard/src/pages/presets.rs",
                    "the name of a preset",
                ),
            ],
        },
        Noun {
            name: "kind of stored item",
            codes: item_kinds(),
            tables: &["phigate-store/src/item.rs"],
            elsewhere: &[
                (
                    "phigate-core/src/recognizer/find.rs",
                    "the rule of a finding",
                ),
                (
                    "phigate-store/src/accounts/rosters.rs",
                    "the subject of a key",
                ),
                (
                    "phigate-store/src/keys/root.rs",
                    "what a key is derived for",
                ),
            ],
        },
        Noun {
            name: "limit",
            codes: own(LIMIT_NAMES.to_vec()),
            tables: &["phigate-types/src/limit.rs"],
            elsewhere: &[],
        },
        Noun {
            name: "mode",
            codes: own(Mode::all().map(Mode::code).collect()),
            tables: &["phigate-types/src/modes/"],
            elsewhere: &[
                (
                    "phigate-core/src/service/presidio/operators.rs",
                    "an operator of Presidio's",
                ),
                ("phigate-types/src/replies.rs", "what is done with a reply"),
            ],
        },
        Noun {
            name: "choice for replies",
            codes: own(Replies::all().map(Replies::code).collect()),
            tables: &["phigate-types/src/replies.rs"],
            elsewhere: &[
                (
                    "phigate-core/src/service/presidio/operators.rs",
                    "an operator of Presidio's",
                ),
                ("phigate-types/src/modes/", "what is done with a request"),
            ],
        },
        Noun {
            name: "way to authenticate",
            codes: own(AuthMethod::all().map(AuthMethod::code).collect()),
            tables: &["phigate-types/src/auth_method.rs"],
            elsewhere: &[
                FORMATS,
                ("phigate-types/src/provider_kind.rs", "a kind of provider"),
                (
                    "phigate-dashboard/src/pages/presets.rs",
                    "the name of a preset",
                ),
            ],
        },
    ]
}

/// The codes of stored items, from their table: the store keeps the type to itself.
fn item_kinds() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../phigate-store/src/item.rs");
    let source = std::fs::read_to_string(path).unwrap();
    let (_, rows) = code_of(&source).split_once("const ROWS").unwrap();
    let (rows, _) = rows.split_once("];").unwrap();
    // Each row has a code and a label.
    literals(rows).into_iter().step_by(2).collect()
}

#[test]
fn every_code_appears_only_in_its_table() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources: Vec<(String, Vec<String>)> = files(&crates)
        .into_iter()
        .map(|file| {
            let name = file
                .strip_prefix(&crates)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            (
                name,
                literals(code_of(&std::fs::read_to_string(&file).unwrap())),
            )
        })
        .collect();
    assert!(sources.len() > 300, "{} sources", sources.len());
    let mut wrong = Vec::new();
    for noun in nouns() {
        wrong.extend(look(&noun, &sources));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Mistakes about one noun.
fn look(noun: &Noun, sources: &[(String, Vec<String>)]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    let mut in_table = false;
    for (file, literals) in sources {
        for literal in literals {
            if EVERYDAY.contains(&literal.as_str()) || !noun.codes.contains(literal) {
                continue;
            }
            let other = noun
                .elsewhere
                .iter()
                .find(|(place, _)| file.starts_with(place));
            if noun.tables.iter().any(|table| file.starts_with(table)) {
                in_table = true;
            } else if let Some((place, _)) = other {
                used.insert(*place);
            } else {
                wrong.push(format!("{file} spells the {} {literal:?}", noun.name));
            }
        }
    }
    let needless = noun
        .elsewhere
        .iter()
        .filter(|(place, _)| !used.contains(place));
    wrong.extend(
        needless
            .map(|(place, _)| format!("{place} spells no {} and need not be listed", noun.name)),
    );
    if !in_table {
        wrong.push(format!(
            "the table of the {} is not where it was",
            noun.name
        ));
    }
    wrong
}

/// Every string in a source, comments left out.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let raw = rest
            .strip_prefix('r')
            .map(|after| after.trim_start_matches('#'));
        let taken = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            // A quotation mark as a character.
            '\'' if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") => 3,
            'r' if raw.is_some_and(|after| after.starts_with('"')) => {
                let marks = rest.len() - raw.unwrap_or_default().len() - 1;
                let end = format!("\"{}", "#".repeat(marks));
                let text = &rest[marks + 2..];
                let length = text.find(&end).unwrap_or(text.len());
                found.push(text[..length].to_owned());
                marks + 2 + length + end.len()
            }
            '"' => {
                let length = quoted(&rest[1..]);
                found.push(rest[1..=length].to_owned());
                length + 2
            }
            _ => first.len_utf8(),
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    found
}

/// The length of a string up to its closing mark.
fn quoted(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}

#[test]
fn literal_reader_agrees_with_compiler() {
    let source = "let a = \"one\"; // \"no\"\nlet b = ['\"', 'r']; for \"two \\\" 2\" r#\"three \"3\" \"# b\"four\"";
    assert_eq!(
        literals(source),
        ["one", "two \\\" 2", "three \"3\" ", "four"]
    );
}
