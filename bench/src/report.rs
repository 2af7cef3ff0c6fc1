//! The figures as a table for people and as JSON lines for programs.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use crate::load::Measured;

/// Target name of the detector alone.
pub(crate) const DETECTOR: &str = "detector";

/// Target name of the minimal proxy.
const BARE: &str = "bare proxy";

/// One run of one target.
pub(crate) struct Row {
    pub(crate) cell: &'static str,
    pub(crate) target: String,
    pub(crate) round: usize,
    pub(crate) measured: Measured,
}

/// Medians over the rounds of one target in one cell.
struct Figures<'a> {
    target: &'a str,
    per_second: f64,
    cpu: f64,
    /// CPU time divided by the bare proxy's.
    ratio: f64,
    p50: f64,
    p99: f64,
    first: f64,
    /// Tenth percentile of first bytes, which has the least noise on a shared machine.
    first_p10: f64,
    /// Latency of complete answers and first bytes beyond the direct connection's.
    added: f64,
    added_first: f64,
    peak_mib: f64,
}

fn figures<'a>(cell: &str, rows: &'a [Row]) -> Vec<Figures<'a>> {
    let of = |target: &str| -> Vec<&Measured> {
        let wanted = |row: &&Row| row.cell == cell && row.target == target;
        let rows = rows.iter().filter(wanted);
        rows.map(|row| &row.measured).collect()
    };
    let cpu = |measured: &Measured| measured.cpu_us.unwrap_or(f64::NAN);
    let whole = |measured: &Measured| percentile(&measured.whole_us, 50);
    let first = |measured: &Measured| percentile(&measured.first_us, 50);
    let peak = |measured: &Measured| {
        let kib = measured.memory_kib;
        kib.map_or(f64::NAN, |(_, peak)| peak as f64 / 1024.0)
    };
    let (direct, bare) = (of("direct"), of(BARE));
    let mut targets: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.cell == cell) {
        if !targets.contains(&row.target.as_str()) {
            targets.push(&row.target);
        }
    }
    let figures = targets.into_iter().map(|target| {
        let runs = of(target);
        Figures {
            target,
            per_second: middle(&runs, |measured| measured.per_second),
            cpu: middle(&runs, cpu),
            ratio: middle(&runs, cpu) / middle(&bare, cpu),
            p50: middle(&runs, whole),
            p99: middle(&runs, |measured| percentile(&measured.whole_us, 99)),
            first: middle(&runs, first),
            first_p10: middle(&runs, |measured| percentile(&measured.first_us, 10)),
            added: middle(&runs, whole) - middle(&direct, whole),
            added_first: middle(&runs, first) - middle(&direct, first),
            peak_mib: middle(&runs, peak),
        }
    });
    figures.collect()
}

/// Prints the medians over the rounds of one cell.
pub(crate) fn print_cell(cell: &str, rows: &[Row]) {
    println!("\n{cell}");
    println!(
        "{:>16} {:>9} {:>9} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "",
        "req/s",
        "CPU µs",
        "ratio",
        "p50 µs",
        "p99 µs",
        "first µs",
        "(p10)",
        "added µs",
        "peak MiB"
    );
    for one in figures(cell, rows) {
        println!(
            "{:>16} {:>9.0} {:>9.1} {:>7.2} {:>9.0} {:>9.0} {:>9.0} {:>9.0} {:>9.0} {:>9.1}",
            one.target,
            one.per_second,
            one.cpu,
            one.ratio,
            one.p50,
            one.p99,
            one.first,
            one.first_p10,
            one.added,
            one.peak_mib,
        );
    }
    for line in services(cell, rows) {
        println!("{line}");
    }
}

/// Cost of a scan compared with detector plus bare proxy, if the detector was measured.
fn services(cell: &str, rows: &[Row]) -> Vec<String> {
    let figures = figures(cell, rows);
    let cpu = |target: &str| {
        figures
            .iter()
            .find(|one| one.target == target)
            .map(|one| one.cpu)
    };
    let (Some(detector), Some(bare)) = (cpu(DETECTOR), cpu(BARE)) else {
        return Vec::new();
    };
    let gateways = figures
        .iter()
        .filter(|one| ![DETECTOR, BARE, "direct"].contains(&one.target));
    let line = |one: &Figures<'_>| {
        let ratio = one.cpu / (detector + bare);
        format!(
            "{cell}: {} takes {ratio:.2} times what the detector and the bare proxy take together",
            one.target
        )
    };
    gateways.map(line).collect()
}

/// Marks around the table of a page.
const TABLE_START: &str = "<!-- figures -->";
const TABLE_END: &str = "<!-- end of figures -->";

