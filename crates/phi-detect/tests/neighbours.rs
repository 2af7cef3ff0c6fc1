//! A labelled or complete identifier is found next to any character.
//!
//! Every kind, every form of its label and every neighbour before and after the value: all signs of ASCII, and the
//! punctuation, spaces, dashes, bullets and currency signs of Unicode. If a neighbour makes another value,
//! [`EXCEPTIONS`] says so and why.

use phi_detect::{Detector, PhiKind};

/// Kind, the label as people write it, and its value.
const LABELLED: &[(&str, &str, &str)] = &[
    ("ssn", "SSN: ", "536-22-8741"),
    ("ssn", "SSN ", "536 22 8741"),
    ("ssn", "SSNs ", "536-22-8741"),
    ("ssn", "SSN=", "536228741"),
    ("ssn", "Her SSN is ", "536228741"),
    ("ssn", "social security number: ", "536-22-8741"),
    ("phone", "Phone: ", "206-555-0142"),
    ("phone", "phone=", "206-555-0142"),
    ("phone", "cell ", "2065550142"),
    ("phone", "call her on ", "(206) 555-0142"),
    ("phone", "Fax: ", "206.555.0143"),
    ("mrn", "MRN: ", "48291378"),
    ("mrn", "mrn=", "48291378"),
    ("mrn", "The medical record number is ", "48291378"),
    ("medicare_id", "MBI: ", "1EG4-TE5-MK73"),
    ("medicare_id", "Medicare ID ", "1EG4TE5MK73"),
    ("dob", "DOB: ", "07/02/1971"),
    ("dob", "dob=", "1971-07-02"),
    ("dob", "date of birth is ", "July 2, 1971"),
    ("dob", "born on ", "2 July 1971"),
    ("email", "Email: ", "jane.roe@example.org"),
    ("address", "Address: ", "1428 Larchmont Avenue"),
    (
        "address",
        "lives at ",
        "1428 Larchmont Avenue, Spokane, WA 99205",
    ),
];

/// Values that are found by their form alone.
const UNMISTAKABLE: &[(&str, &str)] = &[
    ("ssn", "536-22-8741"),
    ("phone", "(206) 555-0142"),
    ("phone", "206-555-0142"),
    ("medicare_id", "1EG4-TE5-MK73"),
    ("medicare_id", "1EG4TE5MK73"),
];

/// Signs of ASCII that can be beside a value.
fn ascii() -> impl Iterator<Item = char> {
    (1..128u8)
        .map(char::from)
        .filter(|character| !character.is_ascii_alphanumeric())
}

/// Blocks and single characters of Unicode that hold punctuation, spaces, dashes, bullets and currency signs.
const UNICODE: &[std::ops::RangeInclusive<char>] = &[
    '\u{a0}'..='\u{a9}',
    '\u{ab}'..='\u{b1}',
    '\u{b6}'..='\u{b8}',
    '\u{bb}'..='\u{bb}',
    '\u{bf}'..='\u{bf}',
    '\u{37e}'..='\u{37e}',
    '\u{387}'..='\u{387}',
    '\u{589}'..='\u{58a}',
    '\u{5be}'..='\u{5be}',
    '\u{60c}'..='\u{60d}',
    '\u{61b}'..='\u{61b}',
    '\u{61f}'..='\u{61f}',
    '\u{66a}'..='\u{66d}',
    '\u{6d4}'..='\u{6d4}',
    '\u{964}'..='\u{965}',
    '\u{e3f}'..='\u{e3f}',
    '\u{1361}'..='\u{1368}',
    '\u{1680}'..='\u{1680}',
    '\u{17d4}'..='\u{17d6}',
    '\u{1800}'..='\u{180a}',
    '\u{2000}'..='\u{200a}',
    '\u{2010}'..='\u{2029}',
    '\u{202f}'..='\u{205e}',
    '\u{20a0}'..='\u{20c0}',
    '\u{2190}'..='\u{2193}',
    '\u{2500}'..='\u{2503}',
    '\u{25a0}'..='\u{25a1}',
    '\u{25cf}'..='\u{25cf}',
    '\u{2713}'..='\u{2714}',
    '\u{2e00}'..='\u{2e2e}',
    '\u{2e30}'..='\u{2e4f}',
    '\u{3000}'..='\u{3003}',
    '\u{3008}'..='\u{3011}',
    '\u{3014}'..='\u{301f}',
    '\u{3030}'..='\u{3030}',
    '\u{30fb}'..='\u{30fb}',
    '\u{fe50}'..='\u{fe52}',
    '\u{fe54}'..='\u{fe66}',
    '\u{fe68}'..='\u{fe6b}',
    '\u{ff01}'..='\u{ff0f}',
    '\u{ff1a}'..='\u{ff20}',
    '\u{ff3b}'..='\u{ff3d}',
    '\u{ff3f}'..='\u{ff3f}',
    '\u{ff5b}'..='\u{ff65}',
    '\u{ffe0}'..='\u{ffe6}',
    '\u{fffc}'..='\u{fffd}',
];

