//! Overload: its effect on served and refused requests, on other callers, and on memory.
//!
//! `phigate-bench overload [BINARY] [--seconds N] [--row load|account|keys|crowds|bodies]` finds the peak of the
//! gateway, sends that load and multiples of it, and then puts other crowds beside a caller of another account. Latency
//! counts from the moment a request was due. Gateway and load have separate processors.

mod crowd;
mod open_loop;
mod site;
pub(crate) mod soak;

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::bodies::Body;
use crate::process;
use open_loop::{Callers, Tally};
use site::Site;

/// Bodies sent during overload.
const BODIES: &[Body] = &[Body::clean(4 << 10)];

/// Concurrent requests that measure the peak.
const AT_ONCE: usize = 64;

/// Number of idle connections.
const IDLE: usize = 10_000;

/// Open files of each side for them, including the gateway's connections to its provider.
const FILES: u64 = 13_000;

/// Number of callers that do not read.
const SLOW: usize = 64;

/// Numbers of callers with large bodies, and the size of the bodies.
const FLOODS: [usize; 3] = [1, 4, 64];
const LARGE: usize = 7 << 20;

/// Load of another account beside a crowd, as a share of the peak.
const BESIDE: f64 = 0.1;

/// Load of a key beside others of its account, as a part of its fair share. A key that asks for all of its share would
/// wait whenever the gateway falls below its peak.
const OF_ITS_SHARE: f64 = 0.5;

/// Names of the row groups that can be run alone.
pub(crate) const ROWS: &[&str] = &["load", "account", "keys", "crowds", "bodies"];

