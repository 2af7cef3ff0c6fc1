//! The figures as a table for people and as lines for programs.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::json;

use crate::load::Measured;

/// One run of one target.
pub(crate) struct Row {
    pub(crate) cell: &'static str,
    pub(crate) target: String,
    pub(crate) round: usize,
    pub(crate) measured: Measured,
}

/// Prints the medians over the rounds of one cell.
pub(crate) fn print_cell(cell: &str, rows: &[Row]) {
    let of = |target: &str| -> Vec<&Measured> {
        let wanted = |row: &&Row| row.cell == cell && row.target == target;
        rows.iter()
            .filter(wanted)
            .map(|row| &row.measured)
            .collect()
    };
    let direct = middle(&of("direct"), |measured| percentile(&measured.whole_us, 50));
    let bare_cpu = middle(&of("bare proxy"), |measured| {
        measured.cpu_us.unwrap_or(f64::NAN)
    });
    println!("\n{cell}");
    println!(
        "{:>12} {:>9} {:>9} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "req/s", "CPU µs", "ratio", "p50 µs", "p99 µs", "first µs", "added µs", "peak MiB"
    );
    let mut targets: Vec<&str> = Vec::new();
    for row in rows {
        if !targets.contains(&row.target.as_str()) {
            targets.push(&row.target);
        }
    }
    for target in targets {
        let runs = of(target);
        let cpu = middle(&runs, |measured| measured.cpu_us.unwrap_or(f64::NAN));
        let whole = middle(&runs, |measured| percentile(&measured.whole_us, 50));
        println!(
            "{:>12} {:>9.0} {:>9.1} {:>7.2} {:>9.0} {:>9.0} {:>9.0} {:>9.0} {:>9.1}",
            target,
            middle(&runs, |measured| measured.per_second),
            cpu,
            cpu / bare_cpu,
            whole,
            middle(&runs, |measured| percentile(&measured.whole_us, 99)),
            middle(&runs, |measured| percentile(&measured.first_us, 50)),
            whole - direct,
            middle(&runs, |measured| measured
                .memory_kib
                .map_or(f64::NAN, |(_, peak)| peak as f64 / 1024.0)),
        );
    }
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
            "memory_kib": measured.memory_kib.map(|(now, _)| now),
            "memory_peak_kib": measured.memory_kib.map(|(_, peak)| peak),
        });
        writeln!(file, "{line}")?;
    }
    Ok(())
}

/// The middle one of the rounds: one disturbed round does not move it.
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
