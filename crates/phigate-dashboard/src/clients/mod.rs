//! Setup of each client: one table, shown on the dashboard and written into docs/clients.md.
//!
//! The lines to copy are files beside this one. They are real programs and settings: an address, a key and a model
//! are written in them in plain sight, and [`Block::for_caller`] puts the reader's own in their place.
//! `tests/clients` runs every one of them, taken from the page, against a real server.

use phigate_core::doors::{CHAT, Door, EMBEDDINGS, MESSAGES, RESPONSES};
use phigate_core::wire::{WireFormat, family_formats};
use phigate_gateway::{listed_models, routes_at};
use phigate_store::Account;

/// The address in the files.
const ADDRESS: &str = "http://127.0.0.1:8080";

/// The key in the files, and on pages if there is no key yet.
pub(crate) const KEY: &str = "YOUR_PHIGATE_KEY";

/// A program that people point here.
pub(crate) struct Client {
    /// Name of the client.
    pub(crate) title: &'static str,
    /// Lines to copy.
    pub(crate) blocks: &'static [Block],
    /// Remarks; may be empty.
    pub(crate) note: &'static str,
}

/// Lines to copy.
pub(crate) struct Block {
    /// Introduction of the lines, with code between backticks.
    pub(crate) lead: &'static str,
    /// Their language, as Markdown names it.
    pub(crate) language: &'static str,
    /// The lines, as the file has them.
    pub(crate) code: &'static str,
    /// The door they come in by.
    door: &'static Door,
    /// The model they ask for.
    model: &'static str,
}

/// Every client.
pub(crate) static CLIENTS: &[Client] = &[
    // Common tools first, then SDKs, agents, frameworks and servers.
    Client {
        title: "curl",
        blocks: &[chat("A first request:", "sh", include_str!("curl.sh"))],
        note: "",
    },
    Client {
        title: "OpenAI SDKs",
        blocks: &[
            chat(
                "Python, `pip install openai`:",
                "python",
                include_str!("openai.py"),
            ),
            chat(
                "JavaScript, `npm install openai`:",
                "js",
                include_str!("openai.mjs"),
            ),
            responses(
                "The Responses API, with models of OpenAI and Azure:",
                "python",
                include_str!("openai_responses.py"),
            ),
            chat(
                "Or without changing code, set two variables:",
                "sh",
                include_str!("openai.sh"),
            ),
        ],
        note: "Programs that read these two variables need no change at all.",
    },
    Client {
        title: "Anthropic SDKs",
        blocks: &[
            messages(
                "Python, `pip install anthropic`:",
                "python",
                include_str!("anthropic.py"),
            ),
            messages(
                "JavaScript, `npm install @anthropic-ai/sdk`:",
                "js",
                include_str!("anthropic.mjs"),
            ),
        ],
        note: "The address has no `/v1`. `count_tokens` works as well.",
    },
    Client {
        title: "Claude Code",
        blocks: &[messages(
            "`npm install -g @anthropic-ai/claude-code`, then:",
            "sh",
            include_str!("claude_code.sh"),
        )],
        note: "Its web search runs at the provider, out of sight, and is therefore refused outside flag mode.",
    },
    Client {
        title: "Codex",
        blocks: &[
            codex(
                "`npm install -g @openai/codex`. In `~/.codex/config.toml`:",
                "toml",
                include_str!("codex.toml"),
            ),
            codex(
                "Then (or just `codex` in a terminal):",
                "sh",
                include_str!("codex.sh"),
            ),
        ],
        note: "",
    },
    Client {
        title: "OpenAI Agents SDK",
        blocks: &[responses(
            "`pip install openai-agents`:",
            "python",
            include_str!("agents.py"),
        )],
        note: "Its tracing sends prompts to OpenAI, bypassing any gateway: keep `set_tracing_disabled(True)`, or set `OPENAI_AGENTS_DISABLE_TRACING=1`.",
    },
    Client {
        title: "LangChain",
        blocks: &[
            chat(
                "`pip install langchain-openai`:",
                "python",
                include_str!("langchain.py"),
            ),
            messages(
                "`pip install langchain-anthropic`:",
                "python",
                include_str!("langchain_anthropic.py"),
            ),
            embeddings(
                "Embeddings, `pip install langchain-openai`:",
                "python",
                include_str!("langchain_embeddings.py"),
            ),
        ],
        note: "Without `check_embedding_ctx_length=False` it sends token ids, which cannot be scanned. LangSmith's tracing sends prompts elsewhere: leave `LANGSMITH_TRACING` unset.",
    },
    Client {
        title: "LlamaIndex",
        blocks: &[
            chat(
                "`pip install llama-index-llms-openai-like`:",
                "python",
                include_str!("llamaindex.py"),
            ),
            embeddings(
                "Embeddings, `pip install llama-index-embeddings-openai`:",
                "python",
                include_str!("llamaindex_embeddings.py"),
            ),
        ],
        note: "",
    },
    Client {
        title: "AI SDK",
        blocks: &[
            chat(
                "Any model, `npm install ai @ai-sdk/openai-compatible`:",
                "js",
                include_str!("ai_sdk.mjs"),
            ),
            responses(
                "Responses, `npm install ai @ai-sdk/openai`:",
                "js",
                include_str!("ai_sdk_openai.mjs"),
            ),
            messages(
                "Messages, `npm install ai @ai-sdk/anthropic`; here the address has `/v1`:",
                "js",
                include_str!("ai_sdk_anthropic.mjs"),
            ),
        ],
        note: "",
    },
    Client {
        title: "pydantic-ai",
        blocks: &[
            chat(
                "`pip install 'pydantic-ai-slim[openai]'`:",
                "python",
                include_str!("pydantic_ai.py"),
            ),
            messages(
                "`pip install 'pydantic-ai-slim[anthropic]'`:",
                "python",
                include_str!("pydantic_ai_anthropic.py"),
            ),
        ],
        note: "",
    },
    Client {
        title: "LiteLLM",
        blocks: &[
            chat(
                "In front of phigate, `pip install 'litellm[proxy]'`, and in its `config.yaml`:",
                "yaml",
                include_str!("litellm.yaml"),
            ),
            chat(
                "Behind phigate it is a provider like any other; an owner sets it up:",
                "sh",
                include_str!("litellm_behind.sh"),
            ),
        ],
        note: "LiteLLM can also ask phigate as a guardrail and do the forwarding itself: see docs/service.md.",
    },
    Client {
        title: "Open WebUI",
        blocks: &[chat(
            "`pip install open-webui`, then:",
            "sh",
            include_str!("open_webui.sh"),
        )],
        note: "In an existing installation: Admin settings, Connections, OpenAI API, with the same address and key. Models are found automatically.",
    },
];