/// Runs all rows, or those of this name, and prints the table.
pub(crate) async fn run(binary: PathBuf, window: Duration, only: Option<&str>) -> Result<()> {
    let mut site = Site::start(&binary, "flag")?;
    let greedy = Callers::new(&site.gateway.address, &site.keys, BODIES);
    let other = Callers::new(&site.gateway.address, &site.other, BODIES);
    greedy.saturate(AT_ONCE, window / 3).await;
    println!(
        "| load | asked/s | good/s | of peak | of peak by CPU | p50 ms | p99 ms | turned away | failed | memory MiB | busy: gateway, load |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let table = Table::start(&site);
    let peak = greedy.saturate(AT_ONCE, window).await;
    let table = Table {
        peak: peak.good_per_second(),
        ..table
    };
    table.say("saturated: 64 callers", f64::NAN, &peak);
    let calm = table.peak * BESIDE;
    let is_wanted = |row| only.is_none_or(|only| only == row);
    if is_wanted("load") {
        for factor in [0.5, 1.0, 2.0, 3.0] {
            by_turns(&table, &greedy, factor, window).await;
        }
    }
    if is_wanted("account") {
        let alone = other.send(calm, window).await;
        table.say("another account, alone", calm, &alone);
        let what = "the same, beside an account that asks 2 ×";
        beside(&table, what, (&other, calm), &greedy, window).await;
    }
    greedy.hang_up();
    if is_wanted("keys") {
        let (first, others) = site.keys.split_at(1);
        let [quiet, loud] =
            [first, others].map(|keys| Callers::new(&site.gateway.address, keys, BODIES));
        let what = "a key beside others of its account that ask 2 ×";
        let asked = table.peak * OF_ITS_SHARE / site.keys.len() as f64;
        beside(&table, what, (&quiet, asked), &loud, window).await;
        // The crowds need the files of these connections.
        quiet.hang_up();
        loud.hang_up();
    }
    if is_wanted("crowds") {
        crowds(&table, &other, calm, window).await?;
    }
    if is_wanted("bodies") {
        let alone = other.send(calm, window).await;
        table.say("another account, alone", calm, &alone);
        bodies(&table, &other, calm, window).await;
    }
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

/// Number of peak measurements beside a load, because the machine's speed changes within seconds.
const TURNS: u32 = 4;

/// Share of stolen processor time above which a turn is repeated, because it says little about the gateway.
const STOLEN_MAX: f64 = 0.1;

/// Largest number of repeated turns per row; further turns count as measured.
const REPEATED_MAX: u32 = 24;

/// Sends `factor` times the peak in several turns. Each turn is compared with the peaks on both sides of it; otherwise
/// changes of the machine's speed would be attributed to the gateway. Answers are also compared by processor time, and
/// turns with much stolen time are repeated.
async fn by_turns(table: &Table<'_>, callers: &Callers, factor: f64, window: Duration) {
    let cpu = || table.site.cpu()[0].as_secs_f64();
    let look = async || {
        let (from, found) = (cpu(), callers.saturate(AT_ONCE, window / TURNS / 2).await);
        Peak {
            per_second: found.good_per_second(),
            per_cpu_second: found.good_us.len() as f64 / (cpu() - from),
        }
    };
    let (mut peak, mut tally, mut busy) = (Peak::default(), Tally::default(), 0.0);
    let (mut done, mut repeated, mut last) = (0, 0, None);
    while done < TURNS {
        let stolen = Stolen::from_now();
        let before = match last.take() {
            Some(peak) => peak,
            None => look().await,
        };
        let from = cpu();
        let per_second = before.per_second * factor;
        let sent = callers.send(per_second, window / TURNS).await;
        let took = cpu() - from;
        let after = look().await;
        if stolen.share() > STOLEN_MAX && repeated < REPEATED_MAX {
            repeated += 1;
            continue;
        }
        tally.add(sent);
        busy += took;
        for side in [&before, &after] {
            let sides = f64::from(TURNS * 2);
            peak.per_second += side.per_second / sides;
            peak.per_cpu_second += side.per_cpu_second / sides;
        }
        last = Some(after);
        done += 1;
    }
    let what = match repeated {
        0 => format!("asked {factor} × as much"),
        _ => format!("asked {factor} × as much, {repeated} turns repeated"),
    };
    let by_cpu = tally.good_us.len() as f64 / busy / peak.per_cpu_second;
    table.say_of(
        &what,
        peak.per_second * factor,
        &tally,
        [peak.per_second, by_cpu],
    );
}

/// Share of all processors that the host took away in a period.
struct Stolen {
    from: Instant,
    before: Duration,
}

impl Stolen {
    fn from_now() -> Self {
        Self {
            from: Instant::now(),
            before: process::stolen(),
        }
    }

    fn share(&self) -> f64 {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let stolen = process::stolen().saturating_sub(self.before);
        stolen.as_secs_f64() / self.from.elapsed().as_secs_f64() / processors as f64
    }
}

/// Largest rates of good answers: per second, and per second of the gateway's processor time.
#[derive(Default)]
struct Peak {
    per_second: f64,
    per_cpu_second: f64,
}

/// Runs a caller with this load beside others that ask for twice the peak; returns both results.
async fn beside(
    table: &Table<'_>,
    what: &str,
    (calm, per_second): (&Callers, f64),
    loud: &Callers,
    window: Duration,
) {
    let twice = table.peak * 2.0;
    let (of_calm, of_loud) = tokio::join!(calm.send(per_second, window), loud.send(twice, window));
    table.say(what, per_second, &of_calm);
    table.say("… and what the others got", twice, &of_loud);
}

/// Runs another account beside other crowds.
async fn crowds(table: &Table<'_>, other: &Callers, calm: f64, window: Duration) -> Result<()> {
    let site = table.site;
    let address = &site.gateway.address;
    let memory = idle_crowd(table, other, calm, window).await?;
    let slow = crowd::slow_readers(address, &site.keys[0], SLOW).await?;
    let tally = other.send(calm, window).await;
    table.say(
        &format!("beside {SLOW} callers that do not read"),
        calm,
        &tally,
    );
    drop(slow);
    println!("\n{memory}");
    Ok(())
}

/// Runs another account beside callers with large bodies.
async fn bodies(table: &Table<'_>, other: &Callers, calm: f64, window: Duration) {
    let site = table.site;
    for count in FLOODS {
        let (address, key) = (site.gateway.address.clone(), site.keys[1].clone());
        let (tally, sent) = tokio::join!(
            other.send(calm, window),
            crowd::flood(address, key, count, LARGE, window)
        );
        let what = format!("beside {count} callers with bodies of 7 MiB ({sent} sent)");
        table.say(&what, calm, &tally);
    }
}

/// Runs another account beside idle connections; returns their number and the memory with them.
async fn idle_crowd(
    table: &Table<'_>,
    other: &Callers,
    calm: f64,
    window: Duration,
) -> Result<String> {
    let site = table.site;
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
    table.say(&format!("beside {open} idle connections"), calm, &tally);
    Ok(format!(
        "{} of {IDLE} idle connections opened in {took:.1} s, {open} of them open at the end; memory now {before:.0} MiB before and {after:.0} MiB beside them",
        idle.len()
    ))
}

/// The table, and the figures that its rows are compared with.
struct Table<'a> {
    site: &'a Site,
    /// Largest rate of good answers per second.
    peak: f64,
    /// Time of the last row, and the processor time of gateway and load until then.
    since: Cell<(Instant, [Duration; 2])>,
}

impl<'a> Table<'a> {
    fn start(site: &'a Site) -> Self {
        Self {
            site,
            peak: f64::NAN,
            since: Cell::new((Instant::now(), site.cpu())),
        }
    }

    fn say(&self, what: &str, asked: f64, tally: &Tally) {
        self.say_of(what, asked, tally, [self.peak, f64::NAN]);
    }

    /// Prints a row and its share of the peak, also by processor time if known.
    fn say_of(&self, what: &str, asked: f64, tally: &Tally, [peak, by_cpu]: [f64; 2]) {
        let (_, most) = self.site.memory_mib();
        let [gateway, load] = self.busy();
        let row = format!(
            "| {what} | {asked:.0} | {:.0} | {:.2} | {by_cpu:.2} | {:.1} | {:.1} | {} | {} | {most:.0} | {gateway:.2}, {load:.2} |",
            tally.good_per_second(),
            tally.good_per_second() / peak,
            tally.percentile_ms(50),
            tally.percentile_ms(99),
            tally.shed,
            tally.failed,
        );
        println!("{}", row.replace("NaN", ""));
    }

    /// Processors that gateway and load kept busy since the last row. A load with a saturated processor would measure
    /// itself.
    fn busy(&self) -> [f64; 2] {
        let now = (Instant::now(), self.site.cpu());
        let (since, before) = self.since.replace(now);
        let took = now.0.duration_since(since).as_secs_f64();
        [0, 1].map(|who| now.1[who].saturating_sub(before[who]).as_secs_f64() / took)
    }
}
