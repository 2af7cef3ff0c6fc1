//! Ways to authenticate at a provider.

use crate::ProviderOption;
use crate::code::coded;

/// Way in which the gateway authenticates at a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AuthMethod {
    /// AWS Signature Version 4.
    Aws,
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A token of Microsoft Entra ID.
    Entra,
    /// A token of Google's OAuth 2.
    Google,
    /// The key in the header of the provider's kind.
    Key,
    /// None: a model server without authentication.
    None,
}

/// Form of the secret for a way to authenticate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// Nothing.
    None,
    /// A key that is sent in a header unchanged.
    Key,
    /// A text that is exchanged for tokens. Without one the machine's identity is used, if allowed.
    Text,
    /// A JSON document that is exchanged for tokens.
    Json,
}

impl Secret {
    /// Whether the machine's identity can replace it.
    pub const fn can_be_ambient(self) -> bool {
        matches!(self, Self::Text | Self::Json)
    }
}

/// A row of the table of ways to authenticate.
#[derive(Debug)]
struct Row {
    method: AuthMethod,
    code: &'static str,
    label: &'static str,
    secret: Secret,
    secret_words: &'static str,
    options: &'static [ProviderOption],
    needs: &'static [ProviderOption],
}

static ROWS: &[Row] = &[
    // In the order of the enum. `options`: accepted options; `needs`: options required beside a stored secret.
    Row {
        method: AuthMethod::Aws,
        code: "aws",
        label: "AWS signature",
        secret: Secret::Json,
        secret_words: "AWS access key, as JSON with access_key_id, secret_access_key and perhaps session_token",
        options: &[ProviderOption::TokenUrl],
        needs: &[],
    },
    Row {
        method: AuthMethod::Bearer,
        code: "bearer",
        label: "Bearer key",
        secret: Secret::Key,
        secret_words: "API key",
        options: &[],
        needs: &[],
    },
    Row {
        method: AuthMethod::Entra,
        code: "entra",
        label: "Entra ID",
        secret: Secret::Text,
        secret_words: "client secret",
        options: &[
            ProviderOption::Tenant,
            ProviderOption::ClientId,
            ProviderOption::TokenUrl,
        ],
        needs: &[ProviderOption::Tenant, ProviderOption::ClientId],
    },
    Row {
        method: AuthMethod::Google,
        code: "google",
        label: "Google service account",
        secret: Secret::Json,
        secret_words: "service account, as the JSON file that Google provides",
        options: &[ProviderOption::TokenUrl],
        needs: &[],
    },
    Row {
        method: AuthMethod::Key,
        code: "key",
        label: "API key",
        secret: Secret::Key,
        secret_words: "API key",
        options: &[],
        needs: &[],
    },
    Row {
        method: AuthMethod::None,
        code: "none",
        label: "None",
        secret: Secret::None,
        secret_words: "nothing",
        options: &[],
        needs: &[],
    },
];

impl AuthMethod {
    /// Every way.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.method)
    }

    /// Code in settings and on the command line.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Name for people.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// Form of the secret.
    pub fn secret(self) -> Secret {
        self.row().secret
    }

    /// Description of the secret for people.
    pub fn secret_words(self) -> &'static str {
        self.row().secret_words
    }

    /// Accepted options.
    pub fn options(self) -> &'static [ProviderOption] {
        self.row().options
    }

    /// Options required beside a stored secret.
    pub fn needs(self) -> &'static [ProviderOption] {
        self.row().needs
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

coded!(AuthMethod, "way to authenticate");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_methods_are_ordered_and_parse_back() {
        for (number, method) in AuthMethod::all().enumerate() {
            assert_eq!(method as usize, number);
            assert_eq!(method.code().parse(), Ok(method));
            let needs = method.needs().iter();
            assert!(needs.clone().all(|need| method.options().contains(need)));
        }
    }
}
