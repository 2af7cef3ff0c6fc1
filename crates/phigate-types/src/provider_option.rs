//! Options of a provider: its address and the gateway's identity there.

use crate::code::coded;

/// An option of a provider, in its operator's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProviderOption {
    /// Version of the API.
    ApiVersion,
    /// Root of the API, if not the operator's own.
    BaseUrl,
    /// Application of the gateway.
    ClientId,
    /// Project that pays.
    Project,
    /// Region of the models.
    Region,
    /// Directory of the application.
    Tenant,
    /// Token endpoint, if not the operator's own.
    TokenUrl,
}

/// Option, code, label, description with an example, shape of a value (`None`: an address, which is checked elsewhere).
type Row = (
    ProviderOption,
    &'static str,
    &'static str,
    &'static str,
    Option<fn(&str) -> bool>,
);

const ROWS: &[Row] = &[
    // In the order of the enum.
    (
        ProviderOption::ApiVersion,
        "api-version",
        "API version",
        "v1, or a dated version such as 2024-10-21",
        Some(is_api_version),
    ),
    (
        ProviderOption::BaseUrl,
        "base-url",
        "Base URL",
        "the root of the provider's API, such as https://RESOURCE.openai.azure.com",
        None,
    ),
    (
        ProviderOption::ClientId,
        "client-id",
        "Client ID",
        "the application's id, such as 66666666-7777-8888-9999-000000000000",
        Some(is_client_id),
    ),
    (
        ProviderOption::Project,
        "project",
        "Project",
        "the project's id, such as my-project",
        Some(is_project),
    ),
    (
        ProviderOption::Region,
        "region",
        "Region",
        "a region, such as us-east-1",
        Some(is_region),
    ),
    (
        ProviderOption::Tenant,
        "tenant",
        "Tenant",
        "the directory's id or domain, such as 11111111-2222-3333-4444-555555555555",
        Some(is_tenant),
    ),
    (
        ProviderOption::TokenUrl,
        "token-url",
        "Token URL",
        "the full address of the token endpoint",
        None,
    ),
];

impl ProviderOption {
    /// Every option.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Name on the command line, without its hyphens.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Name for people.
    pub const fn label(self) -> &'static str {
        ROWS[self as usize].2
    }

    /// Description with an example.
    pub const fn words(self) -> &'static str {
        ROWS[self as usize].3
    }

    /// Whether a value has the option's shape. Addresses are checked when connecting.
    pub fn accepts(self, value: &str) -> bool {
        ROWS[self as usize].4.is_none_or(|accepts| accepts(value))
    }
}

coded!(ProviderOption, "option of a provider");

fn is_region(text: &str) -> bool {
    is_word(text, 40, b"-") && text.bytes().all(|byte| !byte.is_ascii_uppercase())
}

/// Whether a text is a project id. Older projects belong to a domain: `example.com:my-project`.
fn is_project(text: &str) -> bool {
    is_word(text, 100, b"-.:")
}

fn is_tenant(text: &str) -> bool {
    is_word(text, 253, b"-.")
}

fn is_client_id(text: &str) -> bool {
    is_word(text, 128, b"-._")
}

/// Whether a text is `v1`, or a date that may end in `-preview`.
fn is_api_version(text: &str) -> bool {
    let date = text.strip_suffix("-preview").unwrap_or(text);
    let pieces: Vec<&str> = date.split('-').collect();
    let is_date = matches!(pieces[..], [year, month, day] if year.len() == 4 && month.len() == 2 && day.len() == 2)
        && pieces.concat().bytes().all(|byte| byte.is_ascii_digit());
    text == "v1" || is_date
}

/// Whether a text has only letters, digits and these signs, and starts with a letter or digit. Otherwise a value could
/// climb a path.
fn is_word(text: &str, length_max: usize, signs: &[u8]) -> bool {
    let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || signs.contains(&byte);
    begins_well && text.len() <= length_max && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_options_are_ordered_and_parse_back() {
        for (number, option) in ProviderOption::all().enumerate() {
            assert_eq!(option as usize, number);
            assert_eq!(option.code().parse(), Ok(option));
        }
    }

    #[test]
    fn option_values_cannot_escape_an_address() {
        for (option, value, is_accepted) in [
            (ProviderOption::Region, "us-gov-west-1", true),
            (ProviderOption::Region, "global", true),
            (ProviderOption::Region, "us-east-1.evil.example/", false),
            (ProviderOption::Region, "", false),
            (ProviderOption::Project, "example.com:my-project", true),
            (ProviderOption::Project, "../x", false),
            (ProviderOption::Tenant, "contoso.onmicrosoft.com", true),
            (ProviderOption::Tenant, "../common", false),
            (ProviderOption::ClientId, "a b", false),
            (ProviderOption::ApiVersion, "v1", true),
            (ProviderOption::ApiVersion, "2025-04-01-preview", true),
            (ProviderOption::ApiVersion, "latest", false),
            (ProviderOption::ApiVersion, "2024-10-21&x=y", false),
            (ProviderOption::ApiVersion, "2024-1-2", false),
        ] {
            assert_eq!(option.accepts(value), is_accepted, "{option} {value}");
        }
    }
}
