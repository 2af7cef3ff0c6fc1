//! SARIF 2.1.0, the format in which code hosts show findings.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use phi_detect::PhiKind;
use serde_json::{Value, json};

use super::allowed::Allowed;
use super::document::Unreadable;
use super::found::{Hit, Place, name_of};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Characters of a path that stand for themselves in an address.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A file that was not scanned, and the reason.
#[derive(Debug)]
pub(super) struct Skipped {
    pub(super) file: String,
    pub(super) reason: String,
    /// Whether it is neither text nor a document.
    pub(super) is_other: bool,
}

impl Skipped {
    /// A file that cannot be read as text.
    pub(super) fn new(file: &Path, error: &anyhow::Error) -> Self {
        let reason = error.downcast_ref::<Unreadable>();
        Self {
            file: name_of(file),
            reason: reason.map(Unreadable::to_string).unwrap_or_default(),
            is_other: reason.is_some_and(|reason| reason.is_other()),
        }
    }
}

/// The log of one scan.
pub(super) fn log(hits: &[Hit], skipped: &[Skipped]) -> Value {
    let rules: Vec<PhiKind> = PhiKind::all().collect();
    let results: Vec<Value> = hits.iter().map(|hit| result(hit, &rules)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "phigate",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|kind| rule(*kind)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": skipped.iter().map(notification).collect::<Vec<_>>(),
            }],
            "results": results,
        }],
    })
}

/// reportingDescriptor of a kind.
fn rule(kind: PhiKind) -> Value {
    json!({
        "id": kind.code(),
        "shortDescription": { "text": kind.label() },
        "defaultConfiguration": { "level": "error" },
    })
}

/// result of a finding. Its message holds no value.
fn result(hit: &Hit, rules: &[PhiKind]) -> Value {
    let at = rules.iter().position(|kind| kind.code() == hit.kind);
    let label = at
        .and_then(|at| rules.get(at))
        .map_or(hit.kind, |kind| kind.label());
    let text = format!(
        "{label}, {} characters (score {:.2}, {})",
        hit.length, hit.score, hit.rule
    );
    let mut result = json!({
        "ruleId": hit.kind,
        "level": "error",
        "message": { "text": text },
        "locations": [location(hit)],
        "partialFingerprints": { "context/v1": hit.fingerprint.context },
    });
    if let Some(at) = at {
        result["ruleIndex"] = at.into();
    }
    if let Some(allowed) = hit.allowed {
        let kind = match allowed {
            Allowed::Marker => "inSource",
            Allowed::Baseline => "external",
        };
        result["suppressions"] = json!([{ "kind": kind }]);
    }
    result
}

fn location(hit: &Hit) -> Value {
    let artifact = artifact(&hit.fingerprint.file);
    match &hit.place {
        Place::Text { start, end } => json!({
            "physicalLocation": {
                "artifactLocation": artifact,
                "region": {
                    "startLine": start.0,
                    "startColumn": start.1,
                    "endLine": end.0,
                    "endColumn": end.1,
                },
            },
        }),
        Place::Document(path) => {
            let mut location = json!({ "physicalLocation": { "artifactLocation": artifact } });
            if !path.is_empty() {
                location["logicalLocations"] = json!([{ "fullyQualifiedName": path }]);
            }
            location
        }
    }
}

fn artifact(file: &str) -> Value {
    json!({ "uri": utf8_percent_encode(file, PATH).to_string() })
}

/// notification of a file that was not scanned.
fn notification(skipped: &Skipped) -> Value {
    json!({
        "level": "warning",
        "message": { "text": format!("not scanned: {}", skipped.reason) },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact(&skipped.file) } }],
    })
}

#[cfg(test)]
mod tests {
    use super::super::allowed::Fingerprint;
    use super::*;

