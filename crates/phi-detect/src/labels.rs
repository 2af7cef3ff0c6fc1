//! Labels: the words that say what a value is, in prose, in forms and in keys of data.
//!
//! Each kind of PHI names its own; the rest, which say that a value is something else, are here.
//! A phrase is matched word by word, so "Date of Birth",
//! "dateOfBirth", "date_of_birth" and "DATE-OF-BIRTH" are the same label.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

pub(crate) use crate::kinds::Meaning;

use crate::budget::Few;
use crate::kinds::PhiKind;
use crate::words::{AsIs, hash, hash_in};

/// Phrases that belong to no kind of PHI, each in lower case with single spaces, separated by `|`.
static OTHERS: &[(Meaning, &str)] = &[
    // One row per meaning.
    (Meaning::OtherId(None), OTHER_ID),
    (Meaning::Thing, THING),
    (Meaning::OtherDate, OTHER_DATE),
];

const OTHER_ID: &str = "account|acct|acct no|acct number|account number|account no|member|policy|group|group number|group no|\
    group id|payer id|payor id|medicaid|medi cal|claim|claim number|claim no|claim id|claims|auth|\
    auth number|authorization|authorization number|authorization no|auth no|prior auth|dea|dea number|dea no|\
    ncpdp|license|license number|license no|licence|driver license|drivers license|drivers license number|\
    driver license number|driver s license number|driver s license|dl|passport|passport number|plate|vin|\
    serial|serial number|serial no|sn|s n|bar no|bar number|mem no|device id|implant|accession|accession number|accession no|acc|rx|\
    rx number|rx no|prescription number|prescription no|badge|badge number|employee id|employee number|card|\
    employee no|staff no|staff number|staff id|payroll no|payroll number|matriculation number|\
    matriculation no|matrikelnummer|personalnr|personalnummer|versichertennr|inmate no|inmate number|\
    lic no|licence no|licence number|ni no|ni number|national insurance number|polizze|seat no|\
    seat number|locker no|locker number|lock no|lock number|ser no|accounts|\
    card number|credit card|debit card|visa|mastercard|amex|bank account|account ending|routing|\
    routing number|iban|nass|naf|numero de afiliacion|dni|nie|nif|episodio|numero de episodio|\
    colegiado|nocol|ncol|nhs|nhs number|ramq|encounter|encounter number|encounter no|encounter id|\
    visit number|visit no|visit id|visit|case|case number|case no|csn|fin|fin number|har|id|ids|confirmation|\
    confirmation number|confirmation no|reference|reference number|reference no|ref|ref no|ref number|\
    tracking|tracking number|specimen|specimen id|specimen number|order|order number|order no|order id|\
    orders|requisition|requisition number|ein|upin|taxonomy|clia|bin|pcn|grp|user id|student id|military id|\
    dod id|edipi|nhs no|chi number|chi no|hcn|health card|health card number|health card no|ohip|cns|cpf|curp|pesel|aadhaar|\
    aadhaar no|aadhaar number|abha|abha no|abha number|nam|vers nr|versichertennummer|versicherten nr|kvnr|pasaporte|passeport|reisepass";

const THING: &str = "birth control|birth control pill|birth weight|birth center|birth certificate|birth defect|birth plan|\
    birth mother|birth order|lot|lot number|lot no|batch|batch number|po number|stock no|stock nos|stock number|purchase order|\
    purchase order number|ticket|ticket number|incident|invoice|invoice number|sku|part|part number|part no|\
    model|model number|version|ver|build|release|commit|hash|sha|study|study id|study number|protocol|\
    protocol number|irb|nct|doi|isbn|issn|pmid|pmcid|ndc|icd|cpt|hcpcs|loinc|snomed|rxnorm|rxcui|drg|oid|\
    uuid|guid|udi|gtin|upc|asset|asset tag|grant|catalog|catalogue|cat no|control id|message id|\
    message control id|port|pid process|process|timestamp|epoch|unix time|population|total|quantity|qty|\
    count|sum|balance|amount|price|cost|dose|room|bed|bay|suite|page number|extension number|step|figure|\
    table|chapter|section|line number|row|column|error code|code|fedex|ups|usps|tracking no|barcode|fda|ide|\
    hl7 version|bar code|shipment|container|bag|unit bag|donor|rfid|mac|ip|channel|job|run|request id|\
    trace id|transaction|transaction id|session|session id";

