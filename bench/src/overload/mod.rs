//! More than can be done: what becomes of those who are served, of the others, and of the memory.
//!
//! `phigate-bench overload [BINARY] [--seconds N]` finds the load at which the gateway is saturated, asks for as much
//! and for more of it, and then puts crowds of other kinds beside a caller of another account. Latency is counted from
//! the moment a request was due. Gateway and load have processors of their own.

mod crowd;
mod open_loop;
mod site;
pub(crate) mod soak;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::bodies::Body;
use crate::process;
use open_loop::{Callers, Tally};
use site::Site;

/// What is asked while the gateway is overloaded.
const BODIES: &[Body] = &[Body::clean(4 << 10)];

/// Connections at once that find out what can be done.
const AT_ONCE: usize = 64;

/// Connections without a request.
const IDLE: usize = 10_000;

/// Open files that they need on both sides, the gateway's connections to its provider included.
const FILES: u64 = 13_000;

/// Callers that do not read.
const SLOW: usize = 64;

/// Callers with large bodies, and how large.
const FLOOD: (usize, usize) = (64, 7 << 20);

/// The share of the peak that another account asks for beside a crowd.
const BESIDE: f64 = 0.1;

/// Runs everything and prints the table.
pub(crate) async fn run(binary: PathBuf, window: Duration) -> Result<()> {
    let mut site = Site::start(&binary, "flag")?;
    let address = site.gateway.address.clone();
    let greedy = Callers::new(&address, &site.keys, BODIES);
    let other = Callers::new(&address, &site.other, BODIES);
    greedy.saturate(AT_ONCE, window / 3).await;
    println!(
        "| load | asked/s | good/s | of peak | p50 ms | p99 ms | turned away | failed | memory MiB |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let peak = greedy.saturate(AT_ONCE, window).await;
    let peak_rate = peak.good_per_second();
    let say = |what: &str, asked: f64, tally: &Tally| line(what, asked, tally, peak_rate, &site);
    say("saturated: 64 callers", f64::NAN, &peak);
    for factor in [0.5, 1.0, 2.0, 3.0] {
        let asked = peak_rate * factor;
        let tally = greedy.send(asked, window).await;
        say(&format!("asked {factor} × as much"), asked, &tally);
    }
    let calm = peak_rate * BESIDE;
    say(
        "another account, alone",
        calm,
        &other.send(calm, window).await,
    );
    let (beside, _) = tokio::join!(
        other.send(calm, window),
        greedy.send(peak_rate * 2.0, window)
    );
    say("the same, beside an account that asks 2 ×", calm, &beside);
    // One key of an account beside the others of the same account.
    let (first, others) = site.keys.split_at(1);
    let (quiet, loud) = (
        Callers::new(&address, first, BODIES),
        Callers::new(&address, others, BODIES),
    );
    let (beside, _) = tokio::join!(quiet.send(calm, window), loud.send(peak_rate * 2.0, window));
    say(
        "a key beside others of its account that ask 2 ×",
        calm,
        &beside,
    );
    // Crowds of other kinds need the files that these connections have open.
    for callers in [&greedy, &quiet, &loud] {
        callers.hang_up();
    }
    crowds(&site, &other, calm, window, &say).await?;
    let counted = site.count().await?;
    println!(
        "\nupstream {} requests; {} decisions that forward, {} outcomes, {} requests without exactly one of each; trail verified",
        counted.upstream, counted.decisions, counted.outcomes, counted.odd
    );
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

/// Another account beside crowds of other kinds.
async fn crowds(
    site: &Site,
    other: &Callers,
    calm: f64,
    window: Duration,
    say: &dyn Fn(&str, f64, &Tally),
) -> Result<()> {
    let address = &site.gateway.address;
    let memory = idle_crowd(site, other, calm, window, say).await?;
    let slow = crowd::slow_readers(address, &site.keys[0], SLOW).await?;
    let tally = other.send(calm, window).await;
    say(
        &format!("beside {SLOW} callers that do not read"),
        calm,
        &tally,
    );
    drop(slow);
    let (count, bytes) = FLOOD;
    let key = site.keys[1].clone();
    let (tally, sent) = tokio::join!(
        other.send(calm, window),
        crowd::flood(address.clone(), key, count, bytes, window)
    );
    let what = format!("beside {count} callers with bodies of 7 MiB ({sent} sent)");
    say(&what, calm, &tally);
    println!("\n{memory}");
    Ok(())
}

/// Another account beside idle connections; how many there were, and the memory with them.
async fn idle_crowd(
    site: &Site,
    other: &Callers,
    calm: f64,
    window: Duration,
    say: &dyn Fn(&str, f64, &Tally),
) -> Result<String> {
    for (who, pid) in [
        ("load", std::process::id()),
        ("gateway", site.gateway.pid()),
    ] {
        let files = process::files_max(pid).unwrap_or(u64::MAX);
        if files < FILES {
            println!("the {who} may have {files} files open: too few for {IDLE} connections");
        }
    }
    let (before, _) = site.memory_mib();
    let (started, idle) = (
        Instant::now(),
        crowd::idle(&site.gateway.address, IDLE).await?,
    );
    let took = started.elapsed().as_secs_f64();
    let tally = other.send(calm, window).await;
    let (open, (after, _)) = (crowd::still_open(&idle), site.memory_mib());
    say(&format!("beside {open} idle connections"), calm, &tally);
    Ok(format!(
        "{} of {IDLE} idle connections opened in {took:.1} s, {open} of them open at the end; memory now {before:.0} MiB before and {after:.0} MiB beside them",
        idle.len()
    ))
}

fn line(what: &str, asked: f64, tally: &Tally, peak: f64, site: &Site) {
    let (_, most) = site.memory_mib();
    let row = format!(
        "| {what} | {asked:.0} | {:.0} | {:.2} | {:.1} | {:.1} | {} | {} | {most:.0} |",
        tally.good_per_second(),
        tally.good_per_second() / peak,
        tally.percentile_ms(50),
        tally.percentile_ms(99),
        tally.shed,
        tally.failed,
    );
    println!("{}", row.replace("NaN", ""));
}
