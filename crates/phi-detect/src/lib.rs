//! Finds protected health information (PHI) in text.
//!
//! Text in, findings out: no I/O, no clock, no randomness, no `unsafe` of yours to check. The same text gives
//! the same findings on every machine. The model that decides about names is inside; nothing is downloaded.
//!
//! # Scan
//!
//! [`Detector::scan`] returns the kind and the place of each piece of PHI. Spans are byte ranges on character
//! boundaries; [`CodePoints`] turns them into the offsets that Python, JavaScript clients and JSON interfaces count in.
//!
//! ```
//! use phi_detect::Detector;
//!
//! let text = "Patient Jane Roe, MRN 4829137, was seen today.";
//! let detector = Detector::default();
//! let findings = detector.scan(text);
//! let found: Vec<_> = findings.iter().map(|one| (one.kind.code(), &text[one.span.clone()])).collect();
//! assert_eq!(found, [("name", "Jane Roe"), ("mrn", "4829137")]);
//! ```
//!
//! # Mask
//!
//! [`Detector::mask`] writes placeholders, [`Detector::redact`] leaves nothing, and [`Detector::replace`] does what
//! you say. Each looks at its own result until nothing is found in it.
//!
//! ```
//! let detector = phi_detect::Detector::default();
//! let masked = detector.mask("Call Jane Roe at (212) 555-0142.")?;
//! assert_eq!(masked, "Call [NAME] at [PHONE].");
//! # Ok::<(), phi_detect::StillHoldsPhi>(())
//! ```
//!
//! # Your settings
//!
//! [`Settings`] has thresholds by kind and the formats of your site's record numbers. A kind that is off by default
//! ([`PhiRule::is_on_by_default`]) is looked for once it has a threshold; a threshold of 1 leaves out whatever is not certain.
//!
//! ```
//! use phi_detect::{Detector, PhiKind, Settings};
//!
//! let detector = Detector::new(Settings {
//!     thresholds: vec![(PhiKind::from_code("npi").expect("a kind of the table"), 0.5)],
//!     mrn_formats: vec!["KH-999999".into()],
//!     ..Settings::default()
//! })?;
//! let codes: Vec<_> = detector.scan("NPI 1234567893, seen as KH-204811").iter().map(|one| one.kind.code()).collect();
//! assert_eq!(codes, ["npi", "mrn"]);
//! # Ok::<(), phi_detect::SettingsError>(())
//! ```
//!
//! # Batches
//!
//! A detector is cheap to share and has no state: scan on as many threads as you have. The order of the results is
//! that of the texts.
//!
//! ```
//! use phi_detect::Detector;
//!
//! let texts = ["SSN 536-22-8741", "Nothing to see", "Born 4 July 1961, DOB 07/04/1961"];
//! let detector = Detector::default();
//! let counts: Vec<usize> = std::thread::scope(|scope| {
//!     let scans: Vec<_> = texts.iter().map(|text| scope.spawn(|| detector.scan(text).len())).collect();
//!     scans.into_iter().map(|scan| scan.join().expect("a scan does not panic")).collect()
//! });
//! assert_eq!(counts[..2], [1, 0]);
//! ```
//!
//! Text from strangers can be long: [`Detector::scan_while`] stops when you say so, and its findings then say that they
//! are not complete. `examples/` has programs for all of this.

// The modules below are in the order in which a text passes through them.

// What the kinds of PHI are, and the words and labels that all rooms know.
mod kinds;
mod labels;
mod lexicon;
#[expect(clippy::disallowed_types, reason = "made by the owner")]
mod settings;
mod spelling;
mod word_list;
mod words;

// Text as read: disguises undone.
mod view;

// Documents inside it.
mod encoded;
mod structure;

// Prepared text, and the context of a place in it.
mod bytes64;
mod bytes8;
mod context;
mod digits;
mod misread;
mod page;
#[expect(
    clippy::disallowed_types,
    reason = "weights, and windows of a constant length"
)]
mod reader;
mod spelled;

// How each kind is found.
mod beyond;
mod candidate;
mod dates;
mod identifier;
mod people;
mod places;
mod rules;

