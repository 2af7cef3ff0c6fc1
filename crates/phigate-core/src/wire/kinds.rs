//! How each kind of provider is spoken to: in which format, and under which path.
//!
//! A format knows the path of its own vendor. Clouds serve the same formats under other paths: a row here says how
//! translated requests are placed there.

use phigate_types::ProviderKind;

use super::anthropic::Anthropic;
use super::google::Google;
use super::openai::OpenAi;
use super::{
    Call, Header, Probe, ProviderRequest, Refusal, Translated, WireFormat, format_of_family,
};
use crate::protect::CleanRequest;

/// The version of Azure's API whose paths are OpenAI's own.
const AZURE_V1: &str = "v1";

/// The version of Anthropic's API at Vertex, which there stands in the body.
const CLAUDE_AT_VERTEX: (&str, &str) = ("anthropic_version", "vertex-2023-10-16");

const JSON: &[Header] = &[("content-type", "application/json")];

/// A kind of provider that serves formats of others.
struct HostRow {
    kind: ProviderKind,
    /// The format in which a model is asked for.
    format: fn(model: &str) -> &'static dyn WireFormat,
    /// The field that opens the body instead of the model's name, where the model stands in the path.
    opening: Option<(&'static str, &'static str)>,
    /// Moves a translated request to where the kind wants it.
    place: fn(&Site<'_>, &Call<'_>, &mut Translated) -> Result<(), Refusal>,
    /// How to ask for nothing but whether it answers and knows us, where there is a way.
    probe: Option<Probe>,
}

static HOSTS: &[HostRow] = &[
    // One row per kind that has no format of its own.
    HostRow {
        kind: ProviderKind::Azure,
        format: |_| &OpenAi,
        opening: None,
        place: place_at_azure,
        probe: Some(Probe {
            path: &["openai", "v1", "models"],
            headers: &[],
        }),
    },
    HostRow {
        kind: ProviderKind::Vertex,
        format: |model| match is_claude(model) {
            true => &Anthropic,
            false => &Google,
        },
        opening: Some(CLAUDE_AT_VERTEX),
        place: place_at_vertex,
        probe: None,
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
    pub(super) fn place(
        &self,
        call: &Call<'_>,
        translated: &mut Translated,
    ) -> Result<(), Refusal> {
        match host(self.kind) {
            Some(row) => (row.place)(self, call, translated),
            None => Ok(()),
        }
    }

    /// The field that opens the body: the model, unless the kind wants another there.
    pub(super) fn opening(&self) -> (&'static str, &'a str) {
        let other = host(self.kind).and_then(|row| row.opening);
        other.unwrap_or(("model", self.model))
    }
}

impl dyn WireFormat + '_ {
    /// Translates a clean request for the model of a provider. `hash_user` is a keyed hash: who the caller's end user
    /// is never leaves as it is in translation.
    pub fn write_request(
        &self,
        clean: &CleanRequest,
        site: &Site<'_>,
        hash_user: &dyn Fn(&str) -> String,
    ) -> Result<ProviderRequest, Refusal> {
        let (model, request) = (site.model, clean.request());
        let call = Call {
            form: request.form(),
            document: request.document(),
            original: clean.original_document(),
            model,
            opening: site.opening(),
            stream: request.is_stream(),
            hash_user,
            aside: request.aside(),
            is_strict: !clean.mode().forwards_unscanned(),
        };
        let mut translated = self.translate(&call)?;
        site.place(&call, &mut translated)?;
        let has_model_in_path = translated.path.iter().any(|step| step.contains(model));
        let is_as_scanned = translated.is_as_scanned;
        Ok(ProviderRequest {
            form: call.form,
            needs_rescan: !is_as_scanned && call.is_strict,
            has_phi_in_path: has_model_in_path && clean.report().has_phi_in_model(),
            translated,
        })
    }
}

/// The format in which a kind of provider is asked for a model. None where it cannot be spoken to.
pub fn format_of_kind(kind: ProviderKind, model: &str) -> Option<&'static dyn WireFormat> {
    match host(kind) {
        Some(host) => Some((host.format)(model)),
        None => format_of_family(kind),
    }
}

/// How to ask a kind of provider for nothing but whether it answers and knows us. None where only a model can be asked.
pub fn probe_of_kind(kind: ProviderKind) -> Option<Probe> {
    match host(kind) {
        Some(host) => host.probe,
        None => format_of_family(kind)?.probe(),
    }
}

fn host(kind: ProviderKind) -> Option<&'static HostRow> {
    HOSTS.iter().find(|row| row.kind == kind)
}

/// With version `v1` the deployment is the model and the path OpenAI's own below `/openai`; dated versions have the
/// deployment in the path.
fn place_at_azure(
    site: &Site<'_>,
    _: &Call<'_>,
    translated: &mut Translated,
) -> Result<(), Refusal> {
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

/// Each maker's models stand below its name. Gemini is asked as at Google's own API; Claude's API is wrapped in two
/// methods of Vertex's.
fn place_at_vertex(
    site: &Site<'_>,
    call: &Call<'_>,
    translated: &mut Translated,
) -> Result<(), Refusal> {
    let (Some(project), Some(region)) = (site.project, site.region) else {
        return Err(Refusal::value(
            "model",
            "its provider lacks a project or a region",
        ));
    };
    let own = translated.path.pop().unwrap_or_default();
    let (publisher, method) = match (is_claude(site.model), call.stream) {
        (false, _) => ("google", own),
        (true, _) if own == "count_tokens" => ("anthropic", "count-tokens:rawPredict".to_owned()),
        (true, false) => ("anthropic", format!("{}:rawPredict", site.model)),
        (true, true) => ("anthropic", format!("{}:streamRawPredict", site.model)),
    };
    let place = [
        "v1",
        "projects",
        project,
        "locations",
        region,
        "publishers",
        publisher,
        "models",
        &method,
    ];
    translated.path = place.map(str::to_owned).to_vec();
    translated.headers = JSON;
    // The version stands in the body there, and queries that Vertex does not know are errors to it.
    translated
        .given
        .retain(|(name, _)| *name != "anthropic-version");
    if is_claude(site.model) {
        translated.query = None;
    }
    Ok(())
}

/// Whether a model of Vertex's is Anthropic's.
fn is_claude(model: &str) -> bool {
    model.starts_with("claude-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_can_be_spoken_to() {
        for kind in ProviderKind::all() {
            for model in ["gpt-4o", "claude-opus-4-5", "gemini-2.5-flash"] {
                assert!(format_of_kind(kind, model).is_some(), "{kind}");
            }
            let is_host = host(kind).is_some();
            assert_ne!(is_host, format_of_family(kind).is_some(), "{kind}");
        }
    }
}