fn neighbours() -> Vec<char> {
    let unicode = UNICODE.iter().flat_map(Clone::clone);
    ascii().chain(unicode).collect()
}

/// Positions at which a value is not found, and why that is right. Empty means any.
struct Exception {
    kind: &'static str,
    value: &'static str,
    /// Whether only values without a label are left out.
    is_bare: bool,
    places: &'static [Place],
    neighbours: fn(char) -> bool,
    #[expect(dead_code, reason = "tells the reader why")]
    reason: &'static str,
}

/// Signs that read as a dash or a dot, and so as one more group of the number.
fn is_dash_or_dot(neighbour: char) -> bool {
    "-.·\u{387}֊־۔᠆‐‑‒–—―•․‧⁃⁓─━●⸗⸚⸱⸳⸺⸻⹀。〜〰・﹒﹘﹣－．｡･".contains(neighbour)
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        kind: "",
        value: "",
        is_bare: false,
        places: &Place::ALL,
        neighbours: |neighbour| neighbour == '₨',
        reason: "stands for the letters Rs, so it is a letter beside the value",
    },
    Exception {
        kind: "",
        value: "",
        is_bare: false,
        places: &[
            Place::AfterWithDigit,
            Place::AfterWithWord,
            Place::BeforeWithDigit,
            Place::Between,
        ],
        neighbours: |neighbour| {
            neighbour.is_control() && !"\t\n\r".contains(neighbour) || neighbour == '\u{ad}'
        },
        reason: "nobody sees it, so the value and what stands beyond are one word",
    },
    Exception {
        kind: "",
        value: "",
        is_bare: false,
        places: &[Place::Before, Place::BeforeWithDigit, Place::Between],
        neighbours: |neighbour| matches!(neighbour, '%' | '='),
        reason: "with the first two digits of the value it is an escape: %53 is an S, =20 a space",
    },
    Exception {
        kind: "ssn",
        value: "536-22-8741",
        is_bare: true,
        places: &[Place::Before],
        neighbours: |neighbour| "+﹢＋".contains(neighbour),
        reason: "without a label it is found as a telephone number",
    },
    Exception {
        kind: "ssn",
        value: "536-22-8741",
        is_bare: true,
        places: &[
            Place::AfterWithDigit,
            Place::BeforeWithDigit,
            Place::Between,
        ],
        neighbours: is_dash_or_dot,
        reason: "without a label it is a piece of a longer number",
    },
    Exception {
        kind: "phone",
        value: "206-555-0142",
        is_bare: true,
        places: &[Place::AfterWithDigit, Place::Between],
        neighbours: is_dash_or_dot,
        reason: "without a label it is a piece of a longer number",
    },
    Exception {
        kind: "dob",
        value: "July 2, 1971",
        is_bare: false,
        places: &[Place::BeforeWithDigit],
        neighbours: |_| true,
        reason: "\"1 July\" is another date",
    },
    Exception {
        kind: "dob",
        value: "2 July 1971",
        is_bare: false,
        places: &[Place::BeforeWithDigit],
        neighbours: |neighbour| is_dash_or_dot(neighbour) || "/⁄／".contains(neighbour),
        reason: "\"1-2\" and \"1/2\" are a range of days or a fraction",
    },
    Exception {
        kind: "dob",
        value: "July 2, 1971",
        is_bare: false,
        places: &[Place::Between],
        neighbours: |_| true,
        reason: "one date of birth for one label, unless they are in figures",
    },
    Exception {
        kind: "dob",
        value: "2 July 1971",
        is_bare: false,
        places: &[Place::Between],
        neighbours: |_| true,
        reason: "one date of birth for one label, unless they are in figures",
    },
    Exception {
        kind: "address",
        value: "",
        is_bare: false,
        places: &[Place::Between],
        neighbours: |_| true,
        reason: "two addresses without a space between them are one to no reader",
    },
    Exception {
        kind: "address",
        value: "",
        is_bare: false,
        places: &[Place::Before],
        neighbours: |neighbour| neighbour == '\\',
        reason: "with the digits after it, it is an escape: \\142 is a b",
    },
    Exception {
        kind: "email",
        value: "",
        is_bare: false,
        places: &[Place::AfterWithDigit],
        neighbours: |neighbour| neighbour == '°',
        reason: "counts as a letter, so the digit ends the name of a domain that does not exist",
    },
];

