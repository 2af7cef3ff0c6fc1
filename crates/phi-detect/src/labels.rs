//! Labels: the words that say what a value is, in prose, in forms and in keys of data.
//!
//! One table of phrases. A phrase is matched word by word, so "Date of Birth",
//! "dateOfBirth", "date_of_birth" and "DATE-OF-BIRTH" are the same label.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use crate::lexicon::hash;

/// What a label says about the value that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Ssn,
    /// "social", "SS": an SSN when the shape agrees.
    SsnMaybe,
    Dob,
    /// "born", "turned": a date of birth when a full date follows.
    Born,
    Phone,
    /// "call", "at", "ext": weak signs of a telephone number.
    PhoneMaybe,
    Email,
    Address,
    Zip,
    City,
    Mrn,
    /// "chart", "patient id", "account": an MRN when nothing says otherwise.
    MrnMaybe,
    /// "patient", "patient name", "family".
    Name,
    /// "name" in data, which may be anybody's or anything's.
    NameMaybe,
    Medicare,
    /// "lives", "resides": an address when a street follows.
    Dwelling,
    /// "corner of": two streets follow.
    Corner,
    /// A person's number that is none of ours: member, claim, licence, account.
    OtherId,
    /// A number about no person: order, lot, ticket, study.
    Thing,
    /// Any date that is not a date of birth.
    OtherDate,
}

/// Phrases of one meaning, separated by `|`, each in lower case with single spaces.
static PHRASES: &[(Meaning, &str)] = &[
    // One row per meaning.
    (Meaning::Ssn, SSN),
    (
        Meaning::SsnMaybe,
        "social|ss|soc|socials|itin|tin|tax id|taxpayer id|taxpayer identification number|subscriber id ssn",
    ),
    (Meaning::Dob, DOB),
    (
        Meaning::Born,
        "born|b|turned|turns|turning|geboren|nacido|nacida|nacio|cumple anos|cumpleanos|arrived into the world|delivered on|birthday|bday|b day|birth day",
    ),
    (Meaning::Phone, PHONE),
    (
        Meaning::PhoneMaybe,
        "call|called|answering at|not answering|messages to|calling|calls|callback|call back|reach|reached|reachable|text|texted|dial|dialed|ring|contact|contacted|page|paged|ext|extension|voicemail|answers at|llamar|llame|llamame|llamarme|llamar al|marque|left message|left a message|left vm|lvm|cb|number|numbers|line|desk|office|front desk|nurse line|clinic|pharmacy|t|p|f|m|w|h|c|o",
    ),
    (
        Meaning::Email,
        "email|e mail|emails|email address|e mail address|mail|correo|correo electronico|gmail",
    ),
    (Meaning::Address, ADDRESS),
    (
        Meaning::Zip,
        "zip|zip code|zipcode|postal code|postal|postcode|post code|zip4|codigo postal|cod postal|cp|c p|code postal|plz|postleitzahl|cep|codice postale|cap code",
    ),
    (Meaning::City, "city|town|state|country|county|region"),
    (Meaning::Mrn, MRN),
    (Meaning::MrnMaybe, MRN_MAYBE),
    (Meaning::Name, NAME),
    (
        Meaning::NameMaybe,
        "name|names|person|contact name|user name|full name|display name",
    ),
    (Meaning::Medicare, MEDICARE),
    (
        Meaning::Dwelling,
        "lives|live|living|lived|resides|residing|reside|moved|home is|house",
    ),
    (
        Meaning::Corner,
        "corner of|the corner of|intersection of|the intersection of",
    ),
    (Meaning::OtherId, OTHER_ID),
    (Meaning::Thing, THING),
    (Meaning::OtherDate, OTHER_DATE),
];

const SSN: &str = "ssn|ssns|ssn number|ssn no|ssn last 4|ssn last four|social security|social security number|\
social security numbers|social security no|social security num|social security card|social sec|social sec no|\
social sec number|soc sec|soc sec no|soc sec num|soc sec number|social number|social no|socsec|ss no|ss num|ss number|ss nbr|s s n|\
seguro social|numero de seguro social|us ssn|patient ssn|pt ssn|member ssn|ssn4|ssn l4|ssn last4|ssnlast4|last4ssn|ssn 4|last4 ssn|last 4 ssn|last four ssn|\
last 4 of ssn|last 4 of social|last four of social|last 4 of his social|last 4 of her social|last four of her ssn";