const fn chat(lead: &'static str, language: &'static str, code: &'static str) -> Block {
    block((lead, language, code), &CHAT, "gpt-4o")
}

const fn responses(lead: &'static str, language: &'static str, code: &'static str) -> Block {
    block((lead, language, code), &RESPONSES, "gpt-4o")
}

const fn codex(lead: &'static str, language: &'static str, code: &'static str) -> Block {
    block((lead, language, code), &RESPONSES, "gpt-5-codex")
}

const fn messages(lead: &'static str, language: &'static str, code: &'static str) -> Block {
    block((lead, language, code), &MESSAGES, "claude-opus-4-5")
}

const fn embeddings(lead: &'static str, language: &'static str, code: &'static str) -> Block {
    block(
        (lead, language, code),
        &EMBEDDINGS,
        "text-embedding-3-small",
    )
}

const fn block(
    (lead, language, code): (&'static str, &'static str, &'static str),
    door: &'static Door,
    model: &'static str,
) -> Block {
    Block {
        lead,
        language,
        code,
        door,
        model,
    }
}

impl Block {
    /// The lines for callers of an account, at the address and with the key that they use.
    pub(crate) fn for_caller(&self, account: &Account, address: &str, key: &str) -> String {
        let code = self.code.trim_end().replace(ADDRESS, address);
        let code = code.replace(KEY, key);
        match served(account, self.door, self.model) {
            Some(model) => code.replace(self.model, &model),
            None => code,
        }
    }

    /// Whether a provider of the account takes what comes in by this door.
    pub(crate) fn is_served(&self, account: &Account) -> bool {
        served(account, self.door, self.model).is_some()
    }

    /// The door's name for people.
    pub(crate) fn door(&self) -> &'static str {
        self.door.label
    }
}

/// A model for a first request.
pub(crate) fn example_model(account: &Account) -> String {
    let preferred = "gpt-4o";
    served(account, &CHAT, preferred).unwrap_or_else(|| preferred.to_owned())
}

/// A model that works at a door now: this one, else one of a family that is served, else one that a provider lists.
fn served(account: &Account, door: &Door, preferred: &str) -> Option<String> {
    // Providers do not say what their models are for; their names do.
    let is_for_embeddings = door.id() == EMBEDDINGS.id();
    let works = |model: &&str| {
        model.contains("embed") == is_for_embeddings && routes_at(door, account, model).is_ok()
    };
    if works(&preferred) {
        return Some(preferred.to_owned());
    }
    let mut examples = family_formats().filter_map(example);
    let example = examples.find(works).map(str::to_owned);
    let listed = || listed_models(account).into_iter().map(|(model, _)| model);
    example.or_else(|| listed().find(|model| works(&model.as_str())))
}

/// Position in a family's list of the model used as an example: the old identifiers of the specification come first.
const EXAMPLE: usize = 4;

fn example(format: &'static dyn WireFormat) -> Option<&'static str> {
    let models = format.listed_models();
    models.get(EXAMPLE).or(models.last()).copied()
}

#[cfg(test)]
mod tests;
