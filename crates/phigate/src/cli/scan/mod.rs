//! `phigate scan`: the detector on files, folders or standard input, without a store or a network.

mod allowed;
mod document;
mod found;
mod inputs;
mod sarif;

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
use allowed::{Allowed, Baseline};
use document::{Position, Unreadable, positions};
use found::{Hit, Place};
use inputs::inputs;
use sarif::Skipped;

#[derive(Args)]
pub(super) struct Scan {
    /// Files and folders to scan; standard input when none
    files: Vec<PathBuf>,
    /// Print the findings as one JSON object
    #[arg(long, group = "output")]
    json: bool,
    /// Print the findings as SARIF 2.1.0, for code hosts
    #[arg(long, group = "output")]
    sarif: bool,
    /// Read lines {"id","text"} and print lines {"id","spans"}
    #[arg(long, groups = ["output", "of_texts"])]
    jsonl: bool,
    /// Print the text with each finding replaced by its placeholder
    #[arg(long, groups = ["output", "of_texts"])]
    mask: bool,
    /// Print the text with each finding removed
    #[arg(long, groups = ["output", "of_texts"])]
    redact: bool,
    /// Print the evidence for and against each candidate, one JSON object per line, without its text
    #[arg(long, groups = ["output", "of_texts"])]
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
    /// Known findings, which do not count
    #[arg(long, value_name = "FILE", conflicts_with = "of_texts")]
    baseline: Option<PathBuf>,
    /// Write the findings to a file of known findings; it holds no values
    #[arg(long, value_name = "FILE", conflicts_with_all = ["of_texts", "baseline", "check"])]
    write_baseline: Option<PathBuf>,
}

