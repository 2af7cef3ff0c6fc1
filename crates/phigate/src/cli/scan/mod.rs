//! `phigate scan`: the detector on files or standard input, without a store or a network.

mod document;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use phi_detect::{CodePoints, Detector, Findings, Profile};
use phigate_core::protect;
use phigate_types::{Depth, Mode};
use serde::{Deserialize, Serialize};

use super::EXIT_NO;
use super::progress::Progress;
use super::words::known;
use document::{Position, positions};

#[derive(Args)]
pub(super) struct Scan {
    /// Files to scan; standard input when none
    files: Vec<PathBuf>,
    /// Print the findings as one JSON object
    #[arg(long, group = "output")]
    json: bool,
    /// Read lines {"id","text"} and print lines {"id","spans"}
    #[arg(long, group = "output")]
    jsonl: bool,
    /// Print the text with each finding replaced by its placeholder
    #[arg(long, group = "output")]
    mask: bool,
    /// Print the text with each finding removed
    #[arg(long, group = "output")]
    redact: bool,
    /// Print the evidence for and against each candidate, one JSON object per line, without its text
    #[arg(long, group = "output")]
    explain: bool,
    /// Ask the larger reader about doubtful text (careful), or never (fast)
    #[arg(long, value_name = "DEPTH", value_parser = known(Depth::all(), Depth::code), default_value = "careful")]
    depth: Depth,
    /// Kinds to look for: the eight of the specification, or the identifiers of the Safe Harbor list
    #[arg(long, value_name = "PROFILE", value_parser = known(Profile::all(), Profile::code), default_value = Profile::default().code())]
    profile: Profile,
    /// Exit with 1 when PHI is found
    #[arg(long)]
    check: bool,
}

pub(super) fn run(scan: &Scan) -> anyhow::Result<ExitCode> {
    let detector = Detector::default()
        .with_depth(protect::depth_of(scan.depth))
        .with_profile(scan.profile);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let found = if scan.jsonl {
        lines(scan, &detector, &mut out)?
    } else {
        texts(scan, &detector, &mut out)?
    };
    out.flush()?;
    Ok(if scan.check && found > 0 {
        ExitCode::from(EXIT_NO)
    } else {
        ExitCode::SUCCESS
    })
}

/// A finding as printed: its range and kind, never the text.
#[derive(Serialize)]
struct Span<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a Path>,
    /// Place in a document, such as `#page=3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    start: usize,
    end: usize,
    #[serde(rename = "type")]
    kind: &'static str,
    score: f64,
    rule: &'static str,
}

/// Findings with their positions.
fn spans<'a>(
    positions: Vec<Position>,
    findings: &Findings,
    file: Option<&'a Path>,
) -> Vec<Span<'a>> {
    let found = findings.iter().zip(positions);
    found
        .map(|(finding, position)| Span {
            file,
            path: position.path,
            start: position.start,
            end: position.end,
            kind: finding.kind.code(),
            score: finding.rounded_score(),
            rule: finding.rule,
        })
        .collect()
}

/// A candidate with its reasons, without its text.
#[derive(Serialize)]
struct Explained {
    #[serde(rename = "type")]
    kind: &'static str,
    start: usize,
    end: usize,
    found: bool,
    score: f64,
    rule: &'static str,
    standing: &'static str,
    #[serde(rename = "for")]
    reasons_for: Vec<String>,
    #[serde(rename = "against")]
    reasons_against: Vec<String>,
}

