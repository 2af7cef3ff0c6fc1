//! Measures what each switch of the copy decides: `coverage TEXTS SWITCHES OUT [options]`.
//!
//! `TEXTS` has lines of `{"file","text","spans","types","only"}`, `SWITCHES` the rows of `phi-coverage`. Rows already in `OUT`
//! are kept, so that a run that was stopped goes on. `--stop N` ends the measure of a switch at N changed texts, `--most N`
//! looks at N texts at most, `--keep` holds a switch that changes nothing for the measures of those after it.

#![allow(clippy::disallowed_types, reason = "not part of a scan")]

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use phi_detect::{CodePoints, Depth, Detector, PhiKind, Settings, switch};
use serde_json::Value;

/// A text, its labels, and the kinds whose labels are complete.
struct Text {
    file: String,
    text: String,
    labels: Vec<(usize, usize, String)>,
    types: BTreeSet<String>,
    /// The kind that an example is about.
    only: Option<String>,
}

impl Text {
    fn is_example(&self) -> bool {
        self.file.starts_with("examples/")
    }
}

/// Letters of PHI that are found, and harmless ones that are covered.
#[derive(Clone, Copy, Default, PartialEq)]
struct Letters {
    found: i64,
    covered: i64,
}

type Spans = Vec<(&'static str, usize, usize)>;
/// Findings of a text at both depths.
type Found = [Option<Spans>; 2];

/// Examples that change before the measure of a switch ends.
const EXAMPLES_MAX: usize = 12;
/// Kinds whose labels count.
const CORE: [&str; 8] = [
    "ssn",
    "dob",
    "phone",
    "email",
    "address",
    "mrn",
    "name",
    "medicare_id",
];

/// Detectors that look for every kind, as the tests of the tables do.
fn detectors() -> [Detector; 2] {
    let optional = PhiKind::all().filter(|kind| !kind.rule().is_on_by_default);
    let settings = Settings {
        thresholds: optional
            .map(|kind| (kind, kind.default_threshold(Depth::Careful)))
            .collect(),
        mrn_formats: vec!["ZQ-9999999".to_owned()],
        ..Settings::default()
    };
    [Depth::Fast, Depth::Careful].map(|depth| {
        Detector::new(settings.clone())
            .unwrap_or_default()
            .with_depth(depth)
    })
}

fn scan(detector: &Detector, text: &Text) -> Option<Spans> {
    switch::begin();
    let is_wanted = |kind: PhiKind| text.only.as_ref().is_none_or(|only| only == kind.code());
    let scan = || {
        let mut points = CodePoints::new(&text.text);
        let findings = detector.scan(&text.text);
        findings
            .iter()
            .filter(|one| is_wanted(one.kind))
            .map(|one| {
                let span = points.range(&one.span);
                (one.kind.code(), span.start, span.end)
            })
            .collect()
    };
    catch_unwind(AssertUnwindSafe(scan)).ok()
}

fn letters(text: &Text, found: &Found) -> Letters {
    let letters: Vec<bool> = text.text.chars().map(char::is_alphanumeric).collect();
    let mut total = Letters::default();
    for spans in found.iter().flatten() {
        for (at, _) in letters
            .iter()
            .enumerate()
            .filter(|(_, is_letter)| **is_letter)
        {
            let here = |start: usize, end: usize| start <= at && at < end;
            let is_label = text.labels.iter().any(|(start, end, _)| here(*start, *end));
            let is_core = text
                .labels
                .iter()
                .any(|(start, end, kind)| here(*start, *end) && CORE.contains(&kind.as_str()));
            let covers = |(kind, start, end): &(&str, usize, usize)| {
                here(*start, *end) && (is_label || text.types.contains(*kind))
            };
            if spans.iter().any(covers) {
                total.found += i64::from(is_core);
                total.covered += i64::from(!is_label);
            }
        }
    }
    total
}

/// A change of findings by a switch.
#[derive(Default)]
struct Change {
    examples: usize,
    texts: usize,
    files: BTreeSet<String>,
    found: i64,
    covered: i64,
    looked: usize,
}

/// One thread with its part of the texts: scans them as they are, then those it is asked for.
struct Worker {
    ask: mpsc::Sender<Vec<usize>>,
    answer: mpsc::Receiver<Vec<(usize, Letters)>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str, default: usize| {
        let at = arguments.iter().position(|one| one == name);
        let value = at.and_then(|at| arguments.get(at + 1)?.parse().ok());
        value.unwrap_or(default)
    };
    std::panic::set_hook(Box::new(|_| {}));
    let texts: &'static [Text] = texts(&arguments[1])?.leak();
    let (workers, seen) = start(texts, option("--threads", 2));
    let measure = Measure {
        texts,
        workers,
        seen,
        stop: option("--stop", 3),
        most: option("--most", 600),
    };
    let rows = order(&std::fs::read_to_string(&arguments[2])?);
    let keeps = arguments.iter().any(|one| one == "--keep");
    measure.report(&rows, &arguments[3], keeps)?;
    if keeps {
        let all: Vec<u32> = (0..texts.len() as u32).collect();
        let change = measure.changes(&all, usize::MAX, usize::MAX);
        eprintln!(
            "all together change {} texts and {} examples: {} letters of PHI found, {} harmless covered",
            change.texts, change.examples, change.found, change.covered
        );
    }
    Ok(())
}

/// A place in the sources: file, first and last byte.
type Place = (String, usize, usize);

/// The texts, the threads that scan them, and the answers of each switch in them.
struct Measure {
    texts: &'static [Text],
    workers: Vec<Worker>,
    seen: Seen,
    stop: usize,
    most: usize,
}

impl Measure {
    /// Writes a row for each switch and answer; those already there are not measured again.
    fn report(
        &self,
        rows: &[Vec<String>],
        path: &str,
        keeps: bool,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let key_of = |row: &str| row.split('\t').take(2).collect::<Vec<_>>().join("\t");
        let done = std::fs::read_to_string(path).unwrap_or_default();
        let done: HashMap<String, &str> = done.lines().map(|row| (key_of(row), row)).collect();
        let mut out = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)?;
        let mut held: Vec<Place> = Vec::new();
        for row in rows {
            let place: Place = (row[1].clone(), row[3].parse()?, row[4].parse()?);
            let is_inside = |one: &Place| one.0 == place.0 && one.1 <= place.1 && place.2 <= one.2;
            if held.iter().any(is_inside) {
                continue;
            }
            for answer in answers(row) {
                let key = format!("{}\t{}", row[0], u8::from(answer));
                let line = match done.get(&key) {
                    Some(line) => (*line).to_owned(),
                    None => {
                        let line = format!("{key}\t{}", self.row(row, answer)?);
                        writeln!(out, "{line}")?;
                        line
                    }
                };
                if keeps && self.is_needless(&line) {
                    switch::hold(row[0].parse()?, Some(answer));
                    held.push(place);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Measures a switch held at an answer.
    fn row(&self, row: &[String], answer: bool) -> Result<String, std::num::ParseIntError> {
        let number: usize = row[0].parse()?;
        let [falsely, truly] = &self.seen[number];
        switch::hold(number, Some(answer));
        let other = if answer { falsely } else { truly };
        let change = self.changes(other, self.stop, self.most);
        switch::hold(number, None);
        let counts = [
            truly.len(),
            falsely.len(),
            change.looked,
            change.texts,
            change.examples,
        ];
        let counts = counts.map(|count| count.to_string()).join("\t");
        let files: Vec<_> = change.files.into_iter().collect();
        let (source, files) = (row[1..6].join("\t"), files.join(" "));
        Ok(format!(
            "{source}\t{counts}\t{}\t{}\t{files}\t{}",
            change.found, change.covered, row[8]
        ))
    }

    /// Whether a row of the report says that nothing is lost by holding its switch.
    fn is_needless(&self, line: &str) -> bool {
        let columns: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| {
            columns
                .get(at)
                .and_then(|one| one.parse::<i64>().ok())
                .unwrap_or(0)
        };
        let (texts, examples, found, covered) = (number(10), number(11), number(12), number(13));
        let is_gain = texts < self.stop as i64 && found >= 0 && found >= covered;
        examples == 0 && (texts == 0 || is_gain)
    }
}

/// The rows of the switches, the largest first.
fn order(rows: &str) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = rows
        .lines()
        .map(|row| row.split('\t').map(str::to_owned).collect())
        .collect();
    let size = |row: &Vec<String>| {
        row[4].parse::<usize>().unwrap_or(0) - row[3].parse::<usize>().unwrap_or(0)
    };
    rows.sort_by_key(|row| std::cmp::Reverse(size(row)));
    rows
}

/// The answers at which a switch is held, first the one that makes its code needless.
fn answers(row: &[String]) -> Vec<bool> {
    let all = if row[5] == "and" {
        [true, false]
    } else {
        [false, true]
    };
    all.into_iter()
        .filter(|answer| row[if *answer { 6 } else { 7 }] == "1")
        .collect()
}

impl Measure {
    /// Scans texts again until enough of them change.
    fn changes(&self, other: &[u32], stop: usize, most: usize) -> Change {
        let mut change = Change::default();
        let workers = self.workers.len();
        for part in self.queue(other, most).chunks(48 * workers) {
            for (number, worker) in self.workers.iter().enumerate() {
                let own = part.iter().copied().filter(|at| at % workers == number);
                let _ = worker.ask.send(own.collect());
            }
            change.looked += part.len();
            for worker in &self.workers {
                for (at, letters) in worker.answer.recv().unwrap_or_default() {
                    change.add(&self.texts[at], letters);
                }
            }
            if change.texts >= stop || stop < usize::MAX && change.examples >= EXAMPLES_MAX {
                break;
            }
        }
        change
    }

    /// Returns a part of the texts, unlike ones first, and all examples among them.
    fn queue(&self, other: &[u32], most: usize) -> Vec<usize> {
        let all = || other.iter().map(|at| *at as usize);
        let step = (other.len() / most.max(1)).max(1);
        let examples = all().filter(|at| self.texts[*at].is_example());
        let queue: BTreeSet<usize> = all().step_by(step).chain(examples).collect();
        let mut queue: Vec<usize> = queue.into_iter().collect();
        queue.sort_by_key(|at| at.wrapping_mul(0x9e37_79b9) & 0xffff);
        queue
    }
}

impl Change {
    fn add(&mut self, text: &Text, letters: Letters) {
        if text.is_example() {
            self.examples += 1;
        } else {
            self.texts += 1;
            self.found += letters.found;
            self.covered += letters.covered;
        }
        self.files.insert(text.file.clone());
    }
}

type Seen = Vec<[Vec<u32>; 2]>;

/// Starts the threads; returns for each switch the texts in which it answered false, and true.
fn start(texts: &'static [Text], threads: usize) -> (Vec<Worker>, Seen) {
    let (tell, told) = mpsc::channel();
    let workers = (0..threads).map(|number| {
        let (ask, asked) = mpsc::channel();
        let (reply, answer) = mpsc::channel();
        let tell = tell.clone();
        let own = (number..texts.len()).step_by(threads);
        let work = move || {
            let mut part = Part::new(texts);
            own.for_each(|at| part.scan(at, &tell));
            drop(tell);
            for queue in asked {
                let _ = reply.send(part.changed(queue));
            }
        };
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        thread.spawn(work).expect("threads can be started");
        Worker { ask, answer }
    });
    let workers: Vec<Worker> = workers.collect();
    drop(tell);
    let mut seen: Seen = (0..switch::COUNT).map(|_| Default::default()).collect();
    for (count, (at, answers)) in told.into_iter().enumerate() {
        for (seen, answer) in seen.iter_mut().zip(answers) {
            for (value, seen) in seen.iter_mut().enumerate() {
                if answer >> value & 1 == 1 {
                    seen.push(at as u32);
                }
            }
        }
        if count % 2000 == 0 {
            eprintln!("scanned {count} of {}", texts.len());
        }
    }
    (workers, seen)
}

/// Texts as a thread scans them, and their findings before any change.
struct Part {
    texts: &'static [Text],
    detectors: [Detector; 2],
    before: HashMap<usize, (Found, Letters)>,
}

impl Part {
    fn new(texts: &'static [Text]) -> Self {
        Part {
            texts,
            detectors: detectors(),
            before: HashMap::new(),
        }
    }

    fn scan(&mut self, at: usize, tell: &mpsc::Sender<(usize, Vec<u8>)>) {
        let text = &self.texts[at];
        let found: Found = std::array::from_fn(|depth| scan(&self.detectors[depth], text));
        let _ = tell.send((at, switch::seen()));
        let letters = letters(text, &found);
        self.before.insert(at, (found, letters));
    }

    /// Returns the texts whose findings changed, and by how many letters.
    fn changed(&self, queue: Vec<usize>) -> Vec<(usize, Letters)> {
        let changed = queue.into_iter().filter_map(|at| {
            let text = &self.texts[at];
            let (before, letters_before) = &self.before[&at];
            let mut found = before.clone();
            // The examples are those of careful scans.
            let first = usize::from(text.is_example());
            for (found, detector) in found.iter_mut().zip(&self.detectors).skip(first) {
                *found = scan(detector, text);
            }
            if &found == before {
                return None;
            }
            let now = letters(text, &found);
            let change = Letters {
                found: now.found - letters_before.found,
                covered: now.covered - letters_before.covered,
            };
            Some((at, change))
        });
        changed.collect()
    }
}

fn texts(path: &str) -> std::io::Result<Vec<Text>> {
    let file = std::io::BufReader::new(std::fs::File::open(path)?);
    let rows = file.lines().map(|line| {
        let row: Value = serde_json::from_str(&line?)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |name: &str| row[name].as_array().cloned().unwrap_or_default();
        let number = |value: &Value| value.as_u64().unwrap_or_default() as usize;
        Ok(Text {
            file: text(&row["file"]),
            text: text(&row["text"]),
            labels: list("spans")
                .iter()
                .map(|one| {
                    (
                        number(&one["start"]),
                        number(&one["end"]),
                        text(&one["type"]).to_lowercase(),
                    )
                })
                .collect(),
            only: row["only"].as_str().map(str::to_owned),
            types: list("types")
                .iter()
                .map(|one| text(one).to_lowercase())
                .collect(),
        })
    });
    rows.collect()
}
