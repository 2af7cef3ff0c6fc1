//! How each kind of provider is spoken to: in which format, and under which path.
//!
//! A format knows the path of its own vendor. The same format stands elsewhere at the clouds: a row here says how its
//! translated requests are placed there.

use phigate_types::ProviderKind;

use super::anthropic::{self, Anthropic};
use super::google::Google;
use super::openai::OpenAi;
use super::{Probe, Refusal, Translated, WireFormat};

/// The version of Azure's API whose paths are OpenAI's own.
const AZURE_V1: &str = "v1";

/// OpenAI's list of models.
const MODELS: Probe = Probe {
    path: &["v1", "models"],
    headers: &[],
};

struct KindRow {
    kind: ProviderKind,
    /// The format in which a model is asked for.
    format: fn(model: &str) -> &'static dyn WireFormat,
    /// Moves a translated request to where the kind wants it.
    place: fn(&Site<'_>, &mut Translated) -> Result<(), Refusal>,
    /// How to ask for nothing but whether it answers and knows us, where there is a way.
    probe: Option<Probe>,
}

static KINDS: &[KindRow] = &[
    // One row per kind that can be spoken to.
    KindRow {
        kind: ProviderKind::OpenAi,
        format: |_| &OpenAi,
        place: |_, _| Ok(()),
        probe: Some(MODELS),
    },
    KindRow {
        kind: ProviderKind::Azure,
        format: |_| &OpenAi,
        place: place_at_azure,
        probe: Some(Probe {
            path: &["openai", "v1", "models"],
            headers: &[],
        }),
    },
    KindRow {
        kind: ProviderKind::Anthropic,
        format: |_| &Anthropic,
        place: |_, _| Ok(()),
        probe: Some(anthropic::PROBE),
    },
    KindRow {
        kind: ProviderKind::Google,
        format: |_| &Google,
        place: |_, _| Ok(()),
        probe: Some(Probe {
            path: &["v1beta", "models"],
            headers: &[],
        }),
    },
];

/// What of a provider decides how a request to it is written.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// What it is.
    pub kind: ProviderKind,
    /// The model to ask it for, by its own name there.
    pub model: &'a str,
    /// Version of its API.
    pub api_version: Option<&'a str>,
    /// The project that pays.
    pub project: Option<&'a str>,
    /// Where its models run.
    pub region: Option<&'a str>,
}

impl<'a> Site<'a> {
    /// A model at a provider of which no more than the kind is known.
    pub fn new(kind: ProviderKind, model: &'a str) -> Self {
        Self {
            kind,
            model,
            api_version: None,
            project: None,
            region: None,
        }
    }

    /// Moves a translated request to where the provider's kind wants it.
    pub(super) fn place(&self, translated: &mut Translated) -> Result<(), Refusal> {
        match row(self.kind) {
            Some(row) => (row.place)(self, translated),
            None => Ok(()),
        }
    }
}

/// The format in which a kind of provider is asked for a model. None where it cannot be spoken to.
pub fn format_of_kind(kind: ProviderKind, model: &str) -> Option<&'static dyn WireFormat> {
    row(kind).map(|row| (row.format)(model))
}

/// How to ask a kind of provider for nothing but whether it answers and knows us. None where only a model can be asked.
pub fn probe_of_kind(kind: ProviderKind) -> Option<Probe> {
    row(kind)?.probe
}

fn row(kind: ProviderKind) -> Option<&'static KindRow> {
    KINDS.iter().find(|row| row.kind == kind)
}

/// With version `v1` the deployment is the model and the path OpenAI's own below `/openai`; dated versions have the
/// deployment in the path.
fn place_at_azure(site: &Site<'_>, translated: &mut Translated) -> Result<(), Refusal> {
    let version = site.api_version.unwrap_or(AZURE_V1);
    let own = std::mem::take(&mut translated.path);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let mut path: Vec<String> = words(&["openai"]);
    if version == AZURE_V1 {
        path.extend(own);
    } else {
        path.extend::<Vec<String>>(words(&["deployments", site.model]));
        path.extend(own.into_iter().skip(1));
        translated.query = Some(format!("api-version={version}").into());
    }
    translated.path = path;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::FORMATS;

    #[test]
    fn every_kind_speaks_a_format_of_its_row() {
        for row in KINDS {
            for model in ["gpt-4o", "claude-opus-4-5", "gemini-2.5-flash"] {
                let format = (row.format)(model);
                assert!(row.kind.formats().contains(&format.id()), "{}", row.kind);
            }
        }
        for format in FORMATS
            .iter()
            .filter(|format| !format.listed_models().is_empty())
        {
            let kind: ProviderKind = format.id().parse().expect("a family is a kind too");
            assert!(kind.has_family());
        }
    }
}
