//! Properties of any text: findings are in order, apart and on character boundaries, and masking a masked text
//! changes nothing.

use phi_detect::{Depth, Detector, Findings, Settings};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn detector() -> Detector {
    Detector::new(Settings::default()).expect("the default settings are fine")
}

/// The text with every finding replaced by its placeholder.
fn mask(text: &str, findings: &Findings) -> String {
    let mut masked = String::new();
    let mut from = 0;
    for finding in findings {
        masked.push_str(&text[from..finding.span.start]);
        masked.push_str(finding.kind.placeholder());
        from = finding.span.end;
    }
    masked.push_str(&text[from..]);
    masked
}

/// The text with every finding taken out.
fn remove(text: &str, findings: &Findings) -> String {
    let mut rest = String::new();
    let mut from = 0;
    for finding in findings {
        rest.push_str(&text[from..finding.span.start]);
        from = finding.span.end;
    }
    rest.push_str(&text[from..]);
    rest
}

fn check_order(text: &str, findings: &Findings) {
    let mut from = 0;
    for finding in findings {
        assert!(finding.span.start >= from, "overlap or disorder");
        assert!(finding.span.end > finding.span.start, "empty finding");
        assert!(
            text.get(finding.span.clone()).is_some(),
            "not on character boundaries"
        );
        assert!((0.0..=1.0).contains(&finding.score));
        assert!(finding.kind.default_threshold(Depth::Careful) <= finding.score);
        from = finding.span.end;
    }
    assert!(from <= text.len());
    assert!(findings.is_complete());
}

/// Pieces of prompts, good and bad, to be put together at random.
const PIECES: &[&str] = &[
    "Patient ",
    "Jane Roe",
    "SSN ",
    "536-22-8741",
    "DOB: ",
    "03/14/1962",
    "MRN ",
    "00482913",
    "call ",
    "(206) 555-0142",
    "jane@example.org",
    " at ",
    "1428 Larchmont Avenue, Spokane, WA 99205",
    "Medicare ",
    "1EG4-TE5-MK73",
    ", ",
    ". ",
    "\n",
    "Dr. ",
    "Newman",
    " x123",
    "{\"ssn\":\"",
    "\"}",
    "PID|1||",
    "^",
    "|",
    "５３６",
    "\u{200b}",
    "\u{301}",
    "é",
    "&#53;",
    "%2D",
    "\\u0035",
    "five three six two two eight seven four one",
    "[SSN]",
    "[NAME]",
    "born ",
    "March 14",
    " is ",
    "name,ssn\n",
    "a,b\n",
    "<ssn>",
    "</ssn>",
    "VGhlIFNTTiBpcyA1MzYtMjItODc0MQ",
    "35 33 36 2d 32 32 2d 38 37 34 31",
    "Apt 4B",
    "PO Box 12",
    "zip ",
    "99205",
    "Roe, Jane",
    "@",
    "\u{202e}",
    "𝟓",
    "#",
    "12",
    " mg",
];

/// Letters of several bytes, and signs other than letters.
const LETTERS: &[&str] = &[
    "日本",
    "山田 太郎",
    "Łódź",
    "Жанна Петрова",
    "Ñuñoa",
    "ß",
    "e\u{308}",
    "😀",
    "\u{a0}",
    "\u{202f}",
    "\u{feff}",
    "’",
    "–",
    "…",
    "№ ",
    "：",
];

/// Parts of addresses.
const PLACES: &[&str] = &[
    ", ",
    " ",
    "\n",
    "9 ",
    "3/18 ",
    "12 Elm Street",
    "Rose Lane",
    "Rose Cottage",
    "Flat 2",
    "Phase 2 ",
    "Dist. ",
    "opp. ",
    "Lindenstraße 7",
    "ul. Długa 4",
    "Calle Mayor 3",
    "rue de la Paix",
    "新宿区西新宿2-8-1",
    "〒160-0023",
    "2032 HA Haarlem",
    "SY23 4LA",
    "Nagpur-440022",
    "WA",
    "Address ",
    "Dirección: ",
    "lives at ",
    "corner of ",
];

/// Labels in several languages, speakers, tables and programs.
const FRAMES: &[&str] = &[
    "Nº de historia: ",
    "Geburtsdatum ",
    "née le ",
    "nacida el ",
    "Tél. ",
    "tel ",
    "住所：",
    "生年月日 ",
    "last four of her social ",
    "ending in ",
    "Nurse: ",
    "[10:32] ",
    "Caller> ",
    "\t",
    " | ",
    ";",
    "|---|\n",
    "(",
    ")",
    "'",
    "-",
    "INSERT INTO patients (mrn, dob) VALUES (",
];