fn explain(out: &mut impl Write, detector: &Detector, text: &str) -> anyhow::Result<()> {
    let mut explained = detector.explain(text);
    explained.sort_by_key(|one| (one.span.start, one.span.end));
    for one in explained {
        let mut points = CodePoints::new(text);
        let line = Explained {
            kind: one.kind.code(),
            start: points.at(one.span.start),
            end: points.at(one.span.end),
            found: one.is_found,
            score: f64::from((one.score * 1000.0).round()) / 1000.0,
            rule: one.rule,
            standing: one.standing,
            reasons_for: one.reasons_for(),
            reasons_against: one.reasons_against(),
        };
        serde_json::to_writer(&mut *out, &line)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Message for a text that was not scanned completely.
const INCOMPLETE: &str = "the text was not scanned completely; scan it in parts";

fn texts(scan: &Scan, detector: &Detector, out: &mut impl Write) -> anyhow::Result<usize> {
    let mut all = Vec::new();
    let inputs: Vec<Option<&Path>> = match scan.files.as_slice() {
        [] => vec![None],
        files => files.iter().map(|file| Some(file.as_path())).collect(),
    };
    let is_one = inputs.len() == 1;
    for file in inputs {
        let source = document::read(file)?;
        let (mut found, mut printed) = (0, Vec::new());
        for passage in &source.passages {
            let findings = detector.scan(&passage.text);
            anyhow::ensure!(findings.is_complete(), INCOMPLETE);
            let positions = source.positions(detector, passage, &findings);
            if scan.explain {
                explain(out, detector, &passage.text)?;
            } else if scan.mask || scan.redact {
                // Text behind a document is printed if something in it is changed.
                if !passage.background || !findings.is_empty() {
                    printed.push(rewrite(scan, detector, &passage.text)?);
                }
            } else if !scan.json {
                let places = match source.is_document() {
                    true => paths(&positions),
                    false => lines_and_columns(&passage.text, &findings),
                };
                table(out, file, (&passage.text, &findings), &places)?;
            }
            found += findings.len();
            all.extend(spans(positions, &findings, file.filter(|_| !is_one)));
        }
        if scan.mask || scan.redact {
            out.write_all(printed.join("\n\n").as_bytes())?;
            if source.is_document() {
                writeln!(out)?;
            }
        } else if !scan.json && !scan.explain {
            verdict(out, file, found)?;
        }
    }
    if scan.json {
        serde_json::to_writer(&mut *out, &serde_json::json!({ "findings": all }))?;
        writeln!(out)?;
    }
    Ok(all.len())
}

/// Returns a text with its findings changed.
fn rewrite(scan: &Scan, detector: &Detector, text: &str) -> anyhow::Result<String> {
    let mode = if scan.mask { Mode::MASK } else { Mode::REDACT };
    let clean = protect::rewrite_text(mode, detector, text);
    clean.context("the text still holds PHI after several rounds")
}

fn name_of(file: Option<&Path>) -> String {
    file.map_or("-".into(), |path| path.display().to_string())
}

/// One line per finding: place, type, score and rule.
fn table(
    out: &mut impl Write,
    file: Option<&Path>,
    (text, findings): (&str, &Findings),
    places: &[String],
) -> anyhow::Result<()> {
    let name = name_of(file);
    for (finding, place) in findings.iter().zip(places) {
        let exact = text.get(finding.span.clone()).unwrap_or_default();
        let length = exact.chars().count();
        let (kind, rule, score) = (finding.kind.code(), finding.rule, finding.score);
        writeln!(
            out,
            "{name}{place}\t{kind}\t{length} characters\tscore {score:.2}\t{rule}"
        )?;
    }
    Ok(())
}

/// Last line about a file.
fn verdict(out: &mut impl Write, file: Option<&Path>, found: usize) -> anyhow::Result<()> {
    let name = name_of(file);
    match found {
        0 => writeln!(out, "{name}: no PHI found")?,
        _ => writeln!(out, "{name}: {found} found")?,
    }
    Ok(())
}

fn paths(positions: &[Position]) -> Vec<String> {
    let paths = positions.iter().map(|position| position.path.clone());
    paths.map(Option::unwrap_or_default).collect()
}

/// Returns line and column of each finding, counted from finding to finding, because a large file may have very many.
fn lines_and_columns(text: &str, findings: &Findings) -> Vec<String> {
    let (mut counted, mut line, mut column) = (0, 1, 1);
    let mut places = Vec::with_capacity(findings.len());
    for finding in findings {
        let between = text.get(counted..finding.span.start).unwrap_or_default();
        counted = finding.span.start;
        line += between.bytes().filter(|byte| *byte == b'\n').count();
        column = match between.rsplit_once('\n') {
            Some((_, rest)) => 1 + rest.chars().count(),
            None => column + between.chars().count(),
        };
        places.push(format!(":{line}:{column}"));
    }
    places
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: &'a serde_json::value::RawValue,
    text: String,
}

/// Scans one document per line, and answers in order.
fn lines(scan: &Scan, detector: &Detector, out: &mut impl Write) -> anyhow::Result<usize> {
    let mut found = 0;
    let inputs: Vec<Option<&PathBuf>> = if scan.files.is_empty() {
        vec![None]
    } else {
        scan.files.iter().map(Some).collect()
    };
    for file in inputs {
        let mut input: Box<dyn BufRead> = match file {
            None => Box::new(std::io::stdin().lock()),
            Some(path) => {
                let file = std::fs::File::open(path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                Box::new(std::io::BufReader::new(file))
            }
        };
        found += lines_of(input.as_mut(), detector, out)?;
    }
    Ok(found)
}

fn lines_of(
    input: &mut dyn BufRead,
    detector: &Detector,
    out: &mut impl Write,
) -> anyhow::Result<usize> {
    let mut found = 0;
    let mut line = Vec::new();
    let mut progress = Progress::new("documents");
    for number in 1.. {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        // The parser's message may quote the text, so only the position is printed.
        let document: Line<'_> = serde_json::from_slice(&line).map_err(|error| {
            anyhow::anyhow!(
                "line {number}, column {}: not a JSON object with id and text",
                error.column()
            )
        })?;
        let findings = detector.scan(&document.text);
        anyhow::ensure!(findings.is_complete(), INCOMPLETE);
        found += findings.len();
        let answer = serde_json::json!({ "id": document.id, "spans": spans(positions(&document.text, &findings), &findings, None) });
        serde_json::to_writer(&mut *out, &answer)?;
        out.write_all(b"\n")?;
        // A caller that writes one line and waits for the answer must get it.
        out.flush()?;
        progress.step();
    }
    progress.done();
    Ok(found)
}