// What the model adds.
#[expect(
    clippy::disallowed_types,
    reason = "counted where it is called, by `DECIDING_BYTES`"
)]
mod decide;
mod doubts;
#[expect(
    clippy::disallowed_types,
    reason = "weights, and windows of a constant length"
)]
mod names;
mod tidy;

// One finding per piece of text.
mod budget;
mod extra;
#[expect(clippy::disallowed_types, reason = "findings are given away")]
mod finding;
mod resolve;

// What is made of findings.
mod code_points;
mod depth;
mod generalize;
mod profile;
mod replace;

pub use code_points::CodePoints;
pub use decide::Explanation;
pub use depth::Depth;
pub use extra::{Extra, FindsExtra, own_kinds};
pub use finding::{Finding, Findings};
pub use generalize::{ZIP_TABLE, ZipTable};
pub use identifier::{is_ordinary as is_ordinary_identifier, may_be_joined_name};
pub use kinds::{PhiKind, PhiKinds, PhiRule, RULES};
pub use profile::Profile;
pub use replace::StillHoldsPhi;
pub use settings::{Settings, SettingsError};
pub use spelling::Spelling;

use std::ops::Range;
use std::sync::Arc;

use budget::{Budget, List};
use candidate::Candidate;
use extra::Extras;
use labels::Meaning;
use names::Level;
use page::{Field, Page};
use people::AssistantNames;
use view::View;

/// Changes whenever the findings for some text may change: the release, and a fingerprint of rules, words and
/// weights. Written into every audit record.
pub const VERSION: &str = concat!(
    "phi-detect ",
    env!("CARGO_PKG_VERSION"),
    "+",
    env!("PHI_DETECT_FINGERPRINT")
);

/// Score from which a name is searched for in the whole text.
const SURE_NAME: f32 = 0.75;

/// Score from which a name is likely in a text with `COMPANY_MIN` sure names.
const LIKELY_NAME: f32 = 0.6;
const COMPANY_MIN: usize = 3;

/// Score from which a name counts among those that show that a text is about people.
const SURE_COMPANY: f32 = 0.85;

/// Text coded within text is decoded this often.
const CODING_DEPTH_MAX: usize = 2;

/// Memory that deciding takes per candidate, beside the candidates themselves.
const DECIDING_BYTES: usize = 112;

/// Scans text. Build one per account settings and share it.
#[derive(Debug, Clone)]
pub struct Detector {
    settings: Settings,
    /// Kernels that run the name model, if any.
    names: Option<Level>,
    depth: Depth,
    /// Finds what the account adds.
    extras: Option<Extras>,
}

impl Default for Detector {
    fn default() -> Self {
        Detector {
            settings: Settings::default(),
            names: Some(Level::best()),
            depth: Depth::default(),
            extras: None,
        }
    }
}

