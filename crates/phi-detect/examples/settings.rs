//! A detector with its own settings: a site's record numbers, provider numbers switched on, phone numbers left
//! alone unless they are certain.

#![allow(clippy::disallowed_types, reason = "not part of a scan")]

use phi_detect::{Detector, PhiKind, Settings, SettingsError};

fn main() -> Result<(), SettingsError> {
    let kind = |code| PhiKind::from_code(code).expect("a code of the table");
    let detector = Detector::new(Settings {
        thresholds: vec![(kind("npi"), 0.5), (kind("phone"), 1.0)],
        mrn_formats: vec!["KH-999999".into()],
        ..Settings::default()
    })?;
    let text = "Chart KH-204811, referred by NPI 1234567893, call (212) 555-0142.";
    for finding in &detector.scan(text) {
        let (code, score, rule) = (finding.kind.code(), finding.score, finding.rule);
        println!("{code} {:?} {score:.2} {rule}", &text[finding.span.clone()]);
    }
    Ok(())
}
