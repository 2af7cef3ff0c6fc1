//! Treatment of each request parameter, as a table that translation follows and the documentation prints.

use crate::json::Json;

/// One top-level request parameter of the caller's format.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The parameter's name.
    pub name: &'static str,
    /// The treatment.
    pub treatment: Treatment,
    /// Values that request nothing, and are left out without a note. `null` always is one.
    pub neutral: &'static [&'static str],
    /// The target in the provider's format, or the reason why it is not sent.
    pub note: &'static str,
    /// An example value, as JSON. The tests send it.
    pub example: &'static str,
}

/// A row of a format's table.
pub(super) const fn row(
    name: &'static str,
    treatment: Treatment,
    neutral: &'static [&'static str],
    note: &'static str,
    example: &'static str,
) -> Parameter {
    Parameter {
        name,
        treatment,
        neutral,
        note,
        example,
    }
}

/// Treatment of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Sent unchanged.
    Forwarded,
    /// Sent in the provider's form.
    Mapped,
    /// Sent in the provider's form if the model accepts it; otherwise adjusted or dropped, and named.
    MappedOrNamed,
    /// Left out and named in `X-Gateway-Params-Dropped`.
    Dropped,
    /// The request is refused with status 400, naming it.
    Refused,
}

impl Treatment {
    /// The treatment in one or two words, for the documentation.
    pub fn label(self) -> &'static str {
        match self {
            Self::Forwarded => "forwarded",
            Self::Mapped => "mapped",
            Self::MappedOrNamed => "mapped, or named",
            Self::Dropped => "dropped",
            Self::Refused => "refused",
        }
    }
}

impl Parameter {
    /// Whether this value requests nothing.
    pub(super) fn is_neutral(&self, value: &Json<'_>) -> bool {
        match value {
            Json::Null => true,
            Json::Number(_) => self
                .neutral
                .iter()
                .any(|neutral| neutral.parse().ok() == value.as_f64() && value.as_f64().is_some()),
            Json::Bool(_) | Json::Text(_) | Json::List(_) | Json::Object(_) => {
                self.neutral.contains(&value.to_json_text().as_str())
            }
        }
    }
}

/// The page `docs/parameters.md`.
pub fn parameters_page() -> String {
    let mut page = String::from(PAGE_HEAD);
    for format in super::FORMATS {
        page.push_str(&format!("\n## {} (`{}`)\n\n| Parameter | Treatment | How | No effect when |\n|---|---|---|---|\n", format.family().label(), format.id()));
        for parameter in format.parameters() {
            let neutral: Vec<String> = parameter
                .neutral
                .iter()
                .map(|value| format!("`{value}`"))
                .collect();
            page.push_str(&format!(
                "| `{}` | {} | {} | {} |\n",
                parameter.name,
                parameter.treatment.label(),
                parameter.note,
                neutral.join(", ")
            ));
        }
    }
    page
}

const PAGE_HEAD: &str = "\
# What happens to each request parameter

This page is about requests to `/v1/chat/completions`, and says what happens to their parameters on the way to each family
of providers. It is written from the tables that the translation itself follows; a test fails when they differ.
Responses, Messages, completions and embeddings are not translated: they go only to providers of the same format.

- **forwarded**: sent as it came.
- **mapped**: sent in the provider's own words.
- **mapped, or named**: the same where the model accepts it. A value that had to be changed is named in the response
  header `X-Gateway-Params-Adjusted`, one that had to be left out in `X-Gateway-Params-Dropped`.
- **dropped**: left out, and named in `X-Gateway-Params-Dropped`.
- **refused**: status 400, naming the parameter, and nothing is sent.

Parameters that are not listed are forwarded to `openai` and dropped and named for the other families. `null` always
means that the parameter is absent.
";