/// Position of the neighbour, as a template: `V` is the value, `N` the neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    After,
    AfterWithDigit,
    AfterWithWord,
    Before,
    BeforeWithDigit,
    Between,
}

impl Place {
    const ALL: [Place; 6] = [
        Place::After,
        Place::AfterWithDigit,
        Place::AfterWithWord,
        Place::Before,
        Place::BeforeWithDigit,
        Place::Between,
    ];

    fn write(self, value: &str, neighbour: char) -> String {
        match self {
            Place::After => format!("{value}{neighbour} and so on"),
            Place::AfterWithDigit => format!("{value}{neighbour}5 visits"),
            Place::AfterWithWord => format!("{value}{neighbour}noted"),
            Place::Before => format!("{neighbour}{value} and so on"),
            Place::BeforeWithDigit => format!("1{neighbour}{value} and so on"),
            Place::Between => format!("{value}{neighbour}{value}"),
        }
    }
}

fn is_excepted(row: (&str, &str, &str), place: Place, neighbour: char) -> bool {
    let (kind, label, value) = row;
    EXCEPTIONS.iter().any(|one| {
        (one.kind == kind || one.kind.is_empty())
            && (one.value == value || one.value.is_empty())
            && (label.is_empty() || !one.is_bare)
            && one.places.contains(&place)
            && (one.neighbours)(neighbour)
    })
}

/// Whether every letter and digit of the value, at each of its positions in the text, is covered by findings, at
/// least one of the kind.
fn is_found(detector: &Detector, kind: PhiKind, text: &str, value: &str) -> bool {
    let findings = detector.scan(text);
    text.match_indices(value).all(|(start, _)| {
        let covering = |at: usize| {
            let found = findings.iter().find(|finding| finding.span.contains(&at));
            found.map(|finding| finding.kind)
        };
        let letters = value
            .char_indices()
            .filter(|(_, one)| one.is_alphanumeric());
        let kinds: Option<Vec<_>> = letters.map(|(at, _)| covering(start + at)).collect();
        kinds.is_some_and(|kinds| kinds.contains(&kind))
    })
}

fn check(rows: impl Iterator<Item = (&'static str, &'static str, &'static str)>, places: &[Place]) {
    let detector = Detector::default().without_names();
    let mut wrong = Vec::new();
    for (code, label, value) in rows {
        let kind = PhiKind::from_code(code).expect("a kind of the table");
        for &place in places {
            let mut missed = String::new();
            for neighbour in neighbours() {
                let text = format!("{label}{}", place.write(value, neighbour));
                let is_found = is_found(&detector, kind, &text, value);
                if !is_found && !is_excepted((code, label, value), place, neighbour) {
                    missed.push(neighbour);
                }
            }
            if !missed.is_empty() {
                wrong.push(format!("{code} {label:?} {value:?} {place:?}: {missed:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "missed beside these:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn labelled_value_is_found_beside_every_sign() {
    check(LABELLED.iter().copied(), &Place::ALL);
}

#[test]
fn unmistakable_value_is_found_beside_every_sign() {
    let rows = UNMISTAKABLE.iter().map(|&(code, value)| (code, "", value));
    check(rows, &Place::ALL);
}
