//! Values in disguise: coded, dressed up, taken apart. One more disguise is one more row.
//!
//! Each row is the code of a kind and a text in which exactly the parts between `«` and `»` are found.

use std::ops::Range;

use phi_detect::Detector;

/// Splits `SSN «536…»` into the text and the marked spans.
fn unmark(marked: &str) -> (String, Vec<Range<usize>>) {
    let mut text = String::new();
    let mut spans = Vec::new();
    let mut start = 0;
    for c in marked.chars() {
        match c {
            '«' => start = text.len(),
            '»' => spans.push(start..text.len()),
            other => text.push(other),
        }
    }
    (text, spans)
}

fn check(rows: &[(&str, &str)]) {
    let detector = Detector::default();
    let mut wrong = Vec::new();
    for (code, marked) in rows {
        let (text, expected) = unmark(marked);
        let findings = detector.scan(&text);
        let spans: Vec<_> = findings
            .iter()
            .filter(|finding| finding.kind.code() == *code)
            .map(|finding| finding.span.clone())
            .collect();
        if spans != expected {
            let shown: Vec<_> = spans.iter().map(|span| &text[span.clone()]).collect();
            wrong.push(format!("{code}: {marked:?} gives {shown:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn comments_of_markup_are_read() {
    check(&[
        (
            "ssn",
            "<notes><!-- SSN «536-22-8741» --><note>see</note></notes>",
        ),
        (
            "name",
            "<notes><!--Patient «Maria Delgado»--><note>see</note></notes>",
        ),
        ("ssn", "SSN «536<!-- cut -->-22-8741»"),
    ]);
}

#[test]
fn escapes_are_read_also_twice() {
    check(&[
        ("ssn", "ssn=«536-22-8741»%0Aplan=gold"),
        ("ssn", "ssn=«536-22-8741»%0D%0Aplan=gold"),
        ("mrn", "mrn=«48291378»%0D%0Aunit=B2"),
        ("phone", "phone=«206-555-0142»%09note=ok"),
        ("ssn", "SSN «536%2D22%2D8741»"),
        ("ssn", "SSN «536%252D22%252D8741»"),
        ("ssn", "SSN «536%25252D22%25252D8741»"),
        ("ssn", "SSN «&#53;36-22-8741»"),
        ("ssn", "SSN «&amp;#53;36-22-8741»"),
        ("ssn", "SSN «&amp;amp;#x35;36&amp;hyphen;22-8741»"),
        ("ssn", r"SSN «\u{35}\u{33}\u{36}-22-8741»"),
        ("ssn", r"SSN «\065\063\066-22-8741»"),
        ("ssn", r"SSN «\U00000035\x33\u0036-22-8741»"),
        (
            "ssn",
            r#"{"a":"{\"b\":\"{\\\"ssn\\\":\\\"«\\\\u0035\\\\u0033\\\\u0036228741»\\\"}\"}"}"#,
        ),
        ("mrn", "echo MRN: «4829\\\n1378»"),
    ]);
}

#[test]
fn looks_are_seen_through() {
    check(&[
        ("phone", "Call **«206**-555-0142» now"),
        ("phone", "Call `«206`-555-0142» now"),
        ("phone", "Call __«206__-555-0142» now"),
        ("phone", "Call «(206) **555**-0142» now"),
        ("phone", "Call «( 206 ) 555 - 0142» now"),
        ("dob", "DOB: **«07**/**02**/**1971»**"),
        ("ssn", "SSN <b>«536</b>-22-8741»"),
        ("ssn", "SSN <font color=red>«536</font>-22-8741»"),
        ("ssn", "SSN: <span style=\"color:red\">«536</span>-22-8741»"),
        ("ssn", "SSN \u{1b}[31m«536\u{1b}[0m-22-8741»"),
        ("ssn", r"SSN \x1b[1;31m«536\x1b[0m-22-8741»"),
        ("ssn", r"SSN \e[31m«536\e[0m-22-8741»"),
        ("ssn", r"SSN \033[31m«536\033[0m-22-8741»"),
        ("name", "Patient **«Ma**ria **Del**gado» has a cough."),
        ("name", "Patient <b>«Ma</b>ria <i>Del</i>gado» has a cough."),
        ("mrn", "**MRN:** «48291378», *MRN*: «48291379»"),
    ]);
}

#[test]
fn looks_that_are_something_else_stay() {
    check(&[
        ("ssn", "x = 536**22**8741 and y = a*536*22"),
        ("ssn", "SSN: «***-**-8741», then «***-**-8742»"),
        ("name", "def __init__(self, *args, **kwargs): pass"),
    ]);
}

#[test]
fn signs_of_all_scripts_part_numbers() {
    check(&[
        ("ssn", "SSN «536־22־8741»"),
        ("ssn", "SSN «536─22─8741»"),
        ("ssn", "SSN «536\u{fffc}22\u{fffc}8741»"),
        ("ssn", "SSN «536★22★8741»"),
        ("ssn", "SSN «536〜22〜8741»"),
        ("ssn", "SSN: «536-22-8741»、確認"),
        ("ssn", "SSN: 「«536-22-8741»」"),
        ("phone", "Call «206◆555◆0142»"),
    ]);
}

#[test]
fn wrapped_lines_are_joined() {
    check(&[
        ("ssn", "SSN: «536-22=\n-8741»"),
        ("ssn", "SSN: «536-22=\r\n-8741»"),
        ("ssn", "SSN: «536=2D22=2D8741»"),
        ("email", "write «jane.roe=40example.org»"),
        ("ssn", "> SSN: «536-22-\n> 8741» is his"),
        ("ssn", "> > SSN: «536-22-\n> > 8741» is his"),
        ("ssn", "// SSN: «536-22-\n// 8741» is his"),
        ("ssn", "# SSN: «536-22-\n# 8741» is his"),
        ("phone", "BEGIN:VCARD\nTEL:«206-555-\n 0142»\nEND:VCARD"),
        ("dob", "BEGIN:VCARD\r\nBDAY:«1971-0\r\n 7-02»\r\nEND:VCARD"),
    ]);
}

#[test]
fn spaced_letters_are_words() {
    check(&[
        ("dob", "P a t i e n t  D O B :  «0 7 / 0 2 / 1 9 7 1»"),
        ("name", "P a t i e n t :  «M a r i a   D e l g a d o»"),
        (
            "ssn",
            "S o c i a l  S e c u r i t y :  «5 3 6 - 2 2 - 8 7 4 1»",
        ),
    ]);
}

#[test]
fn coded_text_is_decoded() {
    check(&[
        ("ssn", "GET /p/«U1NOOiA1MzYtMjItODc0MQ==» now"),
        ("ssn", "patient_«U1NOOiA1MzYtMjItODc0MQ» is odd"),
        ("ssn", "id-«U1NOOiA1MzYtMjItODc0MQ»/edit"),
        ("ssn", "key-«53534e3a203533362d32322d38373431»"),
        ("ssn", "«KNJU4ORAGUZTMLJSGIWTQNZUGE==»===="),
        ("ssn", "see «<~;c?FP+>kr5/M](53&`ZK~>»"),
        (
            "ssn",
            "«00110101 00110011 00110110 00101101 00110010 00110010 00101101 00111000 00110111 00110100 00110001»",
        ),
        (
            "ssn",
            "SSN «0011010100110011001101100010110100110010001100100010110100111000001101110011010000110001»",
        ),
        ("ssn", "«065 063 066 055 062 062 055 070 067 064 061»"),
        ("ssn", "[«53, 51, 54, 45, 50, 50,\n    45, 56, 55, 52, 49»]"),
        (
            "ssn",
            "00000000: 5468 6520 7061 7469 656e 7473 2053 534e  The patients SSN\n00000010: «2069 7320 3533 362d 3232 2d38 3734 312e   is 536-22-8741.»",
        ),
        (
            "ssn",
            "00000000  «54 68 65 20 53 53 4e 20  69 73 20 35 33 36 2d 32  |The SSN is 536-2|\n00000010  32 2d 38 37 34 31                                 |2-8741»|",
        ),
    ]);
}

#[test]
fn damaged_names_are_read() {
    check(&[
        ("name", "Patient «J0hn Sm1th» has a cough."),
        ("name", "Patient «Jane Sm1th» has a cough."),
        ("name", "Give B12 and check for H1N1."),
    ]);
}