const OTHER_DATE: &str = "fecha|fecha de ingreso|fecha ingreso|ingreso|fecha de alta|fecha alta|admit|admit date|adm date|\
    admission date|date of admission|admitted|admitted on|admission|discharge date|date of discharge|\
    discharged|discharged on|discharge|visit date|date of visit|dos|date of service|service date|service|\
    appointment|appt|appointment date|scheduled|scheduled for|surgery|surgery date|date of surgery|\
    procedure date|date of procedure|operation date|exp|expiration|expiration date|expires|expiry|\
    expiry date|effective|effective date|issued|date issued|signed on|dictated|date dictated|transcribed|lmp|\
    edd|edc|due date|due|last menstrual period|collected|collection date|received|resulted|drawn|reported|\
    onset|date of onset|date of injury|doi date|date of death|dod|died|deceased|death|expired on|follow up|\
    followup|f u|last seen|seen|last visit|next visit|started|start date|end date|stopped|filled|fill date|\
    last filled|vaccinated|vaccine|immunized|immunization|administered|given on|updated|created|modified|\
    date|dated|today|hired|hire date|filed|posted|printed|mri|ct|xray|x ray|echo|ekg|ultrasound|biopsy|\
    colonoscopy|mammogram|labs|lab|result|results|note|report|test|exam|diagnosed|dx|implanted|placed|\
    inserted|transplant|transplanted|married|wedding|anniversary";

/// Returns every phrase with its meaning: those of the kinds, then the rest.
fn all() -> impl Iterator<Item = (Meaning, &'static str)> {
    let of_kinds = PhiKind::all().flat_map(|kind| {
        let labels = kind.rule().labels.iter();
        labels.map(move |&(meaning, list)| match meaning {
            Meaning::OtherId(_) => (Meaning::OtherId(Some(kind)), list),
            own => (own, list),
        })
    });
    let lists = of_kinds.chain(OTHERS.iter().copied());
    lists.flat_map(|(meaning, list)| list.split('|').map(move |phrase| (meaning, phrase)))
}

/// Returns phrases that have another meaning as a whole key.
fn keys() -> impl Iterator<Item = (Meaning, &'static str)> {
    let lists = PhiKind::all().flat_map(|kind| kind.rule().keys.iter().copied());
    lists.flat_map(|(meaning, list)| list.split('|').map(move |phrase| (meaning, phrase)))
}

/// Returns all phrases of the table.
pub(crate) fn phrases() -> impl Iterator<Item = &'static str> {
    all().map(|(_, phrase)| phrase)
}

/// The most words a phrase has.
pub(crate) const LONGEST: usize = 6;

/// A phrase, or the beginning of one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Phrase {
    /// `None` for the beginning of a phrase.
    pub(crate) meaning: Option<Meaning>,
    /// Meaning as the whole key of a value, if it is another one.
    as_key: Option<Meaning>,
    /// Whether a longer phrase begins with it.
    pub(crate) goes_on: bool,
}

/// Every phrase and every beginning of one.
type Table = HashMap<u64, Phrase, AsIs>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    let mut row_of = |phrase: &str| {
        let mut key = 0;
        for word in phrase.split(' ') {
            // The empty phrase has a row, too.
            table.entry(key).or_default().goes_on = true;
            key = extend(key, hash(word.as_bytes()));
        }
        key
    };
    let phrases: Few<_> = all()
        .map(|(meaning, phrase)| (meaning, row_of(phrase)))
        .collect();
    let keys: Few<_> = keys()
        .map(|(meaning, phrase)| (meaning, row_of(phrase)))
        .collect();
    for (meaning, row) in phrases {
        table.entry(row).or_default().meaning.get_or_insert(meaning);
    }
    for (meaning, row) in keys {
        table.entry(row).or_default().as_key = Some(meaning);
    }
    table
});

/// Takes one more word, by its hash, into the key of a phrase; the empty phrase has key 0.
pub(crate) fn extend(key: u64, word: u64) -> u64 {
    key.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word
}