const DOB: &str = "dob|dobs|d o b|dateofbirth|date of birth|dates of birth|birth date|birthdate|birthdates|birthdt|birth dt|birth dates|\
date birth|birthdate is|birthday is|birthdays|born on|was born on|birth time|birthtime|dt of birth|day of birth|\
patient dob|pt dob|member dob|subscriber dob|patient birth date|patientbirthdate|fecha de nacimiento|fecha nacimiento|fecha nac|fec nac|f nac|fdn|\
geburtsdatum|date de naissance|bd|geburtsdat|geb|geb dat|geb am|geboren am|geboren op|geboren den|geboortedatum|geb datum|ne le|nee le|naissance|ddn|nascido em|nascida em|nascido a|nascida a|nascido aos|\
data de nascimento|data nascimento|dt nasc|data nasc|nasc|data di nascita|data nascita|nato il|nata il|nacido el|nacida el|nacio el|f nacimiento|f de nacimiento|fecha de nac|fnac|\
\u{751f}\u{5e74}\u{6708}\u{65e5}|\u{51fa}\u{751f}\u{65e5}\u{671f}|\u{c0dd}\u{b144}\u{c6d4}\u{c77c}|bdate|bday is|brthdt|birth|yob|doby";

const PHONE: &str = "tfno|tlf|tlfno|telef|telefs|telfs|movil|numero de movil|telf|tel movil|telefono movil|telefono fijo|handynummer|mobil|rufnummer|telefonnummer|tel mobile|numero de telephone|telemovel|telefone|celulare|cellulare|numero di telefono|gsm|telefoonnummer|area code|phone|phones|phone number|phone no|phone num|phone numbers|telephone|telephones|telephone number|tel|tel no|tele|\
cell|cells|cell phone|cellphone|cell number|cell no|mobile|mobile number|mobile phone|mobile no|mob|fax|faxes|fax number|fax no|faxed to|fax to|pager|pagers|pager number|\
beeper|home phone|work phone|cell phone number|contact number|contact no|contact phone|callback number|call back number|\
phone home|phone work|phone mobile|ph|phn|phone1|phone2|hotline|whatsapp|sms|landline|caller id|pgr|cb number|callback no|telefono|numero de telefono|celular|\
patient phone|pt phone|emergency contact phone|daytime phone|evening phone|best number|best phone|good number|direct line|direct|switchboard|main number";

const ADDRESS: &str = "address|addresses|addr|addr1|addr2|address1|address2|address line|address line 1|address line 2|street|street address|home address|\
mailing address|mail address|shipping address|billing address|street line|streetaddressline|street address line|street1|residence|\
line1|line2|domicilio|direccion|direccion postal|adresse|anschrift|endereco|indirizzo|residenza|wohnhaft|adres|patient address|pt address|residential address|current address|permanent address|previous address|new address|old address|work address|address1 line|ship to|mail to|lives at|lives on|live at|live on|lived at|lived on|living on|moved to|staying at|living at|resides at|residing at|resides on";

const MRN: &str = "mrn|mrns|mrn no|mrn number|mr no|mr number|mr num|mr nbr|mrnum|mrnumber|medrec|med rec|med rec no|med rec number|med record|\
med record no|med record number|medical record|medical records number|medical record number|medical record numbers|medical record no|\
medical record num|medical record id|medical rec|medical rec no|medical record identifier|record number|record no|record num|chart number|chart numbers|chart nos|chart no|chart num|chart id|\
hospital number|hospital no|patient chart number|hospital num|hospital id|hosp no|hosp num|hospital record number|unit number|unit no|emrn|empi|mpi|mpi number|epic mrn|\
patient mrn|pt mrn|patient medical record number|health record number|health record|clinic number|clinic no|numero de expediente|expediente|historia clinica|nhc|numero de historia clinica|uhid|uhid no|uhid number|ur|ur no|ur number|urn|hospital unit number|unit record number|ehr id|ehr number|emr id|emr number|emr no|epic id|cerner id|m r n|m r no|m r number|hosp number|hosp id|medical rec number|numero de historia|num historia|n historia|numero historia clinica|nhcl|cipa|\
numero de dossier|ipp|patientennummer|patienten nr|fallnummer|aktenzeichen|numero do prontuario|prontuario|cartella clinica|numero cartella|patientnummer|numero de expediente medico|expediente medico|expediente clinico|numero de registro medico|registro medico|num de expediente|num de historia clinica|numero de hospital|facility mrn|umrn|cmrn|mrn id|mrn num|mrn nbr|record id|history no|history number|chart nbr|patient record number|patient record no";

