//! Setup of a program: the table of clients with this server's address, a key and models that work here.

use crate::clients::{Block, CLIENTS, Client};
use crate::visit::SignedIn;

/// A client as `parts/clients.html` shows it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) title: &'static str,
    pub(crate) snippets: Vec<Snippet>,
    pub(crate) note: Vec<Words>,
    /// Whether a provider of the account takes what at least one of the snippets sends.
    pub(crate) is_served: bool,
}

/// Lines to copy.
#[derive(Debug)]
pub(crate) struct Snippet {
    pub(crate) lead: Vec<Words>,
    /// Label of the copy button, for people who do not see it.
    pub(crate) what: String,
    pub(crate) language: &'static str,
    pub(crate) code: String,
    /// The door for which the account has no provider.
    pub(crate) missing: Option<&'static str>,
}

/// Words of a sentence, or code in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) text: &'static str,
    pub(crate) is_code: bool,
}

/// Returns every client, with this key filled in.
pub(crate) fn connections(visit: &SignedIn, key: &str) -> Vec<Connection> {
    let shown = |client: &Client| {
        let snippets = client.blocks.iter();
        let snippets = snippets.map(|block| snippet(visit, client, block, key));
        let snippets: Vec<Snippet> = snippets.collect();
        Connection {
            title: client.title,
            is_served: snippets.iter().any(|snippet| snippet.missing.is_none()),
            snippets,
            note: words(client.note),
        }
    };
    CLIENTS.iter().map(shown).collect()
}

fn snippet(visit: &SignedIn, client: &Client, block: &Block, key: &str) -> Snippet {
    let account = &visit.account;
    let lead = block.lead.trim_end_matches(':').replace('`', "");
    Snippet {
        lead: words(block.lead),
        what: format!("{}: {lead}", client.title),
        language: block.language,
        code: block.for_caller(account, &visit.context.origin, key),
        missing: (!block.is_served(account)).then(|| block.door()),
    }
}

/// A sentence with code between backticks.
fn words(sentence: &'static str) -> Vec<Words> {
    let pieces = sentence.split('`').enumerate();
    let pieces = pieces.map(|(number, text)| Words {
        text,
        is_code: number % 2 == 1,
    });
    pieces.filter(|words| !words.text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_backticks_is_code() {
        let told: Vec<_> = words("In `a`, then:")
            .into_iter()
            .map(|words| (words.text, words.is_code))
            .collect();
        assert_eq!(told, [("In ", false), ("a", true), (", then:", false)]);
        assert_eq!(words(""), []);
    }
}
