//! Texts of one pattern again and again, and how what a scan of them takes grows with their length.

use std::fmt::Write as _;

use std::time::{Duration, Instant};

use phi_detect::{Detector, PhiKind};

use crate::meter::{Cost, cost_of};

/// Words of which patterns are made, besides those of the examples of every kind of PHI.
const TOKENS: &[&str] = &[
    // Initials, names and their company.
    "K.",
    "J. K.",
    "Jane",
    "Roe",
    "Roe-",
    "Dr.",
    "Mrs.",
    "Jane Roe",
    "ROE, JANE",
    "van der",
    "al-",
    "67F",
    "said",
    "bed 4",
    "R-O-E",
    "spelled",
    " as in ",
    "Regards,",
    "(Roe)",
    "Roe:",
    "307 Gold",
    "Claude",
    "the tool",
    "called",
    // Labels and heads.
    "SSN",
    "MRN",
    "DOB",
    "Name:",
    "Phone:",
    "patient",
    "Patient ID",
    "record_id",
    "b.",
    "ssn,dob,mrn",
    "| MRN | DOB |",
    "mrn dob ssn",
    "Address:",
    "born",
    "call",
    "ID:",
    // Values.
    "1",
    "12",
    "536-22-8741",
    "00482913",
    "03/14/1962",
    "415-555-0134",
    "a@b.co",
    "1428 Elm Street",
    "WA 99205",
    "B2044710",
    "five three six",
    "AB 12 34 56",
    "[SSN]",
    "1EG4-TE5-MK73",
    "14-Mar-62",
    "2025-02-03T10:20:30Z",
    // Data and markup.
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "{\"ssn\":",
    "{\"name\": \"",
    "\"value\":",
    "[[\"mrn\",\"1\"]]",
    "<td>",
    "<th>",
    "<tr>",
    "</",
    "<ssn>",
    "<a b=\"",
    "<label>",
    "PID|1||",
    "OBX|",
    "^",
    "~",
    "NM1*IL*1*",
    "BEGIN:VCARD",
    "(0010,0010)",
    "0000: 41 42",
    "INSERT INTO t (ssn) VALUES (",
    "INTO t (",
    "COPY t (ssn) FROM stdin;",
    "\\.",
    "function f(",
    "{'",
    "```",
    // Disguises.
    "&#53;",
    "%35",
    "\\u0035",
    "=35",
    "=\n",
    "uoted-",
    "\u{200b}",
    "\u{ff15}",
    "é",
    "**",
    "_",
    "__",
    "`",
    "> ",
    "// ",
    "NTM2LTIyLTg3NDE=",
    "<~",
    "~>",
    "35 33 36 2d",
    "5 3 6",
    "D O B",
    "<b>",
    "<!--",
    "\u{202e}",
    "½",
    "\u{fdfa}",
    // Separators and ends of lines.
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    ",",
    ", ",
    ";",
    ":",
    ": ",
    "=",
    "-",
    ".",
    ". ",
    "/",
    "|",
    "#",
    "(",
    ")",
    "@",
    "\u{c}",
];

/// Fields whose value a text may be.
const FIELDS: &[&str] = &["name", "ssn", "address", "notes", "mrn"];

/// Makes patterns: the same for the same seed.
pub struct Patterns {
    state: u64,
    words: Vec<String>,
}

/// Text that is repeated, and the name of its field.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// A few tokens.
    pub unit: String,
    /// `None` for a text without a field.
    pub field: Option<&'static str>,
}

impl Patterns {
    /// Makes patterns of this seed.
    pub fn new(seed: u64) -> Self {
        let examples =
            PhiKind::all().flat_map(|kind| kind.rule().hits.iter().chain(kind.rule().misses));
        let of_examples =
            examples.flat_map(|text| text.split_inclusive([' ', '\n', ',', '«', '»']));
        let of_examples = of_examples.map(|word| word.replace(['«', '»'], ""));
        let own = TOKENS.iter().map(|token| (*token).to_owned());
        let mut words: Vec<String> = of_examples
            .chain(own)
            .filter(|word| !word.is_empty())
            .collect();
        words.sort_unstable();
        words.dedup();
        Patterns {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            words,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 16).unwrap_or_default() % end.max(1)
    }
}

impl Iterator for Patterns {
    type Item = Pattern;

