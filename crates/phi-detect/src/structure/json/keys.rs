//! What keys of JSON say about the values beside them.

use super::super::tells_of_a_person;
use crate::labels::{self, Meaning};

/// No key of the lists here is longer.
const LISTED_BYTES_MAX: usize = 16;

/// A key in small letters, to be looked for in a list; empty if it is longer than all that are listed.
struct Small {
    bytes: [u8; LISTED_BYTES_MAX],
    length: usize,
}

impl Small {
    fn of(key: &[u8]) -> Self {
        let mut small = Small {
            bytes: [0; LISTED_BYTES_MAX],
            length: 0,
        };
        if let Some(bytes) = small.bytes.get_mut(..key.len()) {
            bytes.copy_from_slice(key);
            bytes.make_ascii_lowercase();
            small.length = key.len();
        }
        small
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Keys whose value says what the neighbouring `value` is.
pub(super) fn is_naming_key(name: &[u8]) -> bool {
    matches!(
        Small::of(name).as_slice(),
        b"system"
            | b"code"
            | b"display"
            | b"text"
            | b"type"
            | b"use"
            | b"label"
            | b"field"
            | b"key"
            | b"question"
            | b"title"
            | b"name"
            | b"column"
            | b"attribute"
            | b"fieldname"
            | b"field_name"
            | b"k"
            | b"id"
            | b"linkid"
            | b"prompt"
            | b"header"
            | b"property"
            | b"param"
            | b"parameter"
            | b"variable"
            | b"slot"
            | b"entity"
            | b"concept"
            | b"caption"
            | b"labeltext"
            | b"description"
            | b"keyword"
    )
}

/// Keys that say nothing by themselves.
pub(super) fn is_generic_key(name: &[u8]) -> bool {
    is_index(name)
        || matches!(
            Small::of(name).as_slice(),
            b"value"
                | b"val"
                | b"answer"
                | b"text"
                | b"content"
                | b"data"
                | b"response"
                | b"valuestring"
                | b"valuedate"
                | b"valuedatetime"
                | b"valueinteger"
                | b"valuetext"
                | b"values"
                | b"v"
                | b"answers"
                | b"input"
                | b"reply"
                | b"result"
                | b"raw"
                | b"alphabetic"
                | b"contents"
                | b"extension"
                | b"id"
                | b"number"
        )
}

/// What a system, a type code or a label says about its neighbour.
pub(super) fn hint_of(value: &[u8]) -> Option<Meaning> {
    let text = std::str::from_utf8(value)
        .ok()
        .filter(|text| text.len() <= 120)?;
    // HL7 table 0203, identifier types, and FHIR contact point systems.
    let by_code = match text {
        "MR" | "MRN" | "PI" | "PT" => Some(Meaning::Mrn),
        "SS" | "SB" => Some(Meaning::Ssn),
        "MC" => Some(Meaning::Medicare),
        "DL" | "PPN" | "MA" | "MB" | "NI" | "NPI" | "PRN" | "AN" | "VN" | "SN" | "SNO" | "TAX" => {
            Some(Meaning::OtherId(None))
        }
        "phone" | "fax" | "pager" | "sms" => Some(Meaning::Phone),
        "email" => Some(Meaning::Email),
        _ => None,
    };
    if by_code.is_some() {
        return by_code;
    }
    // "What is your date of birth?"
    if let Some(question) = text.strip_suffix('?') {
        return labels::of_key(question).filter(|&meaning| tells_of_a_person(meaning));
    }
    // "http://hl7.org/fhir/sid/us-ssn", "urn:oid:2.16.840.1.113883.4.1".
    let last = text.rsplit(['/', ':']).next().unwrap_or(text);
    match last {
        "us-ssn" | "2.16.840.1.113883.4.1" => Some(Meaning::Ssn),
        "us-mbi" | "us-medicare" | "2.16.840.1.113883.4.572" | "2.16.840.1.113883.4.927" => {
            Some(Meaning::Medicare)
        }
        "us-npi" | "2.16.840.1.113883.4.6" => labels::of_whole_key("npi"),
        // "https://hospital.example/ids/mrn".
        _ if text.contains("://") || text.starts_with("urn:") => labels::of_whole_key(last)
            .filter(|meaning| matches!(meaning, Meaning::Mrn | Meaning::Ssn | Meaning::Medicare)),
        _ => labels::of_whole_key(text).filter(|meaning| {
            !matches!(
                meaning,
                Meaning::NameMaybe | Meaning::City | Meaning::PhoneMaybe
            )
        }),
    }
}

/// The number of a row, as the key of a value in a column: `{"ssn": {"0": "536228741"}}`.
pub(super) fn is_index(name: &[u8]) -> bool {
    !name.is_empty() && name.len() <= 8 && name.iter().all(u8::is_ascii_digit)
}

/// Keys of the list that names the columns of the rows beside it.
pub(super) fn is_columns_key(name: &[u8]) -> bool {
    matches!(
        Small::of(name).as_slice(),
        b"columns"
            | b"cols"
            | b"headers"
            | b"header"
            | b"fields"
            | b"names"
            | b"keys"
            | b"head"
            | b"columnnames"
            | b"column_names"
    )
}

/// Keys of the parts of a name, where the record is about a person: `{"first": "Jane", "last": "Roe", "dob": …}`.
pub(super) fn is_part_of_name(name: &str) -> bool {
    ["first", "last", "middle"]
        .iter()
        .any(|part| name.eq_ignore_ascii_case(part))
}

/// Keys of the parts of a date.
pub(super) fn is_date_part(name: &[u8]) -> bool {
    matches!(
        Small::of(name).as_slice(),
        b"year"
            | b"month"
            | b"day"
            | b"y"
            | b"m"
            | b"d"
            | b"yyyy"
            | b"mm"
            | b"dd"
            | b"dayofmonth"
            | b"monthvalue"
    )
}

/// Keys of the parts of a date of birth that say so themselves: `birth_year`, `dobMonth`.
pub(super) fn is_part_of_birth(name: &[u8]) -> bool {
    let starts = |start: &[u8]| {
        let head = name.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    let ends = |end: &[u8]| {
        let from = name.len().checked_sub(end.len());
        from.is_some_and(|from| name[from..].eq_ignore_ascii_case(end))
    };
    let is_of_birth = starts(b"birth") || starts(b"dob");
    let mut parts = [b"year".as_slice(), b"month", b"day", b"yyyy", b"mm", b"dd"].into_iter();
    is_of_birth && parts.any(ends) && !name.eq_ignore_ascii_case(b"birthday")
}
