//! Speed of a scan; and a check that its time is linear in the text, also on hostile text.
//!
//! Run with `cargo bench -p phi-detect`. Prints, in this order:
//! - megabytes per second for several kinds of text: by the rules alone, with the name model on
//!   this processor, on older ones (AVX2 or NEON alone), on any processor of this kind, and in plain Rust;
//! - the time for a prompt of 4 KB, and the memory of the detector;
//! - the time per byte, rules and model, at 1 MiB and 8 MiB for texts made to be slow, and the memory that a scan of
//!   the longer text takes per byte of it; the ratio of the two times is 1 if time is linear. Exits with an error if a
//!   ratio exceeds 2, or the memory exceeds [`BYTES_MAX`].

#![allow(
    clippy::disallowed_types,
    reason = "what tests hold is not part of a scan"
)]

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use phi_detect::{Detector, Settings};

const MIB: usize = 1 << 20;

/// Maximum memory of a scan, per byte of the text. If every few bytes are a finding, the findings are most of it.
const BYTES_MAX: f64 = 64.0;

/// Invented notes in the manner of the trade.
const PROSE: &str = "The patient is a 64-year-old woman with a history of hypertension, type 2 diabetes and atrial \
fibrillation who presents with three days of progressive dyspnea on exertion and lower extremity edema. She denies \
chest pain, fever or cough. Home medications include metoprolol 50 mg twice daily, apixaban 5 mg twice daily and \
metformin 1000 mg. On examination blood pressure is 148/92, heart rate 96, oxygen saturation 93% on room air. Lungs \
have bibasilar crackles. Chest radiograph shows pulmonary vascular congestion. BNP 1240, creatinine 1.3, potassium \
4.1. Assessment: acute on chronic heart failure with preserved ejection fraction. Plan: furosemide 40 mg IV, daily \
weights, strict intake and output, echocardiogram in the morning. Follow up with cardiology within one week.\n\n";

const IDENTIFIED: &str = "Patient: Jane Roe  DOB: 03/14/1962  MRN: 00482913\nAddress: 1428 Larchmont Avenue, Spokane, WA 99205\n\
Phone: 206-555-0142  Email: jane.roe@example.org  SSN: 536-22-8741  Medicare: 1EG4-TE5-MK73\n\
Dr. Newman saw Ms. Roe today; her husband Mark Roe can be reached at (206) 555-0199 after 5 pm.\n";

const HL7: &str = "PID|1||00482913^^^MR||ROE^JANE^Q||19620314|F|||1428 LARCHMONT AVE^^SPOKANE^WA^99205||2065550142|||||||536228741\n\
OBX|1|NM|2345-7^GLUCOSE^LN||182|mg/dL|70-105|H|||F|||202502031102\n";

const JSON: &str = r#"{"resourceType":"Patient","id":"a1","name":[{"family":"Roe","given":["Jane"]}],"birthDate":"1962-03-14","telecom":[{"system":"phone","value":"206-555-0142"}],"active":true},"#;

/// Texts with parts that resemble the start of a value.
static HOSTILE: &[(&str, &str)] = &[
    // Name, and the part that is repeated.
    ("digits", "5"),
    ("digit groups", "536-22-"),
    ("spaced digits", "5 "),
    ("at signs", "a@"),
    ("dots", "a.b."),
    ("labels", "SSN "),
    ("titles", "Dr. "),
    ("capitals", "Maria "),
    ("house numbers", "12 Oak "),
    ("brackets", "[({"),
    ("quotes", "{\"a\":\""),
    ("bars", "PID|"),
    ("tags", "<a b=\""),
    ("commas", "name,ssn\n"),
    ("inserts", "insert into t ("),
    ("base64", "QUJD"),
    ("hex pairs", "35 "),
    ("zero width", "\u{200b}"),
    ("tag blanks", "\u{e0020}"),
    ("combining", "5\u{301}"),
    ("overrides", "\u{202e}1"),
    ("entities", "&#53;"),
    ("percent", "%35"),
    ("backslashes", "\\u0035"),
    ("accents", "é"),
    ("spoken", "five "),
    ("months", "May "),
    ("one word", "a"),
    ("nicknames", "<Maria> said "),
    ("people", "Maria Delgado, 482913 "),
    ("answers", "Birthday?\nCaller: "),
    ("questions", "SSN? DOB? "),
    ("misread", "DOB O9/l2/l948 "),
    ("columns", "MRN  DOB\n1  2\n"),
];

