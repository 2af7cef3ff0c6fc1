//! Recognizers as people write them, and their trial.

use std::time::{Duration, Instant};

use phi_detect::{Depth, Detector, FindsExtra};
use phigate_core::recognizer::{Definition, PROOF_SHARE, Recognizer, Recognizers, proof_texts};
use phigate_store::{SecretString, StoredRecognizer};

use serde_json::{Map, Value};

use super::SettingError;

/// Runs of which the fastest counts, because other work on the machine only slows runs.
const RUNS: usize = 3;

/// Reads a definition, tries its examples and its speed, and returns it as it is stored. The error names the field, and
/// never repeats what it says.
pub fn read_recognizer(
    fields: &Map<String, Value>,
) -> Result<(Recognizer, StoredRecognizer), SettingError> {
    let wrong = |error: phigate_core::recognizer::WrongDefinition| SettingError(error.to_string());
    let recognizer = Definition::read(fields).and_then(Recognizer::new);
    let recognizer = recognizer.map_err(wrong)?;
    if slows(&recognizer) {
        let message = "pattern is too slow: it slows a text of 64 KB by more than a fifth";
        return Err(SettingError(message.to_owned()));
    }
    let definition = recognizer.definition();
    let stored = StoredRecognizer {
        code: definition.kind.code().into(),
        definition: SecretString::new(definition.fields().to_string()),
    };
    Ok((recognizer, stored))
}

/// Whether a recognizer slows one of its trial texts by more than its share of the time of a fast scan, each time that
/// it is tried: other work on the machine may slow one trial.
fn slows(recognizer: &Recognizer) -> bool {
    let detector = Detector::default().with_depth(Depth::Fast);
    let recognizers = Recognizers::new(vec![recognizer.clone()]);
    proof_texts(recognizer).iter().any(|text| {
        (0..TRIALS).all(|_| {
            let own = fastest(|| recognizers.find(None, text, &|| true, &mut |_| {}));
            own > AT_ONCE && is_too_slow(own, fastest(|| drop(detector.scan(text))))
        })
    })
}

/// Trials of a text.
const TRIALS: usize = 3;

/// Time of a recognizer for a text of 64 KB that needs no comparison.
const AT_ONCE: Duration = Duration::from_millis(1);

fn is_too_slow(own: Duration, scan: Duration) -> bool {
    own > scan.mul_f64(PROOF_SHARE)
}

fn fastest(mut work: impl FnMut()) -> Duration {
    let run = |_| {
        let started = Instant::now();
        work();
        started.elapsed()
    };
    (0..RUNS).map(run).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn definition_is_tried_before_it_is_stored() {
        let fields = |pattern: &str| {
            let fields = json!({
                "code": "x_study",
                "pattern": pattern,
                "found": ["ZKP-4471"],
                "not_found": ["ZKP"],
            });
            fields.as_object().cloned().unwrap()
        };
        let (recognizer, stored) = read_recognizer(&fields(r"ZKP-\d{4}")).unwrap();
        assert!(recognizer.finds_in("sample ZKP-4471"));
        assert_eq!(stored.code, "x_study");
        let error = read_recognizer(&fields("ZKP-(")).unwrap_err().to_string();
        assert!(
            error.contains("pattern") && !error.contains("ZKP"),
            "{error}"
        );
    }

    #[test]
    fn fifth_of_a_scan_is_allowed() {
        let ms = Duration::from_millis;
        assert!(!is_too_slow(ms(19), ms(100)) && is_too_slow(ms(21), ms(100)));
    }
}
