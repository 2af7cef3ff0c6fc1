//! Cost of the gateway: the built binary beside a bare reverse proxy and a direct connection.
//!
//! `phigate-bench overload` and `phigate-bench soak` are described in `overload/`.
//!
//! `phigate-bench [BINARY…] [--seconds N] [--rounds N] [--only CELL] [--json FILE] [--page FILE]` starts a provider, a
//! proxy and the gateway in each of several settings as processes, sends the same load to each in turn, and prints CPU
//! time per request, the ratio to the bare proxy and the added latency. Scans (`/v1/scan`) are also compared with the
//! detector's time for the same texts plus the bare proxy's. `--page` also writes the table into a page, between its
//! two marks. Trust CPU time and ratios; requests per second depend on the machine's other load. Two versions of the
//! gateway are compared best in one run, with many short rounds.
//!
//! Other gateways are measured with `--provider ADDRESS` (a provider started before with `phigate-bench mock`, so that
//! they can be configured for it) and `--peer 'NAME,ADDRESS,PID[,HEADER: VALUE]…'`; `peers-gateways.sh` does this.

mod bodies;
mod detector;
mod load;
mod mock;
mod overload;
mod process;
mod proxy;
mod report;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use bodies::Body;
use load::Target;
use process::Gateway;
use report::Row;

/// A gateway with an account's settings: its name, and the commands that set them.
struct Setup {
    name: &'static str,
    commands: &'static [&'static [&'static str]],
}

const FLAG: Setup = Setup {
    name: "flag",
    commands: &[],
};
/// Flag mode without a provider key; the difference to `flag` is the cost of the key.
const KEYLESS: Setup = Setup {
    name: "no key",
    commands: &[&["provider", "set", "openai", "--auth", "none"]],
};
const MASK: Setup = Setup {
    name: "mask",
    commands: &[&["mode", "set", "mask"]],
};
const RESTORE: Setup = Setup {
    name: "restore",
    commands: &[&["mode", "set", "mask"], &["restore", "set", "on"]],
};
const REPLIES: Setup = Setup {
    name: "replies",
    commands: &[&["mode", "set", "mask"], &["replies", "set", "flag"]],
};

/// One cell: body, number of concurrent requests, and gateways.
struct Cell {
    name: &'static str,
    body: Body,
    at_once: usize,
    setups: &'static [&'static Setup],
}

const CELLS: &[Cell] = &[
    // First sizes with many concurrent requests for CPU time, then streams, then one at a time for latency.
    cell(
        "200 B clean",
        Body::clean(200),
        32,
        &[&FLAG, &KEYLESS, &MASK],
    ),
    cell("4 KB clean", Body::clean(4 << 10), 32, &[&FLAG, &MASK]),
    cell(
        "4 KB clean, sent before",
        Body::seen_before(4 << 10),
        32,
        &[&FLAG],
    ),
    cell(
        "4 KB with findings",
        Body::identified(4 << 10),
        32,
        &[&FLAG, &MASK],
    ),
    cell("64 KB clean", Body::clean(64 << 10), 32, &[&FLAG]),
    cell(
        "64 KB with findings",
        Body::identified(64 << 10),
        32,
        &[&FLAG, &MASK],
    ),
    cell(
        "stream of 64 events",
        Body::clean(200).streamed(),
        32,
        &[&FLAG],
    ),
    cell(
        "stream of 64 events, 4 KB with findings",
        Body::identified(4 << 10).streamed(),
        32,
        &[&MASK, &RESTORE, &REPLIES],
    ),
    cell(
        "scan of 4 KB clean",
        Body::clean(4 << 10).scanned(),
        32,
        &[&FLAG, &MASK],
    ),
    cell(
        "scan of 4 KB with findings",
        Body::identified(4 << 10).scanned(),
        32,
        &[&FLAG, &MASK],
    ),
    cell(
        "4 KB clean, one at a time",
        Body::clean(4 << 10),
        1,
        &[&FLAG],
    ),
    cell(
        "4 KB with findings, one at a time",
        Body::identified(4 << 10),
        1,
        &[&FLAG, &MASK],
    ),
    cell(
        "stream with findings, one at a time",
        Body::identified(4 << 10).streamed(),
        1,
        &[&MASK, &RESTORE, &REPLIES],
    ),
];