const MRN_MAYBE: &str = "chart|record|patient id|patient ids|patient identifier|patient no|patient number|patient num|patient identification number|\
pt id|pt no|pt number|pt num|patientid|patid|mr|file number|file no|\
historia|hc|dossier|pat id|pat no|emr|ehr|ptid|id number|patient nbr|case id|subject id|visit mrn|numero de paciente|num de paciente|id de paciente|id del paciente|id paciente|wristband|armband|id band|clinic id|person number|person id|person no|person nbr";

const NAME: &str = "patient name|patients name|patient full name|pt name|pts name|patientname|ptname|client name|member name|subscriber name|insured name|guarantor name|\
first name|firstname|fname|given|given name|name last|name first|name given|name family|name middle|givenname|given names|last name|lastname|lname|family|family name|familyname|surname|middle name|middlename|mname|maiden name|\
mothers maiden name|mother s maiden name|preferred name|nickname|full legal name|legal name|fullname|patient first name|patient last name|pt first|pt last|provider name|physician name|doctor name|\
attending name|nurse name|emergency contact name|next of kin|next of kin name|nok|nombre|nombre del paciente|nombre y apellidos|apellidos y nombre|paciente|medico|remitido por|responsable clinico|nom|prenom|nom du patient|vorname|nachname|familienname|cognome|apelido|sobrenome|nome do paciente|voornaam|achternaam|fdo|firmado|firmado por|apellido|apellidos|nm|patient|pt|attending|attending physician|referring physician|referring provider|ordering provider|ordering physician|pcp|primary care physician|primary care provider|surgeon|emergency contact|contact person|guardian|caregiver|spouse|mother|father|parent|guarantor|subscriber|insured|beneficiary|resident|client|physician|provider|dictated by|typed by|called by|called back by|entered by|recorded by|drawn by|collected by|initials|signed by|electronically signed by|cosigned by|seen by|author|author name|reviewed by|transcribed by|prepared by|performer|assigned to|employee name|user full name";

const MEDICARE: &str = "medicare|medicare id|medicare number|medicare no|medicare num|medicare beneficiary|medicare beneficiary id|medicare beneficiary identifier|\
medicare beneficiary number|medicare claim number|medicare card|medicare card number|medicare hic|medicare hicn|medicare mbi|mbi|mbis|mbi number|mbi no|hic|hicn|hic number|hic no|hicn number|health insurance claim number|beneficiary id|beneficiary identifier|railroad medicare|railroad medicare no|railroad retirement no|railroad retirement number|railroad retirement|rrb|rrb number|medicareid|medicare identifier|bene id|medicare identification number|us mbi";

const OTHER_ID: &str = "account|acct|acct no|acct number|account number|account no|member|member id|member no|member number|memberid|subscriber id|subscriber number|subscriber no|policy|policy number|policy no|policy id|group|group number|group no|group id|\
insurance id|insurance number|insurance no|insurance policy|plan id|plan number|payer id|payor id|medicaid|medicaid id|medicaid number|medi cal|claim|claim number|claim no|claim id|claims|\
auth|auth number|authorization|authorization number|authorization no|auth no|prior auth|npi|npis|npi number|dea|dea number|dea no|ncpdp|license|license number|license no|licence|driver license|drivers license|drivers license number|driver license number|driver s license number|driver s license|dl|\
passport|passport number|plate|vin|serial|serial number|serial no|sn|device id|implant|accession|accession number|accession no|acc|rx|rx number|rx no|prescription number|prescription no|badge|badge number|\
employee id|employee number|card|card number|credit card|debit card|visa|mastercard|amex|bank account|account ending|routing|routing number|iban|nass|naf|numero de afiliacion|dni|nie|nif|episodio|numero de episodio|colegiado|nocol|ncol|nhs|nhs number|ramq|encounter|encounter number|encounter no|encounter id|visit number|visit no|visit id|visit|\
case|case number|case no|csn|fin|fin number|har|id|ids|confirmation|confirmation number|confirmation no|reference|reference number|reference no|ref|ref no|ref number|tracking|tracking number|specimen|specimen id|specimen number|order|order number|order no|order id|orders|requisition|requisition number|ein|upin|taxonomy|clia|bin|pcn|grp|user id|student id|military id|dod id|edipi";

