//! Wire format and paths of each kind of provider.
//!
//! A format knows the path of its vendor's API. Clouds serve the same formats under other paths: a row here moves a
//! translated request there.

use phigate_types::ProviderKind;

use super::anthropic::Anthropic;
use super::google::Google;
use super::openai::OpenAi;
use super::{
    Call, Header, Probe, ProviderRequest, Refusal, Translated, WireFormat, format_of_family,
};
use crate::protect::CleanRequest;

/// The version of Azure's API that uses OpenAI's paths.
const AZURE_V1: &str = "v1";

/// The version of Anthropic's API at Vertex, sent in the body.
const CLAUDE_AT_VERTEX: (&str, &str) = ("anthropic_version", "vertex-2023-10-16");

const JSON: &[Header] = &[("content-type", "application/json")];

/// A kind of provider that serves a format of another vendor.
struct HostRow {
    kind: ProviderKind,
    /// The format in which a model is asked for.
    format: fn(model: &str) -> &'static dyn WireFormat,
    /// The field that opens the body in place of the model's name, if the path names the model.
    opening: Option<(&'static str, &'static str)>,
    /// Moves a translated request to the paths and fields that the kind requires.
    place: fn(&Site<'_>, &Call<'_>, &mut Translated) -> Result<(), Refusal>,
    /// A request that checks the connection and the key without asking a model, if the kind has one.
    probe: Option<Probe>,
}

static HOSTS: &[HostRow] = &[
    // One row per kind without a format.
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

/// The provider settings that decide how a request is written.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// The kind of provider.
    pub kind: ProviderKind,
    /// The provider's name of the model.
    pub model: &'a str,
    /// The version of the provider's API.
    pub api_version: Option<&'a str>,
    /// The project that is billed.
    pub project: Option<&'a str>,
    /// The region that runs the models.
    pub region: Option<&'a str>,
}

impl<'a> Site<'a> {
    /// A model at a provider of this kind, without version, project or region.
    pub fn new(kind: ProviderKind, model: &'a str) -> Self {
        Self {
            kind,
            model,
            api_version: None,
            project: None,
            region: None,
        }
    }

    /// Moves a translated request to the paths and fields that the provider's kind requires.
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

    /// The field that opens the body: the model, unless the kind has another opening field.
    pub(super) fn opening(&self) -> (&'static str, &'a str) {
        let other = host(self.kind).and_then(|row| row.opening);
        other.unwrap_or(("model", self.model))
    }
}

impl dyn WireFormat + '_ {
    /// Translates a clean request for the model of a provider. `hash_user` is a keyed hash: the caller's end user is
    /// never sent in the clear in translation.
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
            is_strict: !clean.policy().forwards_unscanned(),
        };
        let mut translated = self.translate(&call)?;
        site.place(&call, &mut translated)?;
        let has_model_in_path = translated.path.iter().any(|step| step.contains(model));
        let is_as_scanned = translated.is_as_scanned;
        Ok(ProviderRequest {
            form: call.form,
            kept: clean.kept().clone(),
            needs_rescan: !is_as_scanned && call.is_strict,
            has_phi_in_path: has_model_in_path && clean.report().has_phi_in_model(),
            translated,
        })
    }
}

/// The format for a model at a kind of provider. `None` if the kind is not supported.
pub fn format_of_kind(kind: ProviderKind, model: &str) -> Option<&'static dyn WireFormat> {
    match host(kind) {
        Some(host) => Some((host.format)(model)),
        None => format_of_family(kind),
    }
}

/// The request that checks a kind of provider without asking a model. `None` if the kind has no such request.
pub fn probe_of_kind(kind: ProviderKind) -> Option<Probe> {
    match host(kind) {
        Some(host) => host.probe,
        None => format_of_family(kind)?.probe(),
    }
}

fn host(kind: ProviderKind) -> Option<&'static HostRow> {
    HOSTS.iter().find(|row| row.kind == kind)
}

/// Version `v1` uses OpenAI's path below `/openai`, with the deployment as the model; dated versions name the
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

/// Places a request at Vertex, below the name of the model's maker. Gemini uses the same path as Google's API; Claude's
/// API has two Vertex methods.
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
    // Vertex reads the version from the body, and refuses queries that it does not know.
    translated
        .given
        .retain(|(name, _)| *name != "anthropic-version");
    if is_claude(site.model) {
        translated.query = None;
    }
    Ok(())
}

/// Whether a model at Vertex is Anthropic's.
fn is_claude(model: &str) -> bool {
    model.starts_with("claude-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_format() {
        for kind in ProviderKind::all() {
            for model in ["gpt-4o", "claude-opus-4-5", "gemini-2.5-flash"] {
                assert!(format_of_kind(kind, model).is_some(), "{kind}");
            }
            let is_host = host(kind).is_some();
            assert_ne!(is_host, format_of_family(kind).is_some(), "{kind}");
        }
    }
}
