//! How to connect a program, with this server's real address.

use askama::Template;
use phi_detect::PhiKind;
use phigate_core::wire::{FORMATS, WireFormat};
use phigate_gateway::{listed_models, routes};
use phigate_store::Account;

use crate::dashboard::chrome::Chrome;
use crate::dashboard::visit::{Answer, SignedIn, page};

/// Help.
#[derive(Template)]
#[template(path = "help.html")]
pub(crate) struct Page {
    pub(crate) chrome: Chrome,
    pub(crate) base_url: String,
    pub(crate) snippets: Vec<Snippet>,
    pub(crate) kinds: String,
    pub(crate) may_set_up: bool,
}

/// Lines to copy.
#[derive(Debug)]
pub(crate) struct Snippet {
    pub(crate) title: &'static str,
    pub(crate) code: String,
}

const KEY: &str = "YOUR_PHIGATE_KEY";

/// `GET /help`
pub(crate) async fn show(visit: SignedIn) -> Answer {
    let base_url = visit.head.base_url();
    let model = example_model(&visit.account);
    let kinds: Vec<&str> = PhiKind::all().map(PhiKind::label).collect();
    page(&Page {
        chrome: visit.chrome("/help"),
        snippets: vec![
            Snippet {
                title: "curl",
                code: curl(&base_url, KEY, &model),
            },
            Snippet {
                title: "Python, OpenAI SDK",
                code: python(&base_url, KEY, &model),
            },
            Snippet {
                title: "JavaScript, OpenAI SDK",
                code: javascript(&base_url, KEY, &model),
            },
            Snippet {
                title: "Python, LangChain",
                code: langchain(&base_url, KEY, &model),
            },
            Snippet {
                title: "JavaScript, AI SDK",
                code: ai_sdk(&base_url, KEY, &model),
            },
            Snippet {
                title: "Environment, for programs that read it",
                code: environment(&base_url, KEY),
            },
        ],
        kinds: kinds.join(", "),
        may_set_up: visit.is_owner(),
        base_url,
    })
}

/// Where in a family's list an example is taken from: the old identifiers of the specification come first.
const EXAMPLE: usize = 4;

/// A model that works now: of the first family that is served, or one that a provider lists.
pub(crate) fn example_model(account: &Account) -> String {
    let of_family = |format: &&dyn WireFormat| {
        let models = format.listed_models();
        models.get(EXAMPLE).or(models.last()).copied()
    };
    let examples = || FORMATS.iter().filter_map(of_family);
    let works = |model: &&str| routes(account, model).is_ok();
    let listed = || listed_models(account).into_iter().next();
    let example = examples().find(works).map(str::to_owned);
    let example = example.or_else(|| listed().map(|(model, _)| model));
    example.unwrap_or_else(|| examples().next().unwrap_or_default().to_owned())
}

/// A request with curl.
pub(crate) fn curl(base_url: &str, key: &str, model: &str) -> String {
    format!(
        r#"curl {base_url}/chat/completions \
  -H "Authorization: Bearer {key}" \
  -H "Content-Type: application/json" \
  -d '{{
    "model": "{model}",
    "messages": [
      {{"role": "user", "content": "Say hello."}}
    ]
  }}'"#
    )
}

/// The OpenAI SDK for Python.
pub(crate) fn python(base_url: &str, key: &str, model: &str) -> String {
    format!(
        r#"from openai import OpenAI

client = OpenAI(
    base_url="{base_url}",
    api_key="{key}",
)
answer = client.chat.completions.create(
    model="{model}",
    messages=[
        {{"role": "user", "content": "Say hello."}},
    ],
)
print(answer.choices[0].message.content)"#
    )
}

/// The OpenAI SDK for JavaScript.
pub(crate) fn javascript(base_url: &str, key: &str, model: &str) -> String {
    format!(
        r#"import OpenAI from "openai";

const client = new OpenAI({{
  baseURL: "{base_url}",
  apiKey: "{key}",
}});
const answer = await client.chat.completions.create({{
  model: "{model}",
  messages: [
    {{ role: "user", content: "Say hello." }},
  ],
}});
console.log(answer.choices[0].message.content);"#
    )
}

fn langchain(base_url: &str, key: &str, model: &str) -> String {
    format!(
        r#"from langchain_openai import ChatOpenAI

chat = ChatOpenAI(
    base_url="{base_url}",
    api_key="{key}",
    model="{model}",
)
print(chat.invoke("Say hello.").content)"#
    )
}

fn ai_sdk(base_url: &str, key: &str, model: &str) -> String {
    format!(
        r#"import {{ createOpenAICompatible }}
  from "@ai-sdk/openai-compatible";
import {{ generateText }} from "ai";

const phigate = createOpenAICompatible({{
  name: "phigate",
  baseURL: "{base_url}",
  apiKey: "{key}",
}});
const {{ text }} = await generateText({{
  model: phigate("{model}"),
  prompt: "Say hello.",
}});"#
    )
}

fn environment(base_url: &str, key: &str) -> String {
    format!("export OPENAI_BASE_URL={base_url}\nexport OPENAI_API_KEY={key}")
}
