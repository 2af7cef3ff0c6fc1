//! Finds protected health information (PHI) in text.
//!
//! Text in, findings out: no I/O, no clock, no randomness. The same text gives
//! the same findings on every machine.

mod budget;
mod candidate;
mod context;
mod dates;
mod digits;
mod encoded;
mod finding;
mod identifier;
mod kind;
mod labels;
mod lexicon;
mod misread;
mod names;
mod page;
mod people;
mod places;
mod resolve;
mod rules;
mod spelled;
mod spelling;
mod structure;
mod swar;
mod view;
mod words;

pub use finding::{Finding, Findings};
pub use kind::PhiKind;
pub use rules::{PhiRule, RULES};
pub use spelling::Spelling;

use budget::Budget;
use candidate::Candidate;
use labels::Meaning;
use names::Level;
use page::{Field, Page};
use view::View;

/// Changes whenever the findings for some text may change; written into every audit record.
pub const VERSION: &str = concat!("phi-detect ", env!("CARGO_PKG_VERSION"));

/// What an account may set about detection. The default suits most sites.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Score below which findings of a kind are dropped, by code (`"name"`); kinds not named keep their default.
    pub thresholds: Vec<(PhiKind, f32)>,
    /// Site formats of medical record numbers: `9` a digit, `A` a letter, `X` either, anything else itself.
    pub mrn_formats: Vec<String>,
}

/// From this score on a single letter is taken for a name.
const SURE_INITIAL: f32 = 0.6;

/// From this score on a name is looked for in the whole text.
const SURE_NAME: f32 = 0.75;

/// Text coded within text is decoded this often.
const CODING_DEPTH_MAX: usize = 2;

/// Scans text. Build one per account settings and share it.
#[derive(Debug, Clone)]
pub struct Detector {
    settings: Settings,
    /// Which code runs the name model, if any.
    names: Option<Level>,
}

impl Default for Detector {
    fn default() -> Self {
        Detector {
            settings: Settings::default(),
            names: Some(Level::best()),
        }
    }
}

