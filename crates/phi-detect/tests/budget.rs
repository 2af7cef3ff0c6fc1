//! A scan asks its caller for more time every few KiB, ends early if it gets none, and says so.

use std::cell::Cell;

use phi_detect::{Depth, Detector, Findings};

/// Texts of 256 KiB that keep different parts of the detector busy.
fn long_texts() -> impl Iterator<Item = String> {
    let patterns = [
        "1 ",
        "a@b.co ",
        "536-22-8741 ",
        "Maria Delgado ",
        "the cough is worse at night ",
        "DOB 03/14/1962 ",
        "a,b,c\n",
        "QUJD ",
        "{\"note\": \"seen\", \"values\": [1, 2.5]}, ",
        "<p>Seen at 10:20</p>\n",
        "PID|1||482913^^^H^MR\n",
        "08:15:02 worker[17] took 31 ms (path=/v1/x%20y)\n",
        "Über die Straße: 5‑7 ",
    ];
    patterns
        .into_iter()
        .map(|pattern| pattern.repeat((256 << 10) / pattern.len()))
}

#[test]
fn a_long_scan_asks_often() {
    for text in long_texts() {
        let asked = Cell::new(0);
        let has_time = || {
            asked.set(asked.get() + 1);
            true
        };
        let findings = Detector::default().scan_while(None, &text, &has_time);
        assert!(findings.is_complete());
        let start: String = text.chars().take(12).collect();
        // The text is read from end to end a dozen times, if it says nothing.
        assert!(asked.get() >= 100, "{start:?} asked {} times", asked.get());
    }
}

#[test]
fn scan_without_time_ends_incomplete() {
    for text in long_texts() {
        for looks in [0, 1, 5, 20, 50, 90] {
            let findings = scan_for(looks, &text);
            let start = text.chars().take(12);
            assert!(
                !findings.is_complete(),
                "{:?} {looks}",
                start.collect::<String>()
            );
        }
    }
}

/// Scans a text until the budget was looked at so often.
fn scan_for(looks: usize, text: &str) -> Findings {
    let left = Cell::new(looks);
    let has_time = || {
        let had = left.get();
        left.set(had.saturating_sub(1));
        had > 0
    };
    Detector::default().scan_while(None, text, &has_time)
}

#[test]
fn findings_before_timeout_are_kept() {
    let text = format!("SSN 536-22-8741. {}", "1 ".repeat(100_000));
    let last = (0..).find(|looks| scan_for(100 * looks, &text).is_complete());
    let findings = scan_for(100 * (last.unwrap() - 1), &text);
    assert!(!findings.is_complete());
    assert_eq!(
        findings.iter().next().map(|one| one.span.clone()),
        Some(4..15)
    );
}

#[test]
fn short_texts_are_complete_in_any_field() {
    let findings = Detector::default().scan_while(Some("ssn"), "536228741", &|| true);
    assert!(findings.is_complete());
    assert_eq!(findings.len(), 1);
}

/// Joins lines up to this number of bytes.
fn lines(bytes: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    (0..)
        .take_while(|&number| {
            text.push_str(&line(number));
            text.len() < bytes
        })
        .for_each(drop);
    text
}

#[test]
fn a_large_table_is_scanned_completely() {
    let head = "id,last_name,first_name,dob,mrn,ssn,phone\n".to_owned();
    let table = head
        + &lines(1 << 20, |number| {
            let (day, four) = (1 + number % 28, 1000 + number % 9000);
            let mrn = 400_000 + number;
            format!("{number},Roe,Jane,03/{day:02}/1962,{mrn},536-22-{four},206-555-{four}\n")
        });
    let detector = Detector::default().with_depth(Depth::Fast);
    let findings = detector.scan(&table);
    assert!(findings.is_complete());
    assert!(findings.len() > 50_000, "{}", findings.len());
}

#[test]
fn a_large_log_is_scanned_completely() {
    let log = lines(8 << 20, |number| {
        let (minute, second) = (number / 60 % 60, number % 60);
        format!(
            "2025-02-03T10:{minute:02}:{second:02}.120Z INFO worker[{}] status=200 took={}ms path=/v1/items/{number} closed\n",
            number % 64,
            number % 900
        )
    });
    let detector = Detector::default().with_depth(Depth::Fast);
    assert!(detector.scan(&log).is_complete());
}
