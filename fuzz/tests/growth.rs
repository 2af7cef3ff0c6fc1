//! Periodic texts, with memory counted: what a scan takes grows no faster than the text.
//!
//! The ordinary test tries a few hundred patterns. `cargo test -p phigate-fuzz --test growth -- --ignored --nocapture` tries
//! `PHIGATE_GROWTH_PATTERNS` (20,000) of `PHIGATE_GROWTH_SEED` (1) at `PHIGATE_GROWTH_KIB` (64) and twice that, with
//! `PHIGATE_GROWTH_DEPTH` (`fast` or `careful`), for `PHIGATE_GROWTH_MINUTES` at most, and prints the steepest of them.

#![cfg(debug_assertions)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::Mutex;
use std::time::{Duration, Instant};

use phi_detect::{Depth, Detector};
use phigate_fuzz::growth::{Growth, Pattern, Patterns, judge};
use phigate_fuzz::meter::Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Patterns to try, and the time for it.
struct Trial {
    seed: u64,
    patterns: usize,
    length: usize,
    depth: Depth,
    time: Duration,
}

/// Measurements, and the patterns with a fault.
#[derive(Default)]
struct Report {
    measured: Vec<(Pattern, Growth)>,
    broken: Vec<(Pattern, String)>,
}

impl Trial {
    fn run(&self) -> Report {
        let patterns = Patterns::new(self.seed).take(self.patterns);
        let (waiting, report) = (Mutex::new(patterns), Mutex::new(Report::default()));
        let started = Instant::now();
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let detector = Detector::default().with_depth(self.depth);
                    // Values that are made once do not count as cost of a text.
                    detector.scan("Patient Jane Roe, MRN 00482913, wrote {\"ssn\": 536228741}.");
                    while started.elapsed() < self.time {
                        // The lock is let go before the work begins.
                        let Some(pattern) = waiting.lock().unwrap().next() else {
                            return;
                        };
                        let (growth, fault) = judge(&detector, &pattern, self.length);
                        let mut report = report.lock().unwrap();
                        report
                            .broken
                            .extend(fault.map(|fault| (pattern.clone(), fault)));
                        report.measured.push((pattern, growth));
                    }
                });
            }
        });
        report.into_inner().unwrap()
    }
}

impl Report {
    /// Prints the patterns for which this is most.
    fn print(&mut self, what: &str, of: impl Fn(&Growth) -> f64) {
        const SHOWN: usize = 12;
        let measured = &mut self.measured;
        measured.sort_by(|(_, one), (_, other)| of(other).total_cmp(&of(one)));
        println!("{what}:");
        for (pattern, growth) in measured.iter().take(SHOWN) {
            println!(
                "{:10.2}  {:?} {:?}",
                of(growth),
                pattern.unit,
                pattern.field
            );
        }
    }

    fn assert_whole(&self) {
        for (pattern, fault) in &self.broken {
            println!("{pattern:?}: {fault}");
        }
        assert!(
            self.broken.is_empty(),
            "{} patterns broke",
            self.broken.len()
        );
    }
}

fn setting<T: std::str::FromStr>(name: &str, default: T) -> T {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn scans_of_periodic_texts_grow_linearly() {
    let trial = Trial {
        seed: setting("PHIGATE_FUZZ_SEED", 7_919),
        patterns: 200,
        length: 6 << 10,
        depth: Depth::Fast,
        time: Duration::from_secs(600),
    };
    trial.run().assert_whole();
}

/// Units of texts that once took more than their share.
const ONCE_STEEP: &[&str] = &[
    "K. ",
    "J. K. ",
    "J.\n",
    "COPY t (ssn) FROM stdin;\n",
    "INSERT INTO t (a, INTO t (b, ",
    "uoted- =\n",
    "spelled R-O-E-S ",
    "the tool called Zork, and Zork Patel. ",
    "Roe-Poe-",
    "ID:536-22-8741;",
    "John , web , {\"ssn\":\na@b.co, 03/14/1962, ",
];

#[test]
fn texts_that_once_grew_steeply_grow_linearly() {
    let detector = Detector::default().with_depth(Depth::Fast);
    detector.scan("Patient Jane Roe, MRN 00482913.");
    for unit in ONCE_STEEP {
        let unit = (*unit).to_owned();
        let (_, fault) = judge(&detector, &Pattern { unit, field: None }, 16 << 10);
        assert!(fault.is_none(), "{fault:?}");
    }
}

#[test]
#[ignore = "takes an hour"]
fn scans_of_many_periodic_texts_grow_linearly() {
    let trial = Trial {
        seed: setting("PHIGATE_GROWTH_SEED", 1),
        patterns: setting("PHIGATE_GROWTH_PATTERNS", 20_000),
        length: setting("PHIGATE_GROWTH_KIB", 64) << 10,
        depth: match setting("PHIGATE_GROWTH_DEPTH", String::new()).as_str() {
            "careful" => Depth::Careful,
            _ => Depth::Fast,
        },
        time: Duration::from_secs(60 * setting("PHIGATE_GROWTH_MINUTES", 600)),
    };
    let mut report = trial.run();
    println!("{} patterns measured", report.measured.len());
    report.print("exponent of memory", |growth| growth.slopes().0);
    report.print("exponent of time", |growth| growth.slopes().1);
    let last = |growth: &Growth| growth.costs.last().copied().unwrap_or_default();
    report.print("bytes of memory per byte of text", |growth| {
        last(growth).1.bytes as f64 / last(growth).0 as f64
    });
    report.print("microseconds per byte", |growth| {
        last(growth).1.time.as_secs_f64() * 1e6 / last(growth).0 as f64
    });
    report.assert_whole();
}