const THING: &str = "birth control|birth control pill|birth weight|birth center|birth certificate|birth defect|birth plan|birth mother|birth order|lot|lot number|lot no|batch|batch number|po number|purchase order|purchase order number|ticket|ticket number|incident|invoice|invoice number|sku|part|part number|part no|model|model number|version|ver|build|release|commit|hash|sha|\
study|study id|study number|protocol|protocol number|irb|nct|doi|isbn|issn|pmid|pmcid|ndc|icd|cpt|hcpcs|loinc|snomed|rxnorm|rxcui|drg|oid|uuid|guid|udi|gtin|upc|asset|asset tag|grant|catalog|catalogue|cat no|control id|message id|message control id|\
port|pid process|process|timestamp|epoch|unix time|population|total|quantity|qty|count|sum|balance|amount|price|cost|dose|room|bed|bay|suite|page number|extension number|step|figure|table|chapter|section|line number|row|column|error code|code|fedex|ups|usps|tracking no|barcode|fda|ide|hl7 version|bar code|shipment|container|bag|unit bag|donor|rfid|mac|ip|channel|job|run|request id|trace id|transaction|transaction id|session|session id";

const OTHER_DATE: &str = "fecha|fecha de ingreso|fecha ingreso|ingreso|fecha de alta|fecha alta|admit|admit date|adm date|admission date|date of admission|admitted|admitted on|admission|discharge date|date of discharge|discharged|discharged on|discharge|visit date|date of visit|dos|date of service|service date|service|appointment|appt|appointment date|\
scheduled|scheduled for|surgery|surgery date|date of surgery|procedure date|date of procedure|operation date|exp|expiration|expiration date|expires|expiry|expiry date|effective|effective date|issued|date issued|signed on|dictated|date dictated|transcribed|\
lmp|edd|edc|due date|due|last menstrual period|collected|collection date|received|resulted|drawn|reported|onset|date of onset|date of injury|doi date|date of death|dod|died|deceased|death|expired on|follow up|followup|f u|last seen|seen|last visit|next visit|started|start date|\
end date|stopped|filled|fill date|last filled|vaccinated|vaccine|immunized|immunization|administered|given on|updated|created|modified|date|dated|today|hired|hire date|filed|posted|printed|mri|ct|xray|x ray|echo|ekg|ultrasound|biopsy|colonoscopy|mammogram|labs|lab|result|results|note|report|test|exam|diagnosed|dx|implanted|placed|inserted|transplant|transplanted|married|wedding|anniversary";

/// All phrases of the table.
pub(crate) fn phrases() -> impl Iterator<Item = &'static str> {
    PHRASES.iter().flat_map(|(_, list)| list.split('|'))
}

/// The most words a phrase has.
pub(crate) const LONGEST: usize = 6;

/// Keys are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// Every phrase with its meaning, and every beginning of a phrase without one.
type Table = HashMap<u64, Option<Meaning>, BuildHasherDefault<AsIs>>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    for &(meaning, list) in PHRASES {
        for phrase in list.split('|') {
            let mut key = 0;
            for word in phrase.split(' ') {
                key = extend(key, hash(word.as_bytes()));
                table.entry(key).or_insert(None);
            }
            table.entry(key).and_modify(|entry| {
                entry.get_or_insert(meaning);
            });
        }
    }
    table
});

/// Takes one more word, by its hash, into the key of a phrase; the empty phrase has key 0.
pub(crate) fn extend(key: u64, word: u64) -> u64 {
    key.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word
}

/// What the phrase with this key means.
pub(crate) fn meaning(key: u64) -> Option<Meaning> {
    TABLE.get(&key).copied().flatten()
}

