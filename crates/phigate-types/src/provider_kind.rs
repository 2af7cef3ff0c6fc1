//! Kinds of provider: their formats, addresses and ways to authenticate.

use crate::code::coded;
use crate::{AuthMethod, ProviderOption};

/// The table of kinds, one row each.
///
/// It is a macro because two crates build on the same rows: this one the type, `phigate-core` its list of formats.
/// `speaks` names the folder of the kind's own format; a kind without it serves formats of others.
#[macro_export]
macro_rules! provider_kinds {
    ($build:ident) => {
        $build! {
            // In the order of offers. The first way to authenticate is the default. `options`: accepted besides those
            // of its way to authenticate; `needs`: required options.
            /// OpenAI, and everything that speaks its chat completions.
            OpenAi "openai" speaks openai {
                label: "OpenAI",
                convention: "openai",
                has_family: true,
                address: Some("https://api.openai.com"),
                global_address: None,
                key_header: "authorization",
                auth: &[AuthMethod::Bearer, AuthMethod::None],
                options: &[ProviderOption::BaseUrl],
                needs: &[],
            }
            /// Azure OpenAI.
            Azure "azure" {
                label: "Azure OpenAI",
                convention: "azure.ai.openai",
                has_family: false,
                address: None,
                global_address: None,
                key_header: "api-key",
                auth: &[AuthMethod::Key, AuthMethod::Entra],
                options: &[ProviderOption::BaseUrl, ProviderOption::ApiVersion],
                needs: &[ProviderOption::BaseUrl],
            }
            /// Anthropic.
            Anthropic "anthropic" speaks anthropic {
                label: "Anthropic",
                convention: "anthropic",
                has_family: true,
                address: Some("https://api.anthropic.com"),
                global_address: None,
                key_header: "x-api-key",
                auth: &[AuthMethod::Key],
                options: &[ProviderOption::BaseUrl],
                needs: &[],
            }
            /// Google's Gemini API.
            Google "google" speaks google {
                label: "Google",
                convention: "gcp.gemini",
                has_family: true,
                address: Some("https://generativelanguage.googleapis.com"),
                global_address: None,
                key_header: "x-goog-api-key",
                auth: &[AuthMethod::Key],
                options: &[ProviderOption::BaseUrl],
                needs: &[],
            }
            /// AWS Bedrock.
            Bedrock "bedrock" speaks bedrock {
                label: "AWS Bedrock",
                convention: "aws.bedrock",
                has_family: false,
                address: Some("https://bedrock-runtime.{region}.amazonaws.com"),
                global_address: None,
                key_header: "authorization",
                auth: &[AuthMethod::Aws, AuthMethod::Bearer],
                options: &[ProviderOption::BaseUrl, ProviderOption::Region],
                needs: &[ProviderOption::Region],
            }
            /// Google Vertex AI.
            Vertex "vertex" {
                label: "Google Vertex AI",
                convention: "gcp.vertex_ai",
                has_family: false,
                address: Some("https://{region}-aiplatform.googleapis.com"),
                global_address: Some("https://aiplatform.googleapis.com"),
                key_header: "authorization",
                auth: &[AuthMethod::Google],
                options: &[
                    ProviderOption::BaseUrl,
                    ProviderOption::Project,
                    ProviderOption::Region,
                ],
                needs: &[ProviderOption::Project, ProviderOption::Region],
            }
        }
    };
}

macro_rules! build {
    ($($(#[$doc:meta])+ $kind:ident $code:literal $(speaks $folder:ident)? { $($facts:tt)+ })+) => {
        /// A kind of provider.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ProviderKind {
            $($(#[$doc])+ $kind,)+
        }

        static ROWS: &[Row] = &[
            $(Row { kind: ProviderKind::$kind, code: $code, $($facts)+ },)+
        ];
    };
}

provider_kinds!(build);

#[derive(Debug)]
struct Row {
    kind: ProviderKind,
    code: &'static str,
    label: &'static str,
    /// Name by OpenTelemetry's convention.
    convention: &'static str,
    /// Whether a provider without a model list serves all models of its format's family.
    has_family: bool,
    /// The operator's address, with `{region}` for the region. `None` if every customer has another.
    address: Option<&'static str>,
    /// Address of the region `global`.
    global_address: Option<&'static str>,
    /// Header of the key, if the key has its own header.
    key_header: &'static str,
    auth: &'static [AuthMethod],
    options: &'static [ProviderOption],
    needs: &'static [ProviderOption],
}

impl ProviderKind {
    /// Every kind, in the order in which they are offered.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.kind)
    }

    /// Code in settings and on the command line.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Name for people.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// Name by OpenTelemetry's convention for generative AI.
    pub fn convention(self) -> &'static str {
        self.row().convention
    }

    /// Whether a provider without a model list serves all models of its family.
    pub fn has_family(self) -> bool {
        self.row().has_family
    }

    /// The operator's address, in `region` if it has several.
    pub fn address(self, region: Option<&str>) -> Option<String> {
        let row = self.row();
        match region {
            Some("global") if row.global_address.is_some() => row.global_address.map(str::to_owned),
            Some(region) => row
                .address
                .map(|address| address.replace("{region}", region)),
            None => row
                .address
                .filter(|address| !address.contains("{region}"))
                .map(str::to_owned),
        }
    }

    /// Header of the key.
    pub fn key_header(self) -> &'static str {
        self.row().key_header
    }

    /// Ways to authenticate there; the first is the default.
    pub fn auth_methods(self) -> &'static [AuthMethod] {
        self.row().auth
    }

    /// Default way to authenticate there.
    pub fn default_auth(self) -> AuthMethod {
        self.row().auth[0]
    }

    /// Accepted options, besides those of its way to authenticate.
    pub fn options(self) -> &'static [ProviderOption] {
        self.row().options
    }

    /// Required options.
    pub fn needs(self) -> &'static [ProviderOption] {
        self.row().needs
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

coded!(ProviderKind, "kind of provider");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_kinds_are_ordered_and_parse_back() {
        for (number, kind) in ProviderKind::all().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(kind.code().parse(), Ok(kind));
            let has = |option| kind.options().contains(option);
            assert!(kind.needs().iter().all(has) && !kind.auth_methods().is_empty());
        }
    }

    #[test]
    fn addresses_are_complete_or_absent() {
        let address = |kind: ProviderKind, region| kind.address(region);
        let own = |text: &str| Some(text.to_owned());
        assert_eq!(
            address(ProviderKind::OpenAi, None),
            own("https://api.openai.com")
        );
        assert_eq!(address(ProviderKind::Azure, None), None);
        assert_eq!(address(ProviderKind::Bedrock, None), None);
        assert_eq!(
            address(ProviderKind::Bedrock, Some("eu-west-1")),
            own("https://bedrock-runtime.eu-west-1.amazonaws.com")
        );
        assert_eq!(
            address(ProviderKind::Vertex, Some("global")),
            own("https://aiplatform.googleapis.com")
        );
        assert_eq!(
            address(ProviderKind::Vertex, Some("us-central1")),
            own("https://us-central1-aiplatform.googleapis.com")
        );
    }
}