const fn cell(
    name: &'static str,
    body: Body,
    at_once: usize,
    setups: &'static [&'static Setup],
) -> Cell {
    Cell {
        name,
        body,
        at_once,
        setups,
    }
}

struct Options {
    /// Gateways to measure.
    binaries: Vec<PathBuf>,
    seconds: u64,
    rounds: usize,
    /// Name of the only cell to measure.
    only: Option<String>,
    json: Option<PathBuf>,
    /// Page in which this run's table replaces the old one.
    page: Option<PathBuf>,
    /// Address of a running provider.
    provider: Option<String>,
    /// Other running gateways.
    peers: Vec<Target>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match words.as_slice() {
        ["mock"] => runtime.block_on(mock::serve()),
        ["proxy", upstream] => runtime.block_on(proxy::serve(upstream)),
        ["overload", words @ ..] => {
            let (row, words) = row_of(words)?;
            let (binary, [seconds]) = binary_and(&words, [("--seconds", 10.0)])?;
            let window = Duration::from_secs_f64(seconds);
            runtime.block_on(overload::run(binary, window, row))
        }
        ["soak", words @ ..] => {
            let options = [("--minutes", 60.0), ("--per-second", f64::NAN)];
            let (binary, [minutes, rate]) = binary_and(words, options)?;
            let rate = (!rate.is_nan()).then_some(rate);
            runtime.block_on(overload::soak::run(binary, minutes, rate))
        }
        words => runtime.block_on(measure(&options(words)?)),
    }
}

/// Splits off the row of the overload table to run.
fn row_of<'a>(words: &[&'a str]) -> Result<(Option<&'a str>, Vec<&'a str>)> {
    let mut rest = words.to_vec();
    let Some(at) = rest.iter().position(|word| *word == "--row") else {
        return Ok((None, rest));
    };
    let row = rest.get(at + 1).copied();
    let row = row.filter(|row| overload::ROWS.contains(row));
    let row = row.with_context(|| format!("--row needs one of {:?}", overload::ROWS))?;
    rest.drain(at..at + 2);
    Ok((Some(row), rest))
}

/// Reads the binary and the numbers, for modes without other options.
fn binary_and<const N: usize>(
    words: &[&str],
    options: [(&str, f64); N],
) -> Result<(PathBuf, [f64; N])> {
    let mut binary = PathBuf::from("target/release/phigate");
    let (names, mut numbers) = (
        options.map(|(name, _)| name),
        options.map(|(_, number)| number),
    );
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if let Some(place) = names.iter().position(|name| name == word) {
            numbers[place] = words.next().context("a number is missing")?.parse()?;
        } else if word.starts_with('-') {
            bail!("unknown option {word}");
        } else {
            binary = word.into();
        }
    }
    Ok((binary, numbers))
}

fn options(words: &[&str]) -> Result<Options> {
    let mut options = Options {
        binaries: Vec::new(),
        seconds: 3,
        rounds: 3,
        only: None,
        json: None,
        page: None,
        provider: None,
        peers: Vec::new(),
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .with_context(|| format!("{word} needs a value"))
        };
        match *word {
            "--seconds" => options.seconds = value()?.parse()?,
            "--rounds" => options.rounds = value()?.parse()?,
            "--only" => options.only = Some((*value()?).to_owned()),
            "--json" => options.json = Some(value()?.into()),
            "--page" => options.page = Some(value()?.into()),
            "--provider" => options.provider = Some((*value()?).to_owned()),
            "--peer" => options.peers.push(peer(value()?)?),
            other if other.starts_with('-') => bail!("unknown option {other}"),
            binary => options.binaries.push(binary.into()),
        }
    }
    if options.binaries.is_empty() {
        options.binaries.push("target/release/phigate".into());
    }
    Ok(options)
}

