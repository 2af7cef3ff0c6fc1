//! Presets: the usual places that sell or run models, with the values that each asks for and the steps to find them.

use phigate_types::{AuthMethod, ProviderKind, ProviderOption};

/// One place to begin with.
#[derive(Debug)]
pub(crate) struct Preset {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) kind: ProviderKind,
    pub(crate) auth: AuthMethod,
    /// The address to begin with, if all customers share it.
    pub(crate) base_url: &'static str,
    /// Options that it cannot do without, besides those of its kind and way to authenticate.
    pub(crate) needs: &'static [ProviderOption],
    /// Look of the operator's list of models.
    pub(crate) models: &'static str,
    /// Steps to find the values.
    pub(crate) steps: &'static [&'static str],
    /// The operator's page that shows them: address and name.
    pub(crate) console: Option<(&'static str, &'static str)>,
}

pub(crate) static PRESETS: &[Preset] = &[
    // In the order in which they are offered.
    Preset {
        code: "azure",
        label: "Azure OpenAI",
        summary: "Deployments of your resource, with its key.",
        kind: ProviderKind::Azure,
        auth: AuthMethod::Key,
        base_url: "",
        needs: &[],
        models: "gpt-4o=my-deployment",
        steps: &[
            "The endpoint and a key are under “Keys and Endpoint” of the resource.",
            "The names of deployments are under “Deployments”. Write each as model=deployment.",
        ],
        console: Some(("https://ai.azure.com", "Azure AI Foundry")),
    },
    Preset {
        code: "azure-entra",
        label: "Azure OpenAI, Entra ID",
        summary: "For resources whose keys are switched off by policy.",
        kind: ProviderKind::Azure,
        auth: AuthMethod::Entra,
        base_url: "",
        needs: &[],
        models: "gpt-4o=my-deployment",
        steps: &[
            "Register an application in Entra ID: its overview shows the tenant id and the client id.",
            "Its client secret is under “Certificates & secrets”. Without one, the machine’s own identity is used where the operator allows it.",
            "Give the application the role “Cognitive Services OpenAI User” on the resource.",
        ],
        console: Some((
            "https://entra.microsoft.com",
            "Microsoft Entra admin center",
        )),
    },
    Preset {
        code: "bedrock",
        label: "AWS Bedrock",
        summary: "Models on Bedrock, with an access key or the machine’s own role.",
        kind: ProviderKind::Bedrock,
        auth: AuthMethod::Aws,
        base_url: "",
        needs: &[],
        models: "claude=us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        steps: &[
            "The region is the one in which you were given access to the models.",
            "Create a user or role in IAM that may call bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream, and no more.",
            "Paste its access key as {\"access_key_id\": …, \"secret_access_key\": …}.",
            "The id of a model or inference profile is in the model catalog of the console.",
        ],
        console: Some(("https://console.aws.amazon.com/bedrock", "Bedrock console")),
    },
    Preset {
        code: "bedrock-key",
        label: "AWS Bedrock, API key",
        summary: "Models on Bedrock, with one of its bearer keys.",
        kind: ProviderKind::Bedrock,
        auth: AuthMethod::Bearer,
        base_url: "",
        needs: &[],
        models: "claude=us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        steps: &["Create a long-term key under “API keys” of the Bedrock console."],
        console: Some(("https://console.aws.amazon.com/bedrock", "Bedrock console")),
    },
    Preset {
        code: "vertex",
        label: "Google Vertex AI",
        summary: "Gemini and Claude on Google Cloud.",
        kind: ProviderKind::Vertex,
        auth: AuthMethod::Google,
        base_url: "",
        needs: &[],
        models: "gemini-2.5-flash,claude-sonnet-4-5=claude-sonnet-4-5@20250929",
        steps: &[
            "The project’s id is on the dashboard of the console.",
            "Create a service account with the role “Vertex AI User”, and a JSON key for it; paste the whole file.",
            "The region may be “global” where the models are offered there.",
        ],
        console: Some((
            "https://console.cloud.google.com/vertex-ai",
            "Vertex AI console",
        )),
    },
    Preset {
        code: "local",
        label: "A model server of your own",
        summary: "vLLM, Ollama, llama.cpp and anything else that speaks chat completions.",
        kind: ProviderKind::OpenAi,
        auth: AuthMethod::None,
        base_url: "",
        needs: &[ProviderOption::BaseUrl],
        models: "llama3.2:3b,qwen-*",
        steps: &[
            "The address is the root of its API, such as https://models.clinic.example.",
            "Addresses inside your network need a server that was started to allow them.",
        ],
        console: None,
    },
    Preset {
        code: "compatible",
        label: "Another OpenAI-compatible service",
        summary: "OpenRouter, Groq, Together and the like, with a key.",
        kind: ProviderKind::OpenAi,
        auth: AuthMethod::Bearer,
        base_url: "",
        needs: &[ProviderOption::BaseUrl],
        models: "meta-llama/llama-3.3-70b,fast=llama-3.1-8b-instant",
        steps: &["The base URL is the one its documentation gives for the OpenAI SDK."],
        console: None,
    },
    Preset {
        code: "openai",
        label: "A second OpenAI account",
        summary: "In addition to the one above, for other models or as a fallback.",
        kind: ProviderKind::OpenAi,
        auth: AuthMethod::Bearer,
        base_url: "https://api.openai.com",
        needs: &[],
        models: "gpt-4o,gpt-5.2",
        steps: &["Keys are under “API keys” of the project."],
        console: Some(("https://platform.openai.com/api-keys", "OpenAI platform")),
    },
    Preset {
        code: "anthropic",
        label: "A second Anthropic account",
        summary: "In addition to the one above, for other models or as a fallback.",
        kind: ProviderKind::Anthropic,
        auth: AuthMethod::Key,
        base_url: "",
        needs: &[],
        models: "claude-opus-4-5",
        steps: &["Keys are under “API keys” of the console."],
        console: Some((
            "https://console.anthropic.com/settings/keys",
            "Anthropic console",
        )),
    },
    Preset {
        code: "google",
        label: "A second Gemini API key",
        summary: "In addition to the one above, for other models or as a fallback.",
        kind: ProviderKind::Google,
        auth: AuthMethod::Key,
        base_url: "",
        needs: &[],
        models: "gemini-2.5-flash",
        steps: &["Keys are under “Get API key” of AI Studio."],
        console: Some(("https://aistudio.google.com/apikey", "Google AI Studio")),
    },
];

/// The preset of this code.
pub(crate) fn find(code: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.code == code)
}

/// Returns the preset that explains a provider of this kind and way to authenticate.
pub(crate) fn explaining(kind: ProviderKind, auth: AuthMethod) -> Option<&'static Preset> {
    let fits = |preset: &&Preset| preset.kind == kind && preset.auth == auth;
    PRESETS.iter().find(fits)
}

#[cfg(test)]
mod tests {
    use phigate_types::read_models;

    use super::*;

    #[test]
    fn every_auth_method_has_valid_preset() {
        for kind in ProviderKind::all() {
            for auth in kind.auth_methods() {
                assert!(explaining(kind, *auth).is_some(), "{kind} {auth}");
            }
        }
        for preset in PRESETS {
            assert!(preset.kind.auth_methods().contains(&preset.auth));
            assert!(read_models(preset.models).is_ok(), "{}", preset.code);
            assert!(std::ptr::eq(find(preset.code).unwrap(), preset));
        }
    }
}