    fn next(&mut self) -> Option<Pattern> {
        let mut unit = String::new();
        for _ in 0..=self.below(6) {
            // Half of them from the list above, which has more of what opens and parts things.
            match self.below(2) {
                0 => unit.push_str(TOKENS[self.below(TOKENS.len())]),
                _ => {
                    let word = self.below(self.words.len());
                    unit.push_str(&self.words[word]);
                }
            }
            unit.push_str(["", " ", "\n", ", "][self.below(4)]);
        }
        let field = (self.below(8) == 0).then(|| FIELDS[self.below(FIELDS.len())]);
        Some(Pattern { unit, field })
    }
}

/// Costs of scans of texts of one pattern.
#[derive(Clone, Debug)]
pub struct Growth {
    /// Lengths in bytes, and what each took.
    pub costs: Vec<(usize, Cost)>,
    /// Whether every scan was complete.
    pub is_complete: bool,
}

/// The steepest growth that is taken for linear: lists grow by leaps, and processors have caches.
pub const SLOPE_MAX: f64 = 1.3;
/// Less memory and time than these say nothing about growth.
const BYTES_MIN: usize = 512 << 10;
const NANOS_MIN: u128 = 3_000_000;
/// Most memory that a scan may take: for any text, and for each of its bytes.
const MEMORY_MAX: (usize, usize) = (64 << 20, 12);
/// Time on the processor that a byte may take, unoptimised and with the larger reader.
const NANOS_PER_BYTE_MAX: u128 = 200_000;
/// A scan that takes longer is given up, and is then not complete.
const TIME_MAX: Duration = Duration::from_secs(900);

impl Growth {
    /// Scans texts of a pattern that have these lengths at least.
    pub fn of(detector: &Detector, pattern: &Pattern, lengths: &[usize]) -> Self {
        let mut growth = Growth {
            costs: Vec::new(),
            is_complete: true,
        };
        for length in lengths {
            let text = pattern
                .unit
                .repeat(length.div_ceil(pattern.unit.len().max(1)));
            let started = Instant::now();
            let has_time = || started.elapsed() < TIME_MAX;
            let (is_complete, cost) = cost_of(|| {
                let findings = detector.scan_while(pattern.field, &text, &has_time);
                findings.is_complete()
            });
            growth.is_complete &= is_complete;
            growth.costs.push((text.len(), cost));
        }
        growth
    }

    /// Exponents with which memory and time grow from the first length to the last; 0 if there is too little to judge.
    pub fn slopes(&self) -> (f64, f64) {
        let (Some((short, least)), Some((long, most))) = (self.costs.first(), self.costs.last())
        else {
            return (0.0, 0.0);
        };
        let longer = (*long as f64 / *short as f64).log2().max(f64::MIN_POSITIVE);
        let slope = |few: f64, many: f64| (many / few.max(1.0)).log2() / longer;
        let bytes = slope(least.bytes as f64, most.bytes as f64);
        let time = slope(least.time.as_nanos() as f64, most.time.as_nanos() as f64);
        let has_bytes = most.bytes >= BYTES_MIN;
        let has_time = most.time.as_nanos() >= NANOS_MIN;
        (
            if has_bytes { bytes } else { 0.0 },
            if has_time { time } else { 0.0 },
        )
    }

    /// Describes the fault, if there is one.
    pub fn fault(&self) -> Option<String> {
        let (bytes, time) = self.slopes();
        let mut fault = String::new();
        let faults = &mut fault;
        let mut add = |is_so: bool, what: &str| {
            if is_so {
                let _ = write!(faults, "{what}; ");
            }
        };
        add(bytes > SLOPE_MAX, "memory grows faster than the text");
        add(time > SLOPE_MAX, "time grows faster than the text");
        add(!self.is_complete, "it was not scanned completely");
        for (length, cost) in &self.costs {
            let most = MEMORY_MAX.0 + MEMORY_MAX.1 * length;
            add(cost.bytes > most, "it took too much memory");
            let nanos = cost.time.as_nanos() / (*length).max(1) as u128;
            add(nanos > NANOS_PER_BYTE_MAX, "it took too much time");
        }
        (!fault.is_empty()).then(|| format!("{fault}{:?}", self.costs))
    }
}

/// Measures a pattern at a length and twice that. Steep growth is measured again, over sixteen times the length.
pub fn judge(detector: &Detector, pattern: &Pattern, length: usize) -> (Growth, Option<String>) {
    let first = Growth::of(detector, pattern, &[length, 2 * length]);
    if pattern.unit.is_empty() || first.fault().is_none() {
        return (first, None);
    }
    let again = Growth::of(detector, pattern, &[length, 16 * length]);
    let fault = again.fault().and_then(|_| {
        // A busy processor may have been slow by chance.
        Growth::of(detector, pattern, &[length, 16 * length]).fault()
    });
    (again, fault)
}