pub(super) fn run(scan: &Scan) -> anyhow::Result<ExitCode> {
    let detector = Detector::default()
        .with_depth(protect::depth_of(scan.depth))
        .with_profile(scan.profile);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let found = if scan.jsonl {
        lines(scan, &detector, &mut out)?
    } else if scan.mask || scan.redact || scan.explain {
        texts(scan, &detector, &mut out)?
    } else {
        findings(scan, &detector, &mut out)?
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

impl<'a> Span<'a> {
    /// A finding of a file, or of the one text there is.
    fn of(hit: &Hit, file: Option<&'a Path>) -> Self {
        let path = match &hit.place {
            Place::Document(path) if !path.is_empty() => Some(path.clone()),
            _ => None,
        };
        Self {
            file,
            path,
            start: hit.start,
            end: hit.end,
            kind: hit.kind,
            score: hit.score,
            rule: hit.rule,
        }
    }
}

/// Findings of a text with their positions.
fn spans(positions: Vec<Position>, findings: &Findings) -> Vec<Span<'static>> {
    let found = findings.iter().zip(positions);
    found
        .map(|(finding, position)| Span {
            file: None,
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

/// Prints texts with their findings changed, or the evidence of candidates.
fn texts(scan: &Scan, detector: &Detector, out: &mut impl Write) -> anyhow::Result<usize> {
    let inputs: Vec<Option<&Path>> = match scan.files.as_slice() {
        [] => vec![None],
        files => files.iter().map(|file| Some(file.as_path())).collect(),
    };
    let mut found = 0;
    for file in inputs {
        let source = document::read(file)?;
        let mut printed = Vec::new();
        for passage in &source.passages {
            let findings = detector.scan(&passage.text);
            anyhow::ensure!(findings.is_complete(), INCOMPLETE);
            found += findings.len();
            if scan.explain {
                explain(out, detector, &passage.text)?;
            } else if !passage.background || !findings.is_empty() {
                // Text behind a document is printed if something in it is changed.
                printed.push(rewrite(scan, detector, &passage.text)?);
            }
        }
        out.write_all(printed.join("\n\n").as_bytes())?;
        if source.is_document() && !scan.explain {
            writeln!(out)?;
        }
    }
    Ok(found)
}

/// Prints findings, and returns the number of those that count.
fn findings(scan: &Scan, detector: &Detector, out: &mut impl Write) -> anyhow::Result<usize> {
    let known = scan.baseline.as_deref().or(scan.write_baseline.as_deref());
    let inputs = inputs(&scan.files, known)?;
    let mut baseline = match &scan.baseline {
        Some(path) => Baseline::read(path)?,
        None => Baseline::default(),
    };
    let is_listed = !scan.json && !scan.sarif;
    let (mut all, mut skipped) = (Vec::new(), Vec::new());
    for input in &inputs {
        let file = input.path.as_deref();
        let source = match document::read(file) {
            Ok(source) => source,
            Err(error) if !input.is_named && error.is::<Unreadable>() => {
                skipped.extend(file.map(|file| Skipped::new(file, &error)));
                continue;
            }
            Err(error) => return Err(error),
        };
        let name = file.map(found::name_of);
        let mut of_file = Vec::new();
        for passage in &source.passages {
            let findings = detector.scan(&passage.text);
            anyhow::ensure!(findings.is_complete(), INCOMPLETE);
            let place = (&source, passage);
            let hits = found::hits(detector, place, &findings, name.as_deref(), &mut baseline);
            of_file.extend(hits);
        }
        let count = of_file.iter().filter(|hit| hit.allowed.is_none()).count();
        if is_listed && (input.is_named || count > 0) {
            table(out, file, &of_file)?;
            verdict(out, file, count)?;
        }
        all.extend(of_file.into_iter().map(|hit| (file, hit)));
    }
    if let Some(path) = &scan.write_baseline {
        return write_baseline(path, all);
    }
    let count = all.iter().filter(|(_, hit)| hit.allowed.is_none()).count();
    if is_listed && inputs.iter().any(|input| !input.is_named) {
        let files = inputs.len() - skipped.len();
        writeln!(out, "{files} files scanned: {count} found")?;
    }
    tell_besides(&all, &skipped);
    if scan.json {
        let counted = all.iter().filter(|(_, hit)| hit.allowed.is_none());
        let is_one = inputs.len() == 1;
        let spans = counted.map(|(file, hit)| Span::of(hit, file.filter(|_| !is_one)));
        let spans: Vec<Span<'_>> = spans.collect();
        serde_json::to_writer(&mut *out, &serde_json::json!({ "findings": spans }))?;
        writeln!(out)?;
    }
    if scan.sarif {
        let hits: Vec<Hit> = all.into_iter().map(|(_, hit)| hit).collect();
        serde_json::to_writer(&mut *out, &sarif::log(&hits, &skipped))?;
        writeln!(out)?;
    }
    Ok(count)
}

/// Writes all findings that no marker allows as known ones.
fn write_baseline(path: &Path, all: Vec<(Option<&Path>, Hit)>) -> anyhow::Result<usize> {
    let mut baseline = Baseline::default();
    let hits = all.into_iter().map(|(_, hit)| hit);
    let mut count = 0;
    for hit in hits.filter(|hit| hit.allowed.is_none()) {
        baseline.add(hit.fingerprint);
        count += 1;
    }
    baseline.write(path)?;
    eprintln!("{}: {count} known findings", path.display());
    Ok(0)
}

/// Says on standard error what was not counted and what was not scanned.
fn tell_besides(all: &[(Option<&Path>, Hit)], skipped: &[Skipped]) {
    let count = |allowed| {
        let hits = all.iter().filter(|(_, hit)| hit.allowed == Some(allowed));
        hits.count()
    };
    let (marked, known) = (count(Allowed::Marker), count(Allowed::Baseline));
    if marked + known > 0 {
        eprintln!("not counted: {marked} by a marker, {known} by the baseline");
    }
    for skipped in skipped.iter().filter(|skipped| !skipped.is_other) {
        eprintln!("not scanned: {}: {}", skipped.file, skipped.reason);
    }
    match skipped.iter().filter(|skipped| skipped.is_other).count() {
        0 => {}
        others => eprintln!("not scanned: {others} files that are neither text nor a document"),
    }
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

/// One line per finding that counts: place, type, score and rule.
fn table(out: &mut impl Write, file: Option<&Path>, hits: &[Hit]) -> anyhow::Result<()> {
    let name = name_of(file);
    for hit in hits.iter().filter(|hit| hit.allowed.is_none()) {
        let (place, kind, length) = (&hit.place, hit.kind, hit.length);
        writeln!(
            out,
            "{name}{place}\t{kind}\t{length} characters\tscore {:.2}\t{}",
            hit.score, hit.rule
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
        let answer = serde_json::json!({ "id": document.id, "spans": spans(positions(&document.text, &findings), &findings) });
        serde_json::to_writer(&mut *out, &answer)?;
        out.write_all(b"\n")?;
        // A caller that writes one line and waits for the answer must get it.
        out.flush()?;
        progress.step();
    }
    progress.done();
    Ok(found)
}