impl Detector {
    /// A detector with these settings; wrong settings are refused with a message for the owner.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        for &(kind, threshold) in &settings.thresholds {
            if !(0.0..=1.0).contains(&threshold) {
                let message = format!("the threshold of {} must lie between 0 and 1", kind.code());
                return Err(SettingsError(message));
            }
        }
        for format in &settings.mrn_formats {
            let digits = format
                .bytes()
                .filter(|byte| matches!(byte, b'9' | b'X'))
                .count();
            if digits < 4 || format.len() > 32 || !format.is_ascii() {
                let message = format!(
                    "the record number format {format:?} needs at least 4 of 9 or X, in at most 32 plain characters"
                );
                return Err(SettingsError(message));
            }
        }
        Ok(Self {
            settings,
            names: Some(Level::best()),
        })
    }

    /// Finds PHI in a text that stands alone: a message, a note, a document.
    pub fn scan(&self, text: &str) -> Findings {
        self.scan_while(None, text, &|| true)
    }

    /// Finds PHI in the value of a named field, where the name may give meaning: `("birthDate", "1970-01-02")`.
    pub fn scan_field(&self, name: &str, text: &str) -> Findings {
        self.scan_while(Some(name), text, &|| true)
    }

    /// The same within limits: `has_time` is asked every few KiB of text, and once it says no the scan ends with
    /// what it has. The findings then say that they are not complete.
    pub fn scan_while(
        &self,
        field: Option<&str>,
        text: &str,
        has_time: &dyn Fn() -> bool,
    ) -> Findings {
        let budget = Budget::new(has_time);
        let list = self.find(text, field.and_then(labels::of_key), 0, &budget);
        Findings::new(list, !budget.is_spent())
    }

    /// Finds the name of a person in an identifier without spaces: a key of data, the name of a function or
    /// participant, a model id (`patient_maria_delgado`, `gpt-maria-delgado`). Everything else that an
    /// identifier can hold is [`Detector::scan`]'s to find. Cheap: the model is asked only about pairs of unknown words.
    pub fn scan_identifier(&self, text: &str) -> Findings {
        let kind = rules::NAME_KIND;
        let is_wanted = identifier::SCORE >= self.threshold(kind);
        let score = |words: &str| {
            let findings = self.scan_field("name", words);
            let is_whole = |one: &&Finding| one.kind == kind && one.span.len() == words.len();
            findings.iter().find(is_whole).map_or(0.0, |one| one.score)
        };
        let name = identifier::find(text, score).filter(|_| is_wanted);
        let finding = name.map(|span| Finding {
            kind,
            span,
            score: identifier::SCORE,
            rule: identifier::RULE,
        });
        Findings::new(finding.into_iter().collect(), true)
    }

    /// Scans a text that may be the value of a field, `depth` codings deep.
    fn find(
        &self,
        text: &str,
        meaning: Option<Meaning>,
        depth: usize,
        budget: &Budget<'_>,
    ) -> Vec<Finding> {
        let view = View::new(text);
        let mut fields = structure::fields(view.text());
        if fields.is_empty() && meaning.is_some() {
            fields.push(Field::new(0..view.text().len(), meaning));
        }
        let page = Page::new(view.text(), fields);
        let mended = misread::mend(&page);
        let page = match &mended {
            Some(mended) => Page::new(mended, page.fields),
            None => page,
        }
        .within(budget);
        let mut candidates = Vec::new();
        rules::find_all(&page, &self.settings, &mut candidates);
        if let Some(level) = self.names.filter(|_| has_context(page.text)) {
            let mut model = Vec::new();
            let has_settled = page.fields.iter().any(|field| field.is_settled);
            let is_settled = |at: usize| page.field_at(at).is_some_and(|field| field.is_settled);
            let is_unwanted: Option<&dyn Fn(usize) -> bool> = has_settled.then_some(&is_settled);
            names::tag(level, page.text, is_unwanted, budget, &mut model);
            let tidied = model
                .iter()
                .flat_map(|one| pieces(&page, one))
                .map(|one| without_loose_edges(&page, whole(&page, one)));
            // Asked once: asking for every candidate would take quadratic time.
            let has_markup = page.text.contains("</");
            candidates.extend(tidied.filter(|one| is_plausible(&page, one, has_markup)));
        }
        self.find_by_names(&page, &mut candidates);
        if depth < CODING_DEPTH_MAX {
            let scan = |decoded: &str| self.find(decoded, None, depth + 1, budget);
            encoded::find(&page, &scan, &mut candidates);
        }
        for candidate in &mut candidates {
            candidate.span = without_aside(text, view.to_source(&candidate.span));
        }
        resolve::resolve(text, candidates, |kind| self.threshold(kind))
    }

    /// What the names found so far give away: the same people elsewhere, and what stands beside them.
    fn find_by_names(&self, page: &Page<'_>, candidates: &mut Vec<Candidate>) {
        let names_from = |score: f32, candidates: &[Candidate]| -> Vec<_> {
            let is_name = |one: &&Candidate| one.kind == rules::NAME_KIND && one.score >= score;
            candidates
                .iter()
                .filter(is_name)
                .map(|one| one.span.clone())
                .collect()
        };
        let sure = names_from(SURE_NAME, candidates);
        rules::find_names_again(page, &self.settings, &sure, candidates);
        let likely = names_from(self.threshold(rules::NAME_KIND), candidates);
        rules::find_beside_names(page, &self.settings, &likely, candidates);
    }

    /// The same detector without the name model, for measuring the rules alone.
    pub fn without_names(mut self) -> Self {
        self.names = None;
        self
    }

    /// The same detector as it runs on any processor of this kind, for measuring.
    pub fn on_common_processor(mut self) -> Self {
        self.names = Some(Level::common());
        self
    }

    /// The same detector in plain Rust, as it runs on kinds of processors we know nothing about.
    pub fn in_plain_rust(mut self) -> Self {
        self.names = Some(Level::Portable);
        self
    }

    fn threshold(&self, kind: PhiKind) -> f32 {
        self.settings
            .thresholds
            .iter()
            .find(|(one, _)| *one == kind)
            .map_or(kind.rule().threshold, |(_, threshold)| *threshold)
    }
}

/// Whether there is anything to judge a name by. A word alone (`lookup`, `gpt-4o`, `call_1`) is an
/// identifier of some program far more often than a name; rules with a label still see it.
fn has_context(text: &str) -> bool {
    text.trim().contains(char::is_whitespace)
}

