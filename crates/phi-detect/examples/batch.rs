//! Scans files on all processors and prints how many findings of each kind they hold: `cargo run --example batch FILE…`.
//!
//! A detector has no state, so that threads share one by reference.

#![allow(clippy::disallowed_types, reason = "not part of a scan")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use phi_detect::{Detector, PhiKind};

type Counts = BTreeMap<PhiKind, usize>;

fn main() -> std::io::Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let texts: Vec<String> = files
        .iter()
        .map(std::fs::read_to_string)
        .collect::<Result<_, _>>()?;
    let counts = count_all(&Detector::default(), &texts);
    for (file, counts) in files.iter().zip(counts) {
        let words: Vec<String> = counts
            .iter()
            .map(|(kind, count)| format!("{count} {}", kind.code()))
            .collect();
        println!("{file}: {}", words.join(", "));
    }
    Ok(())
}

/// Counts the findings of all texts. Texts differ in length, so each worker takes the next one when it is done.
fn count_all(detector: &Detector, texts: &[String]) -> Vec<Counts> {
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(index) else {
                return done;
            };
            done.push((index, count(detector, text)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let counted: BTreeMap<usize, Counts> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(share)).collect();
        let shares = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        shares
            .flat_map(|share| share.expect("a scan does not panic"))
            .collect()
    });
    counted.into_values().collect()
}

fn count(detector: &Detector, text: &str) -> Counts {
    let mut counts = Counts::new();
    for finding in &detector.scan(text) {
        *counts.entry(finding.kind).or_default() += 1;
    }
    counts
}