impl Detector {
    /// Makes a detector with these settings; wrong settings are refused with a message for the owner.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            names: Some(Level::best()),
            depth: Depth::default(),
            extras: None,
        })
    }

    /// Sets the depth of the detector.
    #[must_use]
    pub fn with_depth(mut self, depth: Depth) -> Self {
        self.depth = depth;
        self
    }

    /// Adds what an account finds by itself.
    #[must_use]
    pub fn with_extras(mut self, extras: Arc<dyn FindsExtra>) -> Self {
        self.extras = Some(Extras(extras));
        self
    }

    /// Says of every candidate of a text what spoke for and against it.
    #[expect(
        clippy::disallowed_types,
        reason = "explanations are asked for, not part of a scan"
    )]
    pub fn explain(&self, text: &str) -> Vec<Explanation> {
        self.explained(text, false)
    }

    /// Explains a text as `explain` does, with the reader asked about every candidate: what the decision is fitted on.
    #[doc(hidden)]
    #[expect(
        clippy::disallowed_types,
        reason = "explanations are asked for, not part of a scan"
    )]
    pub fn evidence(&self, text: &str) -> Vec<Explanation> {
        self.explained(text, true)
    }

    #[expect(
        clippy::disallowed_types,
        reason = "explanations are asked for, not part of a scan"
    )]
    fn explained(&self, text: &str, reads_all: bool) -> Vec<Explanation> {
        let budget = Budget::for_text(&|| true, text.len());
        let mut explained = decide::Explained {
            reads_all,
            ..Default::default()
        };
        self.find(text, None, 0, &budget, Some(&mut explained));
        explained.all
    }

    /// Whether findings of a kind are looked for at all.
    pub fn looks_for(&self, kind: PhiKind) -> bool {
        match kind.is_own() {
            true => own_kinds(self).is_some_and(|own| own.contains(&kind)),
            false => self.settings.looks_for(kind) && self.settings.reports(kind),
        }
    }

    /// The least score of a finding of a kind.
    pub fn threshold(&self, kind: PhiKind) -> f32 {
        match self.depth {
            Depth::Careful => self.settings.cut(kind),
            Depth::Fast => self.settings.threshold(kind),
        }
    }

    /// Finds PHI in a text without a field: a message, a note, a document.
    pub fn scan(&self, text: &str) -> Findings {
        self.scan_while(None, text, &|| true)
    }

    /// Finds PHI in the value of a named field, whose name may give it a meaning (`("birthDate", "1970-01-02")`).
    pub fn scan_field(&self, name: &str, text: &str) -> Findings {
        self.scan_while(Some(name), text, &|| true)
    }

    /// Scans within limits: `has_time` is asked every few KiB of text, and at the first `false` the scan ends with the
    /// findings so far. These then say that they are not complete.
    pub fn scan_while(
        &self,
        field: Option<&str>,
        text: &str,
        has_time: &dyn Fn() -> bool,
    ) -> Findings {
        let budget = Budget::for_text(has_time, text.len());
        let list = self.find(text, field, 0, &budget, None);
        Findings::new(list.into_parts().0, !budget.is_spent())
    }

    /// Whether a text holds a label, so that a value may follow in the next text. Cheap: nothing is scanned.
    pub fn has_label(&self, text: &str) -> bool {
        let budget = Budget::for_text(&|| true, text.len());
        let view = View::within(&budget, text);
        let page = Page::within(Some(&budget), view.text(), budget.memory().list());
        !page.labels.is_empty()
    }

    /// Finds the name of a person in an identifier without spaces: a key of data, the name of a function or
    /// participant, a model id (`patient_maria_delgado`, `gpt-maria-delgado`). Everything else that an
    /// identifier can hold is [`Detector::scan`]'s to find. Cheap: the model is asked only about pairs of unknown words.
    pub fn scan_identifier(&self, text: &str) -> Findings {
        let kind = PhiKind::NAME;
        let is_wanted =
            self.settings.reports(kind) && identifier::SCORE >= self.settings.threshold(kind);
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
            hides: PhiKinds::default(),
        });
        Findings::new(finding.into_iter().collect(), true)
    }

    /// Scans a text that may be the value of a field, `depth` codings deep.
    fn find(
        &self,
        text: &str,
        field: Option<&str>,
        depth: usize,
        budget: &Budget<'_>,
        mut explained: Option<&mut decide::Explained>,
    ) -> List<Finding> {
        let memory = budget.memory();
        let view = View::within(budget, text);
        let fields = Self::fields(view.text(), field, budget);
        let page = Page::within(Some(budget), view.text(), fields);
        let mended = misread::mend(&page);
        let page = match &mended {
            Some(mended) => Page::within(Some(budget), mended, page.fields),
            None => page,
        };
        let mut candidates = memory.list();
        rules::find_all(&page, &self.settings, &mut candidates);
        let is_careful = self.depth == Depth::Careful && self.names.is_some();
        let mut offered = if is_careful {
            candidates.clone()
        } else {
            memory.list()
        };
        self.find_by_model(&page, budget, &mut candidates, &mut offered);
        rules::find_numbers_again(&page, &self.settings, &mut candidates);
        let programs = AssistantNames::of(&page, &candidates);
        programs.leave_out(&page, &mut candidates);
        let known = candidates.len();
        self.find_by_names(&page, &mut candidates);
        programs.leave_out_from(known, &page, &mut candidates);
        let beyond = self.beyond(&page, &mut candidates, &mut offered);
        if is_careful {
            let told = explained.as_deref_mut();
            let proposed = (candidates, offered, beyond);
            candidates = self.decided(&page, proposed, budget, told);
            for one in explained.into_iter().flat_map(|told| &mut told.all) {
                one.span = view.to_source(&one.span);
            }
        } else {
            candidates.extend(beyond);
            candidates.retain(|one| one.score >= self.settings.threshold(one.kind));
        }
        if let Some(extras) = &self.extras {
            extras.add(field, &page, &mut candidates);
        }
        if depth < CODING_DEPTH_MAX {
            let scan = |decoded: &str| self.find(decoded, None, depth + 1, budget, None);
            encoded::find(&page, &scan, &mut candidates);
        }
        drop(page);
        for candidate in candidates.iter_mut() {
            candidate.span = without_aside(text, view.to_source(&candidate.span));
        }
        candidates.retain(|one| self.settings.reports(one.kind));
        let mut findings = resolve::resolve(text, candidates);
        self.take_commas(text, &mut findings);
        findings
    }

    /// Proposes values of the kinds beyond the eight, and takes those that labels found out of the candidates.
    fn beyond(
        &self,
        page: &Page<'_>,
        candidates: &mut List<Candidate>,
        offered: &mut List<Candidate>,
    ) -> List<Candidate> {
        if !self.settings.looks_beyond() {
            return page.memory().list();
        }
        let labelled = candidates.extract_if(0, |one| !one.kind.is_core());
        offered.retain(|one| one.kind.is_core());
        let mut beyond = beyond::propose(page, &self.settings);
        beyond.extend(labelled);
        beyond
    }

    /// The fields of a text, which may itself be the value of a field.
    fn fields(text: &str, field: Option<&str>, budget: &Budget<'_>) -> List<Field> {
        let mut fields = structure::fields(text, budget);
        let meaning = field.and_then(labels::of_key);
        // A bare `record_id` has nothing beside it that could speak of a person.
        let meaning = meaning.filter(|meaning| *meaning != Meaning::MrnBeside);
        if fields.is_empty() && meaning.is_some() {
            fields.push(Field::new(0..text.len(), meaning));
        }
        fields
    }

    /// Extends places over the comma before their state, if they are generalized.
    fn take_commas(&self, text: &str, findings: &mut List<Finding>) {
        let generalized = &self.settings.generalized;
        let is_place =
            |one: &Finding| one.kind.code() == "place" && generalized.contains(&one.kind);
        for one in findings.iter_mut().filter(|one| is_place(one)) {
            one.span.end += beyond::comma_before_state(text, one.span.end).unwrap_or(0);
        }
    }

    /// Adds what the model finds and the text speaks for; to `offered`, all that the model finds, if it is to be decided about.
    fn find_by_model(
        &self,
        page: &Page<'_>,
        budget: &Budget<'_>,
        candidates: &mut List<Candidate>,
        offered: &mut List<Candidate>,
    ) {
        let Some(level) = self.names.filter(|_| has_context(page.text)) else {
            return;
        };
        let mut model = page.memory().list();
        let has_settled = page.fields.iter().any(|field| field.is_settled);
        let is_settled = |at: usize| page.field_at(at).is_some_and(|field| field.is_settled);
        let is_unwanted: Option<&dyn Fn(usize) -> bool> = has_settled.then_some(&is_settled);
        names::tag(level, page.text, is_unwanted, budget, &mut model);
        let suspected = model.extract_if(0, |one| one.rule == names::SUSPECTED);
        if self.depth == Depth::Careful {
            offered.extend(model.iter().chain(&suspected).cloned());
        }
        let mut model = tidy::tidy(page, &model);
        let threshold = |kind| self.settings.threshold(kind);
        doubts::add_suspected(page, threshold, candidates, suspected, &mut model);
        doubts::leave_out_lonely(page, &mut model);
        doubts::leave_out_strays(page, threshold, candidates, &mut model);
        doubts::leave_out_unseen(page, &model, candidates);
        candidates.extend(model);
    }

    /// Decides about candidates; keeps all of them if there is no memory to decide.
    fn decided(
        &self,
        page: &Page<'_>,
        (candidates, offered, beyond): (List<Candidate>, List<Candidate>, List<Candidate>),
        budget: &Budget<'_>,
        explained: Option<&mut decide::Explained>,
    ) -> List<Candidate> {
        let bytes = (candidates.len() + offered.len() + beyond.len()) * DECIDING_BYTES;
        let Some(_deciding) = page.memory().hold(bytes) else {
            return candidates;
        };
        let (kept, _kept_memory) = candidates.into_parts();
        let (offered, _offered_memory) = offered.into_parts();
        let (beyond, _beyond_memory) = beyond.into_parts();
        let proposed = decide::Proposed {
            kept,
            offered,
            beyond,
        };
        let decided = decide::decide(page, &self.settings, proposed, budget, explained);
        page.memory().collect(decided)
    }

    /// Finds PHI by the names found so far: the same people elsewhere, and the values beside them.
    fn find_by_names(&self, page: &Page<'_>, candidates: &mut List<Candidate>) {
        let sure_company = names_from(SURE_COMPANY, candidates).take(COMPANY_MIN);
        let sure_from = if sure_company.count() == COMPANY_MIN {
            LIKELY_NAME
        } else {
            SURE_NAME
        };
        let sure = names_from(sure_from, candidates);
        let sure = page
            .memory()
            .collect(sure.filter(|name| !people::is_in_program(page, name)));
        rules::find_by_names(page, &self.settings, &sure, rules::AGAIN, candidates);
        rules::find_by_names(page, &self.settings, &sure, rules::BEDS, candidates);
        rules::find_by_names(page, &self.settings, &sure, rules::SPEAKERS, candidates);
        let threshold = self.settings.threshold(PhiKind::NAME);
        let mut likely = page.memory().collect(names_from(threshold, candidates));
        likely.sort_unstable_by_key(|name| name.start);
        rules::find_beside_names(page, &self.settings, &likely, candidates);
    }

    /// Removes the name model, for measuring the rules alone.
    pub fn without_names(mut self) -> Self {
        self.names = None;
        self
    }

    /// Selects the kernels for processors of ten years ago, for measuring.
    pub fn on_older_processor(mut self) -> Self {
        self.names = Some(Level::older());
        self
    }

    /// Selects the kernels for any processor of this kind, for measuring.
    pub fn on_common_processor(mut self) -> Self {
        self.names = Some(Level::common());
        self
    }

    /// Selects the kernels in plain Rust, as on unknown kinds of processors.
    pub fn in_plain_rust(mut self) -> Self {
        self.names = Some(Level::Portable);
        self
    }
}