/// Returns the meaning of the phrase with this key.
pub(crate) fn meaning(key: u64) -> Option<Meaning> {
    phrase(key)?.meaning
}

/// Returns the phrase or beginning with this key; `None` if no phrase begins with these words.
pub(crate) fn phrase(key: u64) -> Option<Phrase> {
    TABLE.get(&key).copied()
}

/// Returns the meaning of the name of a field (`patientBirthDate`, `home_phone`, `PID.SSN`, `dob_raw`).
pub(crate) fn of_key(key: &str) -> Option<Meaning> {
    of_nested_key(None, key)
}

/// Returns the meaning of the name of a field, with that of the object round it if the two make a label (`patient.id`).
pub(crate) fn of_nested_key(outer: Option<&str>, key: &str) -> Option<Meaning> {
    // `{"a b": 1}`: a letter names a variable, whatever it means on a form.
    let ends_in_two = key.as_bytes().last_chunk().is_some_and(is_plain_pair);
    let last = || key.rsplit(|letter: char| !letter.is_alphanumeric()).next();
    let is_letter = |last: &str| last.len() == 1 && last.starts_with(char::is_alphabetic);
    if !ends_in_two && last().is_some_and(is_letter) {
        return None;
    }
    // `fontFamily`: letters have families, too.
    if key
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("font"))
    {
        return None;
    }
    if let Some(outer) = outer
        && let Some(phrase) = of_all_words(KeyWords::of(outer).chain(KeyWords::of(key)))
        && let Some(meaning) = phrase.as_key.or(phrase.meaning)
    {
        return Some(meaning);
    }
    let words = LastWords::of(key);
    let words = words.as_slice();
    let meaning = of_last_words(words);
    match words.split_last() {
        Some((last, before)) if meaning.is_none() && is_qualifier(*last) => of_last_words(before),
        _ => meaning,
    }
}

/// The last words of a name, as many as can decide: those of a phrase, and one that qualifies it.
#[derive(Default)]
struct LastWords {
    hashes: [u64; LONGEST + 1],
    count: usize,
}

impl LastWords {
    fn of(key: &str) -> Self {
        let mut last = LastWords::default();
        for hash in KeyWords::of(key) {
            if last.count == last.hashes.len() {
                last.hashes.rotate_left(1);
                last.count -= 1;
            }
            last.hashes[last.count] = hash;
            last.count += 1;
        }
        last
    }

    fn as_slice(&self) -> &[u64] {
        &self.hashes[..self.count]
    }
}

fn is_plain_pair(two: &[u8; 2]) -> bool {
    two.iter().all(u8::is_ascii_alphanumeric)
}

/// Returns the meaning of the whole name, else of the name without its first words ("patient home phone", "home phone",
/// "phone").
fn of_last_words(words: &[u64]) -> Option<Meaning> {
    let longest = words.len().min(LONGEST);
    (words.len() - longest..words.len()).find_map(|from| {
        let key = words[from..].iter().fold(0, |key, &word| extend(key, word));
        let phrase = phrase(key)?;
        // `patient_record_id` says whose record it is, `update_record` does not.
        let is_bare = of_last_words(&words[..from]).is_none();
        phrase.as_key.filter(|_| is_bare).or(phrase.meaning)
    })
}

/// Whether a last word says which of several values a field holds, or how it is written.
fn is_qualifier(word: u64) -> bool {
    static QUALIFIERS: LazyLock<HashSet<u64, AsIs>> = LazyLock::new(|| {
        let words = "1|2|3|raw|value|val|text|txt|str|string|iso|masked|clean|orig|original|old|new|prev|previous|current|\
primary|secondary|alt|formatted|normalized|last4";
        words.split('|').map(|word| hash(word.as_bytes())).collect()
    });
    QUALIFIERS.contains(&word)
}

/// Returns the meaning of a name of which every word counts ("SSN", "date of birth", but not "ssn format").
pub(crate) fn of_whole_key(key: &str) -> Option<Meaning> {
    of_all_words(KeyWords::of(key))?.meaning
}

