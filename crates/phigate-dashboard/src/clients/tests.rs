//! The table, the files beside it and docs/clients.md say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use phigate_store::{AllowedValues, Provider, ProviderConfig, Rosters, Settings};
use phigate_types::{Mode, Policy, ProviderKind, read_models};

use super::*;

const START: &str = "<!-- written from the table of clients: start -->\n";
const END: &str = "<!-- written from the table of clients: end -->\n";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md")
}

fn render() -> String {
    let mut page = String::new();
    for client in CLIENTS {
        page.push_str(&format!("\n## {}\n", client.title));
        for block in client.blocks {
            let (lead, language, code) = (block.lead, block.language, block.code);
            page.push_str(&format!("\n{lead}\n\n```{language}\n{code}```\n"));
        }
        if !client.note.is_empty() {
            page.push_str(&format!("\n{}\n", client.note));
        }
    }
    page.push('\n');
    page
}

#[test]
fn clients_page_matches_table() {
    let text = std::fs::read_to_string(page()).unwrap();
    let (before, rest) = text.split_once(START).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    let expected = render();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(page(), format!("{before}{START}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(
        written == expected,
        "docs/clients.md is out of date: run this test with UPDATE_DOCS=1"
    );
}

#[test]
fn client_files_are_listed_and_complete() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/clients");
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            files.insert(std::fs::read_to_string(path).unwrap());
        }
    }
    let blocks = || CLIENTS.iter().flat_map(|client| client.blocks);
    assert_eq!(files, blocks().map(|block| block.code.to_owned()).collect());
    for client in CLIENTS {
        let all: String = client.blocks.iter().map(|block| block.code).collect();
        assert!(
            all.contains(ADDRESS) && all.contains(KEY),
            "{}",
            client.title
        );
    }
    for block in blocks() {
        // Only its own model: every other would stay as it is for all readers.
        for model in [
            "gpt-4o",
            "gpt-5-codex",
            "claude-opus-4-5",
            "text-embedding-3-small",
        ] {
            assert!(
                !block.code.contains(model) || block.model == model,
                "{}",
                block.code
            );
        }
        assert!(block.lead.ends_with(':') && block.code.ends_with('\n'));
    }
}

/// An account with these providers: name, kind, models.
fn account(providers: &[(&str, &str, &str)]) -> Account {
    let provider = |(name, kind, models): &(&str, &str, &str)| {
        let mut config = ProviderConfig::new(kind.parse::<ProviderKind>().unwrap());
        if !models.is_empty() {
            config.models = read_models(models).unwrap();
        }
        let provider = Provider {
            config,
            secret: None,
            last4: String::new(),
            version: 1,
        };
        ((*name).to_owned(), provider)
    };
    Account {
        id: "id".to_owned(),
        name: "default".to_owned(),
        mode: Mode::FLAG,
        policy: Policy::uniform(Mode::FLAG),
        allowed: AllowedValues::default(),
        recognizers: [].into(),
        rosters: Rosters::default(),
        settings: Settings::default(),
        providers: providers.iter().map(provider).collect(),
        aliases: BTreeMap::new(),
        fallbacks: BTreeMap::new(),
        version: 1,
    }
}

/// The models that an account's callers are shown: by chat, Responses, Messages and embeddings.
fn shown(providers: &[(&str, &str, &str)]) -> [Option<String>; 4] {
    let account = account(providers);
    let blocks: Vec<&Block> = CLIENTS.iter().flat_map(|client| client.blocks).collect();
    [&CHAT, &RESPONSES, &MESSAGES, &EMBEDDINGS].map(|door| {
        let block = blocks
            .iter()
            .find(|block| block.door.id() == door.id())
            .unwrap();
        block.is_served(&account).then(|| {
            let code = block.for_caller(&account, "https://gate.example", "phg_a_b");
            assert!(
                code.contains("https://gate.example") && code.contains("phg_a_b"),
                "{code}"
            );
            assert!(!code.contains(ADDRESS) && !code.contains(KEY), "{code}");
            served(&account, door, block.model)
                .filter(|model| code.contains(model))
                .unwrap()
        })
    })
}

#[test]
fn shown_models_match_configured_providers() {
    let some = |model: &str| Some(model.to_owned());
    for (providers, expected) in [
        (&[][..], [None, None, None, None]),
        (
            &[("openai", "openai", "")],
            [
                some("gpt-4o"),
                some("gpt-4o"),
                None,
                some("text-embedding-3-small"),
            ],
        ),
        (
            &[("azure-eu", "azure", "notes=dep,embed-eu=dep2")],
            [some("notes"), some("notes"), None, some("embed-eu")],
        ),
        (
            &[("vertex-us", "vertex", "claude-sonnet-4-5")],
            [
                some("claude-sonnet-4-5"),
                None,
                some("claude-sonnet-4-5"),
                None,
            ],
        ),
    ] {
        assert_eq!(shown(providers), expected, "{providers:?}");
    }
    let [chat, responses, messages, _] = shown(&[("anthropic", "anthropic", "")]);
    assert!(chat.is_some_and(|model| model.starts_with("claude-")));
    assert_eq!((responses, messages), (None, some("claude-opus-4-5")));
}