/// The text as a reader takes it: look-alike letters, invisible signs, escapes and unusual blanks are the plain ones.
///
/// ```
/// assert_eq!(phi_detect::undisguised("５３６\u{200b}-22"), "536-22");
/// ```
pub fn undisguised(text: &str) -> String {
    let budget = Budget::for_text(&|| true, text.len());
    View::within(&budget, text).text().to_owned()
}

/// The names among the candidates that have this score at least.
fn names_from(score: f32, candidates: &[Candidate]) -> impl Iterator<Item = Range<usize>> {
    let names = candidates.iter().filter(|one| one.kind == PhiKind::NAME);
    names
        .filter(move |one| one.score >= score)
        .map(|one| one.span.clone())
}

/// Whether there is anything to judge a name by. A word alone (`lookup`, `gpt-4o`, `call_1`) is an
/// identifier of some program far more often than a name; rules with a label still see it.
fn has_context(text: &str) -> bool {
    text.trim().contains(char::is_whitespace)
}

/// Cuts at a long dash with a word of the sentence behind it: "Roe—says". The view shows every dash as a hyphen.
fn without_aside(text: &str, span: Range<usize>) -> Range<usize> {
    let part = text.get(span.clone()).filter(|part| !part.is_ascii());
    let aside = part.and_then(|part| {
        let dash = part.find('—')?;
        let is_lower = part[dash..].chars().nth(1)?.is_lowercase();
        (is_lower && part[..dash].chars().any(char::is_uppercase)).then_some(dash)
    });
    span.start..aside.map_or(span.end, |dash| span.start + dash)
}