/// Parses another gateway: `NAME,ADDRESS,PID[,HEADER: VALUE]…`.
fn peer(text: &str) -> Result<Target> {
    let mut parts = text.split(',');
    let (Some(name), Some(address), Some(pid)) = (parts.next(), parts.next(), parts.next()) else {
        bail!("a peer is NAME,ADDRESS,PID[,HEADER: VALUE]…");
    };
    let header = |part: &str| {
        let (name, value) = part.split_once(": ").context("a header is NAME: VALUE")?;
        Ok((name.to_owned(), value.to_owned()))
    };
    Ok(Target {
        name: name.to_owned(),
        address: address.to_owned(),
        key: "none".to_owned(),
        headers: parts.map(header).collect::<Result<_>>()?,
        pid: Some(pid.parse()?),
    })
}

#[expect(
    clippy::too_many_lines,
    reason = "the order of a run, read from top to bottom"
)]
async fn measure(options: &Options) -> Result<()> {
    let mock = match &options.provider {
        Some(_) => None,
        None => Some(process::own(&["mock"])?),
    };
    let started = mock.as_ref().map(|mock| mock.address.clone());
    let provider = started
        .or_else(|| options.provider.clone())
        .unwrap_or_default();
    let proxy = process::own(&["proxy", &provider])?;
    let mut gateways = Vec::new();
    for binary in &options.binaries {
        for setup in [&FLAG, &KEYLESS, &MASK, &RESTORE, &REPLIES] {
            let gateway = Gateway::start(binary, setup.commands, &provider)?;
            gateways.push((format!("{} {}", gateway.name, setup.name), setup, gateway));
        }
    }
    let target = |name: &str, address: &str, key: &str, pid| Target {
        name: name.to_owned(),
        address: address.to_owned(),
        key: key.to_owned(),
        headers: Vec::new(),
        pid,
    };
    let plain = [
        target("direct", &provider, "none", None),
        target("bare proxy", &proxy.address, "none", Some(proxy.pid())),
    ];
    let mut rows = Vec::new();
    let is_wanted = |cell: &&Cell| options.only.as_ref().is_none_or(|only| cell.name == only);
    for cell in CELLS.iter().filter(is_wanted) {
        let of_cell = gateways.iter().filter(|(_, setup, _)| {
            let mut setups = cell.setups.iter();
            setups.any(|wanted| wanted.name == setup.name)
        });
        let of_cell: Vec<Target> = of_cell
            .map(|(name, _, one)| target(name, &one.address, &one.key, Some(one.pid())))
            .collect();
        // Only the gateway under test has a path for scans.
        let peers: &[Target] = match cell.body.is_scan() {
            true => &[],
            false => &options.peers,
        };
        // Rounds alternate between targets, so that a busy moment of the machine affects all of them.
        for round in 0..options.rounds {
            for target in plain.iter().chain(&of_cell).chain(peers) {
                let window = Duration::from_secs(options.seconds);
                let measured = load::run(target, cell.body, cell.at_once, window).await?;
                rows.push(Row {
                    cell: cell.name,
                    target: target.name.clone(),
                    round,
                    measured,
                });
            }
            if cell.body.is_scan() {
                let measured = detector::measure(&options.binaries[0], cell.body, round)?;
                let target = report::DETECTOR.to_owned();
                let cell = cell.name;
                rows.push(Row {
                    cell,
                    target,
                    round,
                    measured,
                });
            }
        }
        report::print_cell(cell.name, &rows);
    }
    if rows.is_empty() {
        bail!("there is no such cell");
    }
    if let Some(path) = &options.json {
        report::write_json(path, &rows)?;
    }
    if let Some(path) = &options.page {
        report::write_page(path, &rows)?;
    }
    Ok(())
}