    /// Objects of the published schema that we write: their properties, and those they must have.
    const SHAPES: &[(&str, &[&str], &[&str])] = &[
        (
            "",
            &[
                "$schema",
                "version",
                "runs",
                "inlineExternalProperties",
                "properties",
            ],
            &["version", "runs"],
        ),
        (
            "runs",
            &[
                "tool",
                "invocations",
                "results",
                "columnKind",
                "artifacts",
                "properties",
            ],
            &["tool"],
        ),
        ("tool", &["driver", "extensions", "properties"], &["driver"]),
        (
            "driver",
            &[
                "name",
                "version",
                "semanticVersion",
                "informationUri",
                "rules",
                "properties",
            ],
            &["name"],
        ),
        (
            "rules",
            &[
                "id",
                "name",
                "shortDescription",
                "fullDescription",
                "help",
                "helpUri",
                "defaultConfiguration",
                "properties",
            ],
            &["id"],
        ),
        (
            "shortDescription",
            &["text", "markdown", "properties"],
            &["text"],
        ),
        (
            "defaultConfiguration",
            &["enabled", "level", "rank", "parameters", "properties"],
            &[],
        ),
        (
            "invocations",
            &[
                "executionSuccessful",
                "toolExecutionNotifications",
                "exitCode",
                "properties",
            ],
            &["executionSuccessful"],
        ),
        (
            "toolExecutionNotifications",
            &["locations", "message", "level", "properties"],
            &["message"],
        ),
        (
            "results",
            &[
                "ruleId",
                "ruleIndex",
                "level",
                "kind",
                "message",
                "locations",
                "partialFingerprints",
                "suppressions",
                "baselineState",
                "properties",
            ],
            &["message"],
        ),
        (
            "message",
            &["text", "markdown", "id", "arguments", "properties"],
            &[],
        ),
        (
            "locations",
            &[
                "id",
                "physicalLocation",
                "logicalLocations",
                "message",
                "annotations",
                "relationships",
                "properties",
            ],
            &[],
        ),
        (
            "physicalLocation",
            &[
                "address",
                "artifactLocation",
                "region",
                "contextRegion",
                "properties",
            ],
            &[],
        ),
        (
            "artifactLocation",
            &["uri", "uriBaseId", "index", "description", "properties"],
            &[],
        ),
        (
            "region",
            &[
                "startLine",
                "startColumn",
                "endLine",
                "endColumn",
                "charOffset",
                "charLength",
                "properties",
            ],
            &[],
        ),
        (
            "logicalLocations",
            &[
                "name",
                "index",
                "fullyQualifiedName",
                "decoratedName",
                "parentIndex",
                "kind",
                "properties",
            ],
            &[],
        ),
        (
            "suppressions",
            &[
                "guid",
                "kind",
                "status",
                "justification",
                "location",
                "properties",
            ],
            &["kind"],
        ),
    ];

    /// Values of the published schema that are words of a list.
    const WORDS: &[(&str, &[&str])] = &[
        ("version", &["2.1.0"]),
        ("level", &["none", "note", "warning", "error"]),
        ("columnKind", &["utf16CodeUnits", "unicodeCodePoints"]),
        ("kind", &["inSource", "external"]),
    ];

    fn check(name: &str, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| check(name, item)),
            Value::Object(_) if name == "partialFingerprints" => {}
            Value::Object(fields) => {
                let (_, may, must) = SHAPES
                    .iter()
                    .find(|(shape, ..)| *shape == name)
                    .unwrap_or_else(|| panic!("no shape of {name}"));
                for key in *must {
                    assert!(fields.contains_key(*key), "{name} has no {key}");
                }
                for (key, value) in fields {
                    assert!(may.contains(&key.as_str()), "{name} has {key}");
                    // The version of the tool is another than that of the format.
                    if !(name == "driver" && key == "version") {
                        check(key, value);
                    }
                }
            }
            Value::String(word) => {
                if let Some((_, words)) = WORDS.iter().find(|(list, _)| *list == name) {
                    assert!(words.contains(&word.as_str()), "{name} is {word}");
                }
                assert!(name != "uri" || !word.contains([' ', '\\', '#']), "{word}");
            }
            Value::Number(number) => {
                let least = u64::from(name != "ruleIndex");
                assert!(number.as_u64().is_some_and(|number| number >= least));
            }
            Value::Bool(_) | Value::Null => {}
        }
    }

    #[test]
    fn log_has_the_published_shape() {
        let hit = |place, allowed| Hit {
            kind: "ssn",
            length: 11,
            score: 0.98,
            rule: "ssn.labelled",
            start: 4,
            end: 15,
            place,
            fingerprint: Fingerprint {
                file: "notes of #3/a b.txt".to_owned(),
                kind: "ssn".to_owned(),
                context: "00".to_owned(),
            },
            allowed,
        };
        let text = Place::Text {
            start: (1, 5),
            end: (1, 16),
        };
        let page = Place::Document("#page=3".to_owned());
        let hits = [
            hit(text.clone(), None),
            hit(text, Some(Allowed::Marker)),
            hit(page, Some(Allowed::Baseline)),
        ];
        let skipped = [Skipped {
            file: "x.bin".to_owned(),
            reason: "damaged".to_owned(),
            is_other: false,
        }];
        let log = log(&hits, &skipped);
        check("", &log);
        let results = &log["runs"][0]["results"];
        let index = results[0]["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(
            log["runs"][0]["tool"]["driver"]["rules"][index]["id"],
            "ssn"
        );
        assert_eq!(results[1]["suppressions"][0]["kind"], "inSource");
    }
}