/// Texts as people send them: what, and the part that is repeated.
static USUAL: &[(&str, &str)] = &[
    ("clinical prose", PROSE),
    ("identified", IDENTIFIED),
    (
        "prose, accents",
        "Evaluación clínica normal. The patient rests comfortably after the procedure. ",
    ),
    ("HL7", HL7),
    ("JSON", JSON),
];

fn main() {
    let before = memory_kib("VmRSS:");
    let whole = Detector::new(Settings::default()).expect("the default settings are fine");
    whole.scan(IDENTIFIED);
    let after = memory_kib("VmRSS:");
    let detector = whole.clone().without_names();
    let all = [
        &detector,
        &whole,
        &whole.clone().on_older_processor(),
        &whole.clone().on_common_processor(),
        &whole.clone().in_plain_rust(),
    ];
    println!("megabytes a second of one core, texts of 1 MiB");
    println!(
        "{:<16} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "rules", "and model", "older", "any", "plain"
    );
    for (name, part) in USUAL {
        let text = part.repeat(MIB / part.len());
        print!("{name:<16}");
        for detector in all {
            let time = best_time_of(|| detector.scan(&text));
            print!(" {:>9.1}", text.len() as f64 / time.as_secs_f64() / 1e6);
        }
        println!();
    }
    print!("{:<16}", "4 KB prompt, µs");
    let prompt = &PROSE.repeat(8)[..4096];
    for detector in all {
        let time = best_time_of(|| detector.scan(prompt));
        print!(" {:>9.1}", time.as_secs_f64() * 1e6);
    }
    println!();
    let peak = memory_kib("VmHWM:");
    println!(
        "memory: {:.1} MB more once the detector is loaded, {:.1} MB at most while scanning, texts included",
        after.saturating_sub(before) as f64 / 1024.0,
        peak.saturating_sub(before) as f64 / 1024.0,
    );
    let is_modest = measure_slopes(&whole);
    if !is_modest {
        eprintln!("some text takes more than linear time, or too much memory");
        std::process::exit(1);
    }
}

/// Prints how time and memory for hostile texts grow; whether they grow in step with them.
fn measure_slopes(detector: &Detector) -> bool {
    println!(
        "\n{:<16} {:>9} {:>9} {:>6} {:>9}",
        "hostile text", "ns/B 1M", "ns/B 8M", "ratio", "bytes/B"
    );
    let mut is_modest = true;
    for (name, part) in HOSTILE {
        let small = per_byte(detector, part, MIB);
        let large = per_byte(detector, part, 8 * MIB);
        // A few nanoseconds of noise must not look like a slope.
        let ratio = (large + 1.0) / (small + 1.0);
        let bytes = bytes_per_byte(detector, part, 8 * MIB);
        is_modest &= ratio < 2.0 && bytes < BYTES_MAX;
        println!("{name:<16} {small:>9.1} {large:>9.1} {ratio:>6.2} {bytes:>9.1}");
    }
    is_modest
}

/// Returns the maximum memory of a scan, per byte of the text; 0 if the system does not report it.
fn bytes_per_byte(detector: &Detector, part: &str, bytes: usize) -> f64 {
    let text = part.repeat(bytes / part.len());
    // From here on the system reports the maximum since now.
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return 0.0;
    }
    let before = memory_kib("VmRSS:");
    black_box(detector.scan(&text));
    let taken = memory_kib("VmHWM:").saturating_sub(before);
    taken as f64 * 1024.0 / text.len() as f64
}

fn per_byte(detector: &Detector, part: &str, bytes: usize) -> f64 {
    let text = part.repeat(bytes / part.len());
    let time = time_of(|| detector.scan(&text));
    time.as_nanos() as f64 / text.len() as f64
}

/// Returns the processor time of this thread, so that a busy machine does not spoil the figures; the time of day if
/// the system does not report it.
fn cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Returns a line of the system's report on this process's memory; 0 if the system has no such report.
fn memory_kib(line: &str) -> usize {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = told.lines().find_map(|told| told.strip_prefix(line));
    let digits = value.and_then(|value| value.split_whitespace().next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Returns the least of three times: other work on the machine only adds time.
fn best_time_of<T>(mut work: impl FnMut() -> T) -> Duration {
    let times = [(); 3].map(|()| time_of(&mut work));
    times.into_iter().min().unwrap_or_default()
}

/// The time one piece of work takes, over as many as fill a tenth of a second: the system counts in ticks.
fn time_of<T>(mut work: impl FnMut() -> T) -> Duration {
    let start = cpu_time();
    let mut count = 0;
    loop {
        black_box(work());
        count += 1;
        let spent = cpu_time() - start;
        if spent > Duration::from_millis(100) {
            return spent / count;
        }
    }
}
