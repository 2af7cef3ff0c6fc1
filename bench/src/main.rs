//! What the gateway costs: the built binary beside a bare reverse proxy and a direct connection.
//!
//! `phigate-bench [BINARY…] [--seconds N] [--rounds N] [--only CELL] [--json FILE]` starts a provider, a proxy and
//! the gateway as processes of their own, sends the same load to each in turn, and prints CPU time
//! per request, the ratio to the bare proxy and the latency that was added. Believe the CPU time
//! and the ratios; requests per second depend on what else the machine does. Two versions of the
//! gateway are compared best in one run, with many short rounds.

mod bodies;
mod load;
mod mock;
mod process;
mod proxy;
mod report;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use load::Target;
use process::Gateway;
use report::Row;

/// What is sent in one cell, how many at a time, and why.
struct Cell {
    name: &'static str,
    body: bodies::Body,
    at_once: usize,
}

const CELLS: &[Cell] = &[
    // Sizes one after the other for latency, then many at once for cost.
    Cell {
        name: "200 B, 1 at once",
        body: bodies::Body::text(200),
        at_once: 1,
    },
    Cell {
        name: "4 KB, 1 at once",
        body: bodies::Body::text(4 * 1024),
        at_once: 1,
    },
    Cell {
        name: "200 B",
        body: bodies::Body::text(200),
        at_once: 32,
    },
    Cell {
        name: "4 KB",
        body: bodies::Body::text(4 * 1024),
        at_once: 32,
    },
    Cell {
        name: "64 KB",
        body: bodies::Body::text(64 * 1024),
        at_once: 32,
    },
    Cell {
        name: "4 KB, stream of 64 events",
        body: bodies::Body::stream(4 * 1024),
        at_once: 32,
    },
];

struct Options {
    /// Gateways to measure.
    binaries: Vec<PathBuf>,
    seconds: u64,
    rounds: usize,
    /// The name of the one cell to measure.
    only: Option<String>,
    json: Option<PathBuf>,
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
        words => runtime.block_on(measure(&options(words)?)),
    }
}

fn options(words: &[&str]) -> Result<Options> {
    let mut options = Options {
        binaries: Vec::new(),
        seconds: 3,
        rounds: 3,
        only: None,
        json: None,
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
            other if other.starts_with('-') => bail!("unknown option {other}"),
            binary => options.binaries.push(binary.into()),
        }
    }
    if options.binaries.is_empty() {
        options.binaries.push("target/release/phigate".into());
    }
    Ok(options)
}

async fn measure(options: &Options) -> Result<()> {
    let mock = process::own(&["mock"])?;
    let proxy = process::own(&["proxy", &mock.address])?;
    let mut gateways = Vec::new();
    for binary in &options.binaries {
        let gateway = Gateway::start(binary, &mock.address)?;
        if gateways
            .iter()
            .any(|one: &Gateway| one.name == gateway.name)
        {
            bail!("two binaries are called {}", gateway.name);
        }
        gateways.push(gateway);
    }
    let mut targets = vec![
        Target {
            name: "direct".to_owned(),
            address: mock.address.clone(),
            key: "none".to_owned(),
            pid: None,
        },
        Target {
            name: "bare proxy".to_owned(),
            address: proxy.address.clone(),
            key: "none".to_owned(),
            pid: Some(proxy.pid()),
        },
    ];
    targets.extend(gateways.iter().map(|gateway| Target {
        name: gateway.name.clone(),
        address: gateway.address.clone(),
        key: gateway.key.clone(),
        pid: Some(gateway.pid()),
    }));
    let mut rows = Vec::new();
    let is_wanted = |cell: &&Cell| options.only.as_ref().is_none_or(|only| cell.name == only);
    for cell in CELLS.iter().filter(is_wanted) {
        // Rounds go around the targets, so that a busy moment of the machine hits all of them.
        for round in 0..options.rounds {
            for target in &targets {
                let measured = load::run(
                    target,
                    cell.body,
                    cell.at_once,
                    Duration::from_secs(options.seconds),
                )
                .await?;
                rows.push(Row {
                    cell: cell.name,
                    target: target.name.clone(),
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
    Ok(())
}