/// Returns the meaning of the head of a column of which every word counts.
pub(crate) fn of_head(head: &str) -> Option<Meaning> {
    let phrase = of_all_words(KeyWords::of(head))?;
    phrase.as_key.or(phrase.meaning)
}

/// The phrase that all words make.
fn of_all_words(words: impl Iterator<Item = u64>) -> Option<Phrase> {
    let mut key = 0;
    let mut last = None;
    for word in words {
        key = extend(key, word);
        // Mostly no phrase begins with the first word.
        last = Some(phrase(key)?);
    }
    last
}

/// Number of bytes of a name that are read.
const KEY_BYTES_MAX: usize = 128;

/// The words of a name, by their hashes: cut at capitals, digits and everything that is not a letter.
struct KeyWords<'a> {
    bytes: &'a [u8],
    /// Earliest start of the next word.
    at: usize,
}

impl<'a> KeyWords<'a> {
    fn of(key: &'a str) -> Self {
        KeyWords {
            bytes: key.as_bytes(),
            at: 0,
        }
    }
}

impl Iterator for KeyWords<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let letter = |at: usize| match self.bytes.get(at) {
            Some(&byte) => LETTERS[usize::from(byte)],
            None => Letter::None,
        };
        let limit = self.bytes.len().min(KEY_BYTES_MAX);
        let start = (self.at..limit).find(|&at| letter(at) != Letter::None)?;
        let mut last = letter(start);
        let end = (start + 1..=limit).find(|&at| {
            let before = std::mem::replace(&mut last, letter(at));
            match (before, last) {
                (_, Letter::None) | (Letter::Small, Letter::Capital) => true,
                // `PIDNumber`.
                (Letter::Capital, Letter::Capital) => letter(at + 1) == Letter::Small,
                _ => false,
            }
        })?;
        self.at = end;
        Some(hash_in(self.bytes, start..end))
    }
}

/// Role of a byte in a name.
#[derive(Clone, Copy, PartialEq)]
enum Letter {
    None,
    Small,
    Capital,
    /// A digit, or part of a letter outside ASCII.
    Other,
}

static LETTERS: [Letter; 256] = {
    let mut table = [Letter::None; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => Letter::Small,
            b'A'..=b'Z' => Letter::Capital,
            b'0'..=b'9' | 0x80.. => Letter::Other,
            _ => Letter::None,
        };
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_phrase_is_longer_than_the_longest() {
        for phrase in phrases() {
            assert!(phrase.split(' ').count() <= LONGEST, "{phrase}");
        }
    }

    #[test]
    fn data_keys_are_read_in_any_style() {
        assert_eq!(of_key("birthDate"), Some(Meaning::Dob));
        assert_eq!(of_key("patient_home_phone"), Some(Meaning::Phone));
        assert_eq!(of_key("PatientSSN"), Some(Meaning::Ssn));
        assert_eq!(of_key("PID.MRN"), Some(Meaning::Mrn));
        assert_eq!(of_key("dob_raw"), Some(Meaning::Dob));
        assert_eq!(of_key("ssnLast4"), Some(Meaning::Ssn));
        assert_eq!(of_key("phone_number_2"), Some(Meaning::Phone));
        assert_eq!(of_key("temperature"), None);
        assert_eq!(of_key("recordId"), Some(Meaning::MrnBeside));
        assert_eq!(of_key("patient_record_id"), Some(Meaning::Mrn));
        assert_eq!(of_whole_key("record id"), Some(Meaning::Mrn));
        assert_eq!(of_key("dob_from"), Some(Meaning::OtherDate));
        assert_eq!(
            of_key("a_b_c_d_e_f_g_h_patient_ssn_raw"),
            Some(Meaning::Ssn)
        );
        assert_eq!(of_nested_key(Some("patient"), "id"), of_key("patientId"));
        assert_eq!(of_whole_key("date of birth"), Some(Meaning::Dob));
        assert_eq!(of_whole_key("date of"), None);
    }

    #[test]
    fn no_phrase_has_two_meanings() {
        let mut seen = HashMap::new();
        for (meaning, phrase) in all() {
            assert!(
                seen.insert(phrase, meaning)
                    .is_none_or(|other| other == meaning),
                "{phrase} has two meanings"
            );
        }
    }
}
