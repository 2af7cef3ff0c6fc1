//! The detector alone: the gateway's binary over the same texts, in one process and without HTTP.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::bodies::Body;
use crate::load::Measured;
use crate::process;

/// Texts of one run, enough for CPU time in hundredths of a second.
const TEXTS: u64 = 8_000;

/// Measures the detector's CPU time per text, without its start-up time.
pub(crate) fn measure(binary: &Path, body: Body, round: usize) -> Result<Measured> {
    let first = 1 + round as u64 * TEXTS;
    let (_, start) = scan(binary, body, 0..1)?;
    let started = Instant::now();
    let (texts, spent) = scan(binary, body, first..first + TEXTS)?;
    let took = started.elapsed();
    let spent = spent.saturating_sub(start);
    Ok(Measured {
        requests: texts,
        per_second: texts as f64 / took.as_secs_f64(),
        cpu_us: Some(spent.as_secs_f64() * 1e6 / texts as f64),
        whole_us: Vec::new(),
        first_us: Vec::new(),
        memory_kib: None,
    })
}

/// Scans texts of these numbers; returns the number of answers and the CPU time.
fn scan(
    binary: &Path,
    body: Body,
    numbers: std::ops::Range<u64>,
) -> Result<(u64, std::time::Duration)> {
    let mut child = Command::new(binary)
        .args(["scan", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the detector")?;
    let mut input = child.stdin.take().context("no input")?;
    let output = child.stdout.take().context("no output")?;
    let expected = numbers.end - numbers.start;
    let writer = std::thread::spawn(move || {
        numbers
            .map(|number| body.line(number))
            .try_for_each(|line| input.write_all(line.as_bytes()))
    });
    let answered = BufReader::new(output).lines().map_while(Result::ok).count() as u64;
    // The process has closed its output; the system keeps its figures until it is waited for.
    let spent = process::cpu(child.id())?;
    let ended = child.wait()?;
    let written = writer.join();
    if !ended.success() || answered != expected || !matches!(written, Ok(Ok(()))) {
        bail!("the detector answered {answered} of {expected} texts");
    }
    Ok((expected, spent))
}
