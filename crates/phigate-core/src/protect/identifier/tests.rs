//! Rows of spellings of one identifier, and of texts that are not identifiers.

use std::collections::BTreeSet;

use super::*;

fn kind(code: &str) -> PhiKind {
    PhiKind::from_code(code).expect("a kind of the table")
}

fn is_found(code: &str, written: &str, typed: &str) -> bool {
    let stored: BTreeSet<String> = stored_forms(kind(code), written).into_iter().collect();
    let question = question(kind(code), typed);
    question.is_ok_and(|question| question.forms().iter().any(|form| stored.contains(form)))
}

/// Whether a lookup finds an identifier stored by earlier versions.
fn was_found(code: &str, written: &str, typed: &str) -> bool {
    let question = question(kind(code), typed);
    question.is_ok_and(|question| question.forms().contains(&plain(written)))
}

#[test]
fn every_row_has_a_known_kind() {
    assert!(WRITINGS.is_sorted_by_key(|writing| writing.code));
    for writing in WRITINGS {
        assert!(
            PhiKind::from_code(writing.code).is_some(),
            "{}",
            writing.code
        );
    }
}

/// Spellings of one identifier per row; each finds every other.
const SAME: &[(&str, &[&str])] = &[
    (
        "address",
        &[
            "12 Elm Street, Springfield, IL 62704",
            "12 Elm St, Springfield IL 62704",
            "12 elm st. springfield, Illinois 62704",
            "12 Elm Street",
        ],
    ),
    (
        "address",
        &[
            "400 N. Oak Ave, Apt. 4, Portland, OR 97201",
            "400 North Oak Avenue Apartment 4 Portland Oregon 97201",
            "400 N Oak Ave #4, Portland OR 97201",
        ],
    ),
    (
        "address",
        &[
            "9 Court St NW, Stamford, CT 06901",
            "9 Court Street Northwest, Stamford, Connecticut 06901",
        ],
    ),
    (
        "address",
        &[
            "P.O. Box 112, Reno, NV 89501",
            "PO Box 112, Reno, Nevada 89501",
        ],
    ),
    (
        "dob",
        &[
            "03/14/1961",
            "3/14/1961",
            "14/03/1961",
            "14.3.1961",
            "1961-03-14",
            "1961/3/14",
            "19610314",
            "March 14, 1961",
            "14 March 1961",
            "Mar 14 1961",
            "14-MAR-1961",
            "14MAR1961",
            "March 14th, 1961",
            "the 14th of March 1961",
            "1961-03-14T00:00:00Z",
        ],
    ),
    ("dob", &["03/04/1961", "3/4/1961", "03-04-1961", "03041961"]),
    ("dob", &["Sept 5, 1948", "September 5th 1948", "1948-09-05"]),
    (
        "email",
        &[
            "Jane.Roe@Example.org",
            "jane.roe@example.org",
            "mailto:jane.roe@example.org",
            "Jane Roe <jane.roe@example.org>",
            "jane dot roe at example dot org",
            "jane.roe [at] example [dot] org",
        ],
    ),
    (
        "medicare_id",
        &["1EG4-TE5-MK72", "1eg4te5mk72", "1EG4 TE5 MK72"],
    ),
    (
        "mrn",
        &[
            "00412345",
            "412345",
            "0412345",
            "MRN 00412345",
            "MRN: 412345",
            "00-412-345",
        ],
    ),
    ("mrn", &["A-0012345", "a12345", "A0012345"]),
    (
        "name",
        &[
            "Wei Zhang",
            "Mr. Wei Zhang",
            "Zhang, Wei",
            "ZHANG WEI",
            "Dr Wei Zhang, MD",
        ],
    ),
    (
        "name",
        &[
            "John Q. Smith",
            "John Smith",
            "Smith, John",
            "Smith, John Q",
            "Mr John Smith Jr.",
        ],
    ),
    (
        "name",
        &[
            "Mary O’Brien-Jones",
            "mary o'brien jones",
            "O'Brien-Jones, Mary",
        ],
    ),
    (
        "phone",
        &[
            "415-555-0134",
            "4155550134",
            "(415) 555-0134",
            "+1 415 555 0134",
            "1-415-555-0134",
            "+14155550134",
            "415.555.0134 x12",
            "415-555-0134 ext. 9",
            "tel: 415 555 0134",
            "０４１５ ５５５ ０１３４",
        ],
    ),
    (
        "phone",
        &[
            "+44 20 7946 0958",
            "020 7946 0958",
            "0044 20 7946 0958",
            "+44 (0)20 7946 0958",
            "011 44 20 7946 0958",
        ],
    ),
    (
        "ssn",
        &[
            "536-22-8741",
            "536 22 8741",
            "536228741",
            "SSN: 536-22-8741",
        ],
    ),
    ("ssn", &["012-34-5678", "12345678", "012345678"]),
];

#[test]
fn every_spelling_finds_every_other() {
    for (code, writings) in SAME {
        for written in *writings {
            for typed in *writings {
                assert!(
                    is_found(code, written, typed),
                    "{code}: {written} by {typed}"
                );
            }
        }
    }
}