/// Replaces the table of a page with this run's.
pub(crate) fn write_page(path: &Path, rows: &[Row]) -> Result<()> {
    let page = std::fs::read_to_string(path)?;
    let parts = page
        .split_once(TABLE_START)
        .and_then(|(before, rest)| Some((before, rest.split_once(TABLE_END)?.1)));
    let (before, after) = parts.context("the page has no marks for the table")?;
    let table = table(rows);
    std::fs::write(
        path,
        format!("{before}{TABLE_START}\n\n{table}\n{TABLE_END}{after}"),
    )?;
    Ok(())
}

fn table(rows: &[Row]) -> String {
    let mut cells: Vec<&str> = rows.iter().map(|row| row.cell).collect();
    cells.dedup();
    let mut table =
        "| | target | CPU µs | ratio | p50 µs | added µs | added to first byte µs | peak MiB |\n\
        |---|---|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for cell in cells {
        for one in figures(cell, rows) {
            table += &format!(
                "| {cell} | {} | {:.0} | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} |\n",
                one.target, one.cpu, one.ratio, one.p50, one.added, one.added_first, one.peak_mib
            );
        }
    }
    let cells: Vec<&str> = rows.iter().map(|row| row.cell).collect();
    let mut told: Vec<String> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        if !cells[..index].contains(cell) {
            told.extend(services(cell, rows));
        }
    }
    let told: String = told.iter().map(|line| format!("- {line}\n")).collect();
    let gap = if told.is_empty() { "" } else { "\n" };
    format!("{}{gap}{told}", table.replace("NaN", ""))
}

/// Writes every run as a line of JSON.
pub(crate) fn write_json(path: &Path, rows: &[Row]) -> Result<()> {
    let mut file = std::fs::File::create(path)?;
    for Row {
        cell,
        target,
        round,
        measured,
    } in rows
    {
        let line = json!({
            "cell": cell,
            "target": target,
            "round": round,
            "requests": measured.requests,
            "requests_per_second": measured.per_second,
            "cpu_us": measured.cpu_us,
            "p50_us": percentile(&measured.whole_us, 50),
            "p99_us": percentile(&measured.whole_us, 99),
            "first_p50_us": percentile(&measured.first_us, 50),
            "first_p10_us": percentile(&measured.first_us, 10),
            "memory_kib": measured.memory_kib.map(|(now, _)| now),
            "memory_peak_kib": measured.memory_kib.map(|(_, peak)| peak),
        });
        writeln!(file, "{line}")?;
    }
    Ok(())
}

/// Median of the rounds: one disturbed round does not change it.
fn middle(runs: &[&Measured], figure: impl Fn(&Measured) -> f64) -> f64 {
    let mut figures: Vec<f64> = runs.iter().map(|measured| figure(measured)).collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn percentile(sorted: &[u64], percent: usize) -> f64 {
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(place).map_or(f64::NAN, |value| *value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cell: &'static str, target: &str, cpu_us: Option<f64>, whole: u64) -> Row {
        let measured = Measured {
            requests: 1,
            per_second: 1.0,
            cpu_us,
            whole_us: vec![whole],
            first_us: vec![whole / 2],
            memory_kib: None,
        };
        Row {
            cell,
            target: target.to_owned(),
            round: 0,
            measured,
        }
    }

    #[test]
    fn page_tables_are_replaced() {
        let rows = [
            row("200 B", "direct", None, 100),
            row("200 B", "bare proxy", Some(40.0), 150),
            row("200 B", "phigate flag", Some(100.0), 300),
        ];
        let folder = std::env::temp_dir().join(format!("phigate-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let page = folder.join("page.md");
        std::fs::write(&page, format!("a\n{TABLE_START}\nold\n{TABLE_END}\nb\n")).unwrap();
        write_page(&page, &rows).unwrap();
        let written = std::fs::read_to_string(&page).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(written.starts_with("a\n") && written.ends_with("\nb\n"));
        assert!(written.contains("| 200 B | phigate flag | 100 | 2.5 | 300 | 200 | 100 |  |"));
        assert!(!written.contains("old"));
    }

    #[test]
    fn scans_are_compared_with_detector_and_proxy() {
        let rows = [
            row("scan", "direct", None, 100),
            row("scan", BARE, Some(50.0), 150),
            row("scan", "phigate flag", Some(260.0), 300),
            row("scan", DETECTOR, Some(150.0), 100),
            row("chat", BARE, Some(50.0), 150),
        ];
        let told = services("scan", &rows);
        assert_eq!(
            told,
            [
                "scan: phigate flag takes 1.30 times what the detector and the bare proxy take together"
            ]
        );
        assert!(table(&rows).ends_with(&format!("\n\n- {}\n", told[0])));
        assert_eq!(services("chat", &rows), [""; 0]);
    }

    #[test]
    fn percentiles_are_taken_from_sorted_times() {
        let times: Vec<u64> = (1..=100).collect();
        assert_eq!(
            (percentile(&times, 50), percentile(&times, 99)),
            (51.0, 100.0)
        );
        assert!(percentile(&[], 50).is_nan());
    }
}
