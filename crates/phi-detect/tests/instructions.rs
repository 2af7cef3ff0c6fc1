//! Cost of a scan, counted in instructions and not in time, so that a busy machine does not matter.
//!
//! The test runs itself under Valgrind, once with one scan and once with several; the difference is the cost of a
//! scan. Without Valgrind it counts nothing. The figures are of the profile that tests are built with and of AVX2,
//! the widest registers that Valgrind knows: they show growth, not the cost for users.

#![allow(
    clippy::disallowed_types,
    reason = "what tests hold is not part of a scan"
)]

use std::process::Command;

use phi_detect::{Depth, Detector};

const PROSE: &str = "The patient is a 64-year-old woman with a history of hypertension, type 2 diabetes and atrial \
fibrillation who presents with three days of progressive dyspnea on exertion and lower extremity edema. She denies \
chest pain, fever or cough. Home medications include metoprolol 50 mg twice daily, apixaban 5 mg twice daily and \
metformin 1000 mg. Lungs have bibasilar crackles. Plan: furosemide 40 mg, daily weights, echocardiogram.\n";

const IDENTIFIED: &str = "Patient: Jane Roe  DOB: 03/14/1962  MRN: 00482913\nAddress: 1428 Larchmont Avenue, Spokane, \
WA 99205\nPhone: 206-555-0142  Email: jane.roe@example.org  SSN: 536-22-8741\nDr. Newman saw Ms. Roe today; her \
husband Mark Roe can be reached at (206) 555-0199 after 5 pm.\n";

const HL7: &str = "PID|1||00482913^^^MR||ROE^JANE^Q||19620314|F|||1428 LARCHMONT AVE^^SPOKANE^WA^99205||2065550142\n\
OBX|1|NM|2345-7^GLUCOSE^LN||182|mg/dL|70-105|H|||F|||202502031102\n";

const JSON: &str = r#"{"resourceType":"Patient","id":"a1","name":[{"family":"Roe","given":["Jane"]}],"birthDate":"1962-03-14","telecom":[{"system":"phone","value":"206-555-0142"}],"active":true},"#;

/// Texts, and the most instructions that a byte of each may cost: somewhat more than was counted when this was
/// written, since newly trained weights open the model's gate at other words.
static TEXTS: &[(&str, Depth, u64)] = &[
    // Text, depth, instructions per byte.
    (PROSE, Depth::Fast, 700),
    (PROSE, Depth::Careful, 700),
    (IDENTIFIED, Depth::Fast, 9_500),
    (HL7, Depth::Fast, 2_200),
    (JSON, Depth::Fast, 1_000),
];

const TEXT_BYTES: usize = 4096;
/// Text that the run under Valgrind scans, and number of scans.
const ORDER: &str = "PHI_DETECT_COUNTED";

#[test]
fn scan_stays_within_instruction_limits() {
    if let Ok(order) = std::env::var(ORDER) {
        return scan(&order);
    }
    for (index, (text, depth, most)) in TEXTS.iter().enumerate() {
        let Some((few, many)) = count(index, 1).zip(count(index, 5)) else {
            eprintln!("nothing was counted: there is no Valgrind");
            return;
        };
        let per_byte = (many - few) / 4 / repeated(text).len() as u64;
        eprintln!(
            "{depth:?}: {per_byte} instructions per byte of {:?}",
            &text[..24]
        );
        assert!(
            per_byte <= *most,
            "{per_byte} instructions per byte of {:?}",
            &text[..24]
        );
    }
}

fn repeated(text: &str) -> String {
    text.repeat(TEXT_BYTES / text.len())
}

/// Runs the scans under Valgrind.
fn scan(order: &str) {
    let (index, times) = order.split_once(' ').expect("two numbers");
    let (index, times): (usize, usize) = (
        index.parse().expect("a number"),
        times.parse().expect("a number"),
    );
    let (text, depth, _) = TEXTS[index];
    let detector = Detector::default().with_depth(depth);
    let text = repeated(text);
    for _ in 0..times {
        std::hint::black_box(detector.scan(&text));
    }
}

/// Instructions of a run that scans a text so often; none without Valgrind.
fn count(index: usize, times: usize) -> Option<u64> {
    let this = std::env::current_exe().ok()?;
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .arg("--test-threads=1")
        .env(ORDER, format!("{index} {times}"))
        .output()
        .ok()?;
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    let line = told.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}
