//! How fast a scan is, and that its time grows in step with the text, also on hostile text.
//!
//! Run with `cargo bench -p phi-detect`. Prints megabytes a second for several kinds of
//! text, by the rules alone and with the name model, then the rules' time per byte at 1 MiB and 8 MiB for texts made to be slow; the ratio
//! of the two is 1 where time is linear. Exits with an error when a ratio passes 2.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use phi_detect::{Detector, Settings};

const MIB: usize = 1 << 20;

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

/// Texts whose parts look like the start of something.
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
];

fn main() {
    let whole = Detector::new(Settings::default()).expect("the default settings are fine");
    let detector = whole.clone().without_names();
    whole.scan(IDENTIFIED);
    println!("{:<16} {:>9} {:>9}", "text, 1 MiB", "rules", "and model");
    println!("{:<16} {:>9} {:>9}", "", "MB/s", "MB/s");
    for (name, part) in [
        ("clinical prose", PROSE),
        ("identified", IDENTIFIED),
        (
            "prose, accents",
            "Evaluación clínica normal. The patient rests comfortably after the procedure. ",
        ),
        ("HL7", HL7),
        ("JSON", JSON),
    ] {
        let text = part.repeat(MIB / part.len());
        let speed = |time: Duration| text.len() as f64 / time.as_secs_f64() / 1e6;
        let rules = speed(time_of(|| detector.scan(&text)));
        let both = speed(time_of(|| whole.scan(&text)));
        println!("{name:<16} {rules:>9.1} {both:>9.1}");
    }
    println!(
        "\n{:<16} {:>9} {:>9} {:>6}",
        "hostile text", "ns/B 1M", "ns/B 8M", "ratio"
    );
    let mut is_linear = true;
    for (name, part) in HOSTILE {
        let small = per_byte(&detector, part, MIB);
        let large = per_byte(&detector, part, 8 * MIB);
        // A few nanoseconds of noise must not look like a slope.
        let ratio = (large + 1.0) / (small + 1.0);
        is_linear &= ratio < 2.0;
        println!("{name:<16} {small:>9.1} {large:>9.1} {ratio:>6.2}");
    }
    if !is_linear {
        eprintln!("some text takes more than linear time");
        std::process::exit(1);
    }
}

fn per_byte(detector: &Detector, part: &str, bytes: usize) -> f64 {
    let text = part.repeat(bytes / part.len());
    let time = time_of(|| detector.scan(&text));
    time.as_nanos() as f64 / text.len() as f64
}

/// Time this thread has had a processor, so that a busy machine does not spoil the figures;
/// the time of day where the system does not tell.
fn cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
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