/// Cuts at a long dash with a word of the sentence behind it: "Roe—says". The view shows every dash as a hyphen.
fn without_aside(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let aside = text.get(span.clone()).and_then(|part| {
        let dash = part.find('—')?;
        let is_lower = part[dash..].chars().nth(1)?.is_lowercase();
        (is_lower && part[..dash].chars().any(char::is_uppercase)).then_some(dash)
    });
    span.start..aside.map_or(span.end, |dash| span.start + dash)
}

/// Splits what cannot be one finding: at an empty line, between two people, at a bracket or quote that is not closed in it.
fn pieces(page: &Page<'_>, candidate: &Candidate) -> Vec<Candidate> {
    let text = page.slice(candidate.span.clone());
    let is_open = |open: u8, close: u8, at: usize| {
        text[at] == open
            && if open == close {
                text.iter().filter(|&&byte| byte == open).count() % 2 == 1
            } else {
                !text[at..].contains(&close)
            }
    };
    let mut cuts = vec![0];
    for at in 1..text.len() {
        let is_empty_line = text[at] == b'\n' && text[at - 1] == b'\n';
        let is_next_person = candidate.kind == rules::NAME_KIND && people::joins_two(text, at);
        if is_empty_line || is_next_person || is_open(b'(', b')', at) || is_open(b'"', b'"', at) {
            cuts.push(at);
        }
    }
    cuts.push(text.len());
    cuts.windows(2)
        .map(|cut| Candidate {
            span: candidate.span.start + cut[0]..candidate.span.start + cut[1],
            ..candidate.clone()
        })
        .collect()
}

/// Fits the span of what the model found to its form; a field of data ends where it ends.
fn whole(page: &Page<'_>, mut candidate: Candidate) -> Candidate {
    if page.field_at(candidate.span.start).is_none() {
        candidate.span = (candidate.kind.rule().complete)(page, candidate.span);
    }
    candidate
}

/// Cuts off a quote or bracket at an edge that has no partner inside, and what goes on beyond a field.
fn without_loose_edges(page: &Page<'_>, mut candidate: Candidate) -> Candidate {
    let text = page.slice(candidate.span.clone());
    let is_loose = |byte: u8| match byte {
        b'"' | b'\'' => text.iter().filter(|&&other| other == byte).count() == 1,
        b'(' => !text.contains(&b')'),
        b')' => !text.contains(&b'('),
        _ => byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b':'),
    };
    let front = text.iter().take_while(|&&byte| is_loose(byte)).count();
    let back = text
        .iter()
        .rev()
        .take_while(|&&byte| is_loose(byte))
        .count();
    if front + back < text.len() {
        candidate.span = candidate.span.start + front..candidate.span.end - back;
    }
    // What stands in a field of data ends with it.
    if let Some(field) = page
        .field_at(candidate.span.start)
        .filter(|field| field.meaning.is_some())
    {
        candidate.span.end = candidate.span.end.min(field.span.end);
    }
    candidate
}

/// What the model may not call PHI: a mask placeholder, the name of a tag, a lone letter.
fn is_plausible(page: &Page<'_>, candidate: &Candidate, has_markup: bool) -> bool {
    let text = page.slice(candidate.span.clone());
    let letters = text
        .iter()
        .filter(|&&byte| byte.is_ascii_alphanumeric() || byte >= 0x80)
        .count();
    let is_tag = matches!(page.byte_before(candidate.span.start), b'<' | b'/')
        && page.byte(candidate.span.end) == b'>'
        && has_markup;
    let is_settled = page.field_at(candidate.span.start).is_some_and(|field| {
        field.is_settled || field.meaning.is_some() && page.has_placeholder(&field.span)
    });
    let is_contradicted = is_settled || (candidate.kind.rule().contradicts)(page, &candidate.span);
    // Beside a placeholder the model sees its own reflection: had this been PHI, it would be masked too.
    let around = candidate.span.start.saturating_sub(1)..candidate.span.end + 1;
    // `Fields: [SSN]`: one word and a colon before a placeholder is its label.
    let is_label = page.byte(candidate.span.end) == b':'
        && !text.contains(&b' ')
        && page.has_placeholder(&(candidate.span.end..candidate.span.end + 3));
    // A letter is somebody only with its dot: "S. denies pain".
    let is_initial = letters == 1 && text.ends_with(b".") && candidate.score >= SURE_INITIAL;
    (letters >= 2 || is_initial)
        && !is_tag
        && !is_label
        && !is_contradicted
        && !page.has_placeholder(&around)
}

/// Why settings were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError(pub String);

impl std::fmt::Display for SettingsError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}