/// Sentences as people write them.
const SENTENCES: &[&str] = &[
    "Patient Jane Roe, SSN 536-22-8741, has a cough.",
    "The patient's date of birth is 03/14/1962.",
    "MRN: 00482913 admitted for chest pain.",
    "Please call the patient back on 206-555-0142 after lunch.",
    "Send the results to jane.roe@example.org please.",
    "The patient lives at 1428 Larchmont Avenue, Spokane, WA 99205.",
    "Medicare ID is 1EG4-TE5-MK73, please summarise.",
    "Dr. Newman will see Mrs. Roe on Monday.",
    "Name: Roe, Jane  DOB: 3/14/62  Phone: (206) 555-0142 x12",
    "My husband Mark was born on March 14, 1962.",
    "PID|1||00482913^^^MR||ROE^JANE||19620314|F|||12 OAK ST^^YAKIMA^WA^98901||2065550142",
    "{\"name\": \"Jane Roe\", \"ssn\": \"536228741\", \"dob\": \"1962-03-14\"}",
    "The last four of her social are 8741.",
    "Metformin 500 mg twice daily, BP 120/80, room 12.",
    "Fax 206.555.0143, pager 555-0144, zip 98901",
    "Signed by Jane Roe, MD at 10:30.",
];

fn sentences() -> impl Strategy<Value = String> {
    let joint = prop::sample::select(&[" ", "\n", "\n\n"][..]);
    let parts = prop::collection::vec((prop::sample::select(SENTENCES), joint), 0..8);
    parts.prop_map(|parts| {
        parts
            .into_iter()
            .flat_map(|(sentence, joint)| [sentence, joint])
            .collect()
    })
}

/// Texts of up to two dozen pieces.
fn made_of(tables: &[&[&'static str]]) -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(tables.concat());
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

fn pieces() -> impl Strategy<Value = String> {
    made_of(&[PIECES, LETTERS, PLACES, FRAMES])
}

/// Seeded configuration: equal texts on every run; `PROPTEST_CASES` sets their number, `SEED` their choice.
fn config() -> ProptestConfig {
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let default = ProptestConfig::default();
    ProptestConfig {
        // A finding that ends in the middle of a letter takes several rare pieces side by side.
        cases: 16 * default.cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed.unwrap_or(1962)),
        ..default
    }
}

#[test]
fn multibyte_letters_beside_addresses_stay_whole() {
    for text in [
        "–,   /tel  775-2O8-0O41 Dist. 12 Elm Street,\n03 XY127RTBex: hi/Phase 2 日本",
        "2032 HA Haarlemopp. Łódź, 12 Elm Streeẗ, \n, ’3F23F2 9 😀Rose Lane, 😀, Address ",
        "Address ÉÉÉÉÉÉÉÉÉÉÉÉÉÉÉÉÉÉÉÉÉ, Rose Lane 4",
    ] {
        check_order(text, &detector().scan(text));
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn arbitrary_text_findings_keep_order_and_boundaries(text in any::<String>()) {
        check_order(&text, &detector().scan(&text));
        check_order(&text, &detector().scan_field("ssn", &text));
    }

    #[test]
    fn mixed_piece_findings_keep_order_and_boundaries(text in pieces()) {
        check_order(&text, &detector().scan(&text));
    }

    #[test]
    fn multibyte_address_findings_keep_order_and_boundaries(text in made_of(&[LETTERS, PLACES])) {
        check_order(&text, &detector().scan(&text));
    }

    #[test]
    fn masking_twice_is_masking_once(text in sentences()) {
        let detector = detector();
        let once = mask(&text, &detector.scan(&text));
        let twice = mask(&once, &detector.scan(&once));
        prop_assert_eq!(&once, &twice, "from {:?}", text);
    }

    #[test]
    fn removing_twice_is_removing_once(text in sentences()) {
        let detector = detector();
        let once = remove(&text, &detector.scan(&text));
        let twice = remove(&once, &detector.scan(&once));
        prop_assert_eq!(&once, &twice, "from {:?}", text);
    }

    /// Words run together at random may need a second look once the first finding is gone, but not for ever.
    #[test]
    fn masking_any_text_comes_to_rest(text in pieces()) {
        let detector = detector();
        let mut text = text;
        for _ in 0..8 {
            text = mask(&text, &detector.scan(&text));
        }
        prop_assert!(detector.scan(&text).is_empty(), "{:?}", text);
    }
}
