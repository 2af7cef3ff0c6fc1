//! Hours at a steady load: memory, file descriptors and latency must stay stable, and no record may be missing.
//!
//! `phigate-bench soak [BINARY] [--minutes N] [--per-second N]` sends seven tenths of the peak, or this many requests
//! per second, in a mix of sizes, findings and streams. It samples the gateway, and at the end compares the provider's
//! requests with the records.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::open_loop::Callers;
use super::site::Site;
use crate::bodies::Body;
use crate::process;

/// Bodies sent in turn.
const MIX: &[Body] = &[
    Body::clean(200),
    Body::identified(4 << 10),
    Body::clean(4 << 10).streamed(),
    Body::clean(4 << 10),
    Body::identified(4 << 10).streamed(),
    Body::clean(200),
    Body::seen_before(4 << 10),
    Body::clean(64 << 10),
];

const AT_ONCE: usize = 32;
const SHARE: f64 = 0.7;

/// Rows of the table.
const SAMPLES: u32 = 20;

/// Figures of the gateway in one part of the time.
struct Sample {
    memory_mib: f64,
    files: usize,
    p99_ms: f64,
}

/// Runs for this many minutes, at this rate or at a share of the peak.
pub(crate) async fn run(binary: PathBuf, minutes: f64, rate: Option<f64>) -> Result<()> {
    let mut site = Site::start(&binary, "mask")?;
    let callers = Callers::new(&site.gateway.address, &site.keys, MIX);
    let asked = match rate {
        Some(rate) => rate,
        None => find_peak(&callers).await * SHARE,
    };
    println!("asking for {asked:.0}/s for {minutes} minutes");
    println!("| minute | good | turned away | failed | p50 ms | p99 ms | memory MiB | files |");
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|");
    let window = Duration::from_secs_f64(minutes * 60.0 / f64::from(SAMPLES));
    let (mut samples, mut good, mut lost) = (Vec::new(), 0, 0);
    for number in 1..=SAMPLES {
        let tally = callers.send(asked, window).await;
        let sample = Sample {
            memory_mib: site.memory_mib().0,
            files: process::files(site.gateway.pid())?,
            p99_ms: tally.percentile_ms(99),
        };
        println!(
            "| {:.1} | {} | {} | {} | {:.1} | {:.1} | {:.0} | {} |",
            minutes * f64::from(number) / f64::from(SAMPLES),
            tally.good_us.len(),
            tally.shed,
            tally.failed,
            tally.percentile_ms(50),
            sample.p99_ms,
            sample.memory_mib,
            sample.files,
        );
        good += tally.good_us.len();
        lost += tally.shed + tally.failed;
        samples.push(sample);
    }
    let counted = site.count().await?;
    println!(
        "\n{good} good answers, {lost} others; upstream {}, decisions {}, outcomes {}, odd {}; trail verified",
        counted.upstream, counted.decisions, counted.outcomes, counted.odd
    );
    judge(&samples)?;
    ensure!(
        counted.upstream <= counted.decisions,
        "a request left unrecorded"
    );
    ensure!(
        counted.odd == 0,
        "a request has not one decision and one outcome"
    );
    Ok(())
}

/// Measures the peak in requests per second.
async fn find_peak(callers: &Callers) -> f64 {
    callers.saturate(AT_ONCE, Duration::from_secs(3)).await;
    let peak = callers.saturate(AT_ONCE, Duration::from_secs(10)).await;
    println!("peak {:.0}/s", peak.good_per_second());
    peak.good_per_second()
}

/// Compares the second half with the first, whose beginning fills caches.
fn judge(samples: &[Sample]) -> Result<()> {
    let half = |from: usize, figure: fn(&Sample) -> f64| {
        let mut figures: Vec<f64> = samples
            .iter()
            .skip(from)
            .take(samples.len() / 4)
            .map(figure)
            .collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let (early, late) = (samples.len() / 4, samples.len() * 3 / 4);
    for (what, figure, room) in [
        ("memory", (|one| one.memory_mib) as fn(&Sample) -> f64, 1.15),
        ("open files", |one| one.files as f64, 1.25),
        ("p99", |one| one.p99_ms, 2.0),
    ] {
        let (before, after) = (half(early, figure), half(late, figure));
        println!("{what}: {before:.1} in the second quarter, {after:.1} in the last");
        ensure!(after <= before * room + 8.0, "{what} grows");
    }
    Ok(())
}