/// What the words with this key mean; an error where no phrase even begins with them.
pub(crate) fn meaning_so_far(key: u64) -> Result<Option<Meaning>, NoPhrase> {
    TABLE.get(&key).copied().ok_or(NoPhrase)
}

/// No phrase begins like this.
pub(crate) struct NoPhrase;

/// What the name of a field means: `patientBirthDate`, `home_phone`, `PID.SSN`, `dob_raw`.
pub(crate) fn of_key(key: &str) -> Option<Meaning> {
    of_nested_key(None, key)
}

/// What the name of a field means, with that of the object round it if the two make a label: `patient.id`.
pub(crate) fn of_nested_key(outer: Option<&str>, key: &str) -> Option<Meaning> {
    let words = words_of_key(key);
    if let Some(outer) = outer {
        let all = words_of_key(outer).into_iter().chain(words.iter().copied());
        if let Some(meaning) = of_all_words(all) {
            return Some(meaning);
        }
    }
    let meaning = of_last_words(&words);
    match words.split_last() {
        Some((last, before)) if meaning.is_none() && is_qualifier(*last) => of_last_words(before),
        _ => meaning,
    }
}

/// The whole name, then without its first words: "patient home phone", "home phone", "phone".
fn of_last_words(words: &[u64]) -> Option<Meaning> {
    let longest = words.len().min(LONGEST);
    (words.len() - longest..words.len()).find_map(|from| {
        let key = words[from..].iter().fold(0, |key, &word| extend(key, word));
        meaning(key)
    })
}

/// Whether a last word says which of several values a field holds, or how it is written.
fn is_qualifier(word: u64) -> bool {
    static QUALIFIERS: LazyLock<Vec<u64>> = LazyLock::new(|| {
        let words = "1|2|3|raw|value|val|text|txt|str|string|iso|masked|clean|orig|original|old|new|prev|previous|current|\
primary|secondary|alt|formatted|normalized|last4";
        words.split('|').map(|word| hash(word.as_bytes())).collect()
    });
    QUALIFIERS.contains(&word)
}

/// What a name means when every word of it counts: "SSN", "date of birth", but not "ssn format".
pub(crate) fn of_whole_key(key: &str) -> Option<Meaning> {
    of_all_words(words_of_key(key).into_iter())
}

fn of_all_words(words: impl Iterator<Item = u64> + Clone) -> Option<Meaning> {
    let is_short = words.clone().count() <= LONGEST;
    is_short.then(|| meaning(words.fold(0, extend))).flatten()
}

/// Hashes of the words of a name, cut at capitals, digits and everything that is no letter.
fn words_of_key(key: &str) -> Vec<u64> {
    let bytes = key.as_bytes();
    let mut words = Vec::new();
    let mut start = 0;
    for at in 0..=bytes.len().min(128) {
        let is_letter = |index: usize| {
            bytes
                .get(index)
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
        };
        let is_lower = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_lowercase);
        let is_upper = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_uppercase);
        let is_cut = !is_letter(at)
            || at > start
                && is_upper(at)
                && (is_lower(at - 1) || is_upper(at - 1) && is_lower(at + 1));
        if is_cut {
            if start < at {
                words.push(hash(&bytes[start..at]));
            }
            start = at + usize::from(!is_letter(at));
        }
    }
    words
}

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
    fn keys_of_data_are_read_in_any_style() {
        assert_eq!(of_key("birthDate"), Some(Meaning::Dob));
        assert_eq!(of_key("patient_home_phone"), Some(Meaning::Phone));
        assert_eq!(of_key("PatientSSN"), Some(Meaning::Ssn));
        assert_eq!(of_key("PID.MRN"), Some(Meaning::Mrn));
        assert_eq!(of_key("dob_raw"), Some(Meaning::Dob));
        assert_eq!(of_key("ssnLast4"), Some(Meaning::Ssn));
        assert_eq!(of_key("phone_number_2"), Some(Meaning::Phone));
        assert_eq!(of_key("temperature"), None);
    }

    #[test]
    fn no_phrase_has_two_meanings() {
        let mut seen = HashMap::new();
        for &(meaning, list) in PHRASES {
            for phrase in list.split('|') {
                assert!(
                    seen.insert(phrase, meaning)
                        .is_none_or(|other| other == meaning),
                    "{phrase} has two meanings"
                );
            }
        }
    }
}