#[test]
fn numeric_dates_match_both_readings() {
    for typed in ["March 4, 1961", "1961-03-04", "3 April 1961", "4/3/1961"] {
        assert!(is_found("dob", "03/04/1961", typed), "{typed}");
    }
    for typed in ["4 March 1961", "3/4/1961", "3 April 2061", "03/04/61"] {
        assert!(is_found("dob", "3/4/61", typed), "{typed}");
    }
    assert!(!is_found("dob", "March 4, 1961", "3 April 1961"));
}

#[test]
fn identifiers_of_earlier_versions_are_found() {
    for (code, written, typed) in [
        (
            "address",
            "12 Elm St, Springfield IL 62704",
            "12 Elm Street, Springfield, IL 62704",
        ),
        (
            "address",
            "12 Elm Street",
            "12 Elm St, Springfield IL 62704",
        ),
        ("dob", "03/04/1961", "March 4, 1961"),
        ("dob", "3/4/1961", "1961-03-04"),
        ("dob", "March 4th, 1961", "03/04/1961"),
        ("dob", "4 Mar 1961", "1961-03-04"),
        (
            "email",
            "jane dot roe at example dot org",
            "jane.roe@example.org",
        ),
        ("mrn", "00412345", "412345"),
        ("name", "Smith, John", "John Smith"),
        ("name", "John Q. Smith", "John Smith"),
        ("name", "Smith, John Q.", "Mr. John Smith"),
        ("phone", "+1 415 555 0134", "(415) 555-0134"),
        ("phone", "(415) 555-0134", "+1 415 555 0134"),
        ("ssn", "012-34-5678", "12345678"),
    ] {
        assert!(
            was_found(code, written, typed),
            "{code}: {written} by {typed}"
        );
    }
}

#[test]
fn another_identifier_is_not_found() {
    for (code, written, typed) in [
        (
            "address",
            "12 Elm Street, Springfield, IL",
            "14 Elm Street, Springfield, IL",
        ),
        ("dob", "March 4, 1961", "March 5, 1961"),
        ("email", "jane.roe@example.org", "john.roe@example.org"),
        ("mrn", "00412345", "412346"),
        ("name", "John Smith", "Joan Smith"),
        ("name", "John Smith", "John Smithers"),
        ("phone", "415-555-0134", "415-555-0135"),
        ("ssn", "536-22-8741", "536-22-8742"),
    ] {
        assert!(
            !is_found(code, written, typed),
            "{code}: {written} by {typed}"
        );
    }
}

#[test]
fn impossible_identifier_is_refused() {
    for (code, typed) in [
        ("address", "Springfield"),
        ("address", "12"),
        ("dob", "1961"),
        ("dob", "31 June 1961"),
        ("dob", "13/13/1961"),
        ("dob", "next week"),
        ("email", "jane.roe"),
        ("email", "jane@roe"),
        ("medicare_id", "1EG4"),
        ("mrn", "unknown"),
        ("mrn", "7"),
        ("name", "12345"),
        ("name", "x"),
        ("phone", "555"),
        ("phone", "call the ward"),
        ("ssn", "123"),
        ("ssn", "536-22-87411"),
        ("ssn", "my number"),
    ] {
        assert!(question(kind(code), typed).is_err(), "{code}: {typed}");
    }
    assert!(question(kind("ssn"), "").is_err());
}

#[test]
fn number_of_forms_is_bounded() {
    let long = "Anna Maria Theresia Josefa von und zu Habsburg-Lothringen ".repeat(20);
    for kind in PhiKind::all() {
        for typed in [
            long.as_str(),
            "1",
            "ß\u{301}",
            "\u{ff11}\u{ff12}",
            ",,,",
            "'",
        ] {
            let forms = question(kind, typed).map_or(0, |question| question.forms().len());
            assert!(forms <= 200, "{}: {forms}", kind.code());
            stored_forms(kind, typed);
        }
    }
}

#[test]
fn ascii_fast_path_equals_the_general_one() {
    let ascii: String = (0..128).map(char::from).collect();
    let with_another = format!("{ascii}é");
    assert_eq!(format!("{}é", plain(&ascii)), plain(&with_another));
    assert_eq!(format!("{}é", folded(&ascii)), folded(&with_another));
}

#[test]
fn number_is_looked_for_as_every_number() {
    let codes = |code: &str, typed: &str| {
        let kind = PhiKind::from_code(code).unwrap();
        let questions = questions(kind, typed).unwrap_or_default();
        questions
            .iter()
            .map(|one| one.kind().code())
            .collect::<Vec<_>>()
    };
    let as_phone = codes("phone", "415-555-0134");
    assert_eq!(as_phone[0], "phone");
    assert!(
        as_phone.contains(&"mrn") && !as_phone.contains(&"ssn"),
        "{as_phone:?}"
    );
    assert_eq!(codes("name", "Jane Roe"), ["name"]);
    assert_eq!(codes("dob", "1961-03-04"), ["dob"]);
    assert!(codes("ssn", "12").is_empty());
}
