//! Random inputs for every target for a short time, without a fuzzer: kept inputs and mutations of them.
//!
//! `PHIGATE_FUZZ_SECONDS` is the time for each target, `PHIGATE_FUZZ_SEED` gives other inputs.

#![cfg(debug_assertions)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use phigate_fuzz::{Mutator, TARGETS, Target, kept, quoted};

fn setting(name: &str, default: f64) -> f64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs a target for a time; returns the number of runs, and the input that broke it.
fn try_for_a_while(target: &Target, time: Duration, seed: u64) -> (u64, Option<Vec<u8>>) {
    let mut inputs: Vec<Vec<u8>> = target.seeds.iter().map(|seed| seed.to_vec()).collect();
    inputs.extend(kept(target.name));
    let mut mutator = Mutator::new(seed);
    let (started, mut count) = (Instant::now(), 0);
    let known = inputs.len();
    while count < known || started.elapsed() < time {
        let input = match inputs.get(count) {
            Some(input) => input.clone(),
            None => mutator.mutate(&inputs),
        };
        count += 1;
        if catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err() {
            return (count as u64, Some(input));
        }
    }
    (count as u64, None)
}

#[test]
fn every_target_holds_for_a_while() {
    let time = Duration::from_secs_f64(setting("PHIGATE_FUZZ_SECONDS", 2.0));
    let seed = setting("PHIGATE_FUZZ_SEED", 7_919.0) as u64;
    let (waiting, broken) = (Mutex::new(TARGETS.iter()), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    // The lock is released before the work begins.
                    let Some(target) = waiting.lock().unwrap().next() else {
                        return;
                    };
                    let (count, input) = try_for_a_while(target, time, seed);
                    println!("{:20} {count:>10} inputs", target.name);
                    if let Some(input) = input {
                        let line = format!("{}: {}", target.name, quoted(&input));
                        broken.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let broken = broken.into_inner().unwrap();
    assert!(broken.is_empty(), "broken by:\n{}", broken.join("\n"));
}
