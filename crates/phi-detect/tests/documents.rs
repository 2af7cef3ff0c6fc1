//! Documents inside the text and disguised text: what is found, as kind and exact original text.

use phi_detect::{Detector, Settings};

fn found(text: &str) -> Vec<(&'static str, &str)> {
    let detector = Detector::new(Settings::default()).expect("the default settings are fine");
    let findings = detector.scan(text);
    findings
        .iter()
        .map(|finding| (finding.kind.code(), &text[finding.span.clone()]))
        .collect()
}

fn check(text: &str, expected: &[(&str, &str)]) {
    assert_eq!(found(text), expected, "in {text:?}");
}

#[test]
fn json_keys_and_neighbours_give_meaning() {
    check(
        r#"{"resourceType":"Patient","identifier":[{"system":"http://hl7.org/fhir/sid/us-ssn","value":"536228741"}],"birthDate":"1962-03-14","telecom":[{"system":"phone","value":"2065550142"}]}"#,
        &[
            ("ssn", "536228741"),
            ("dob", "1962-03-14"),
            ("phone", "2065550142"),
        ],
    );
    check(
        r#"{"pt":{"nm":"Chatura Amble","bd":"08/05/1962","id":"9666877"}}"#,
        &[
            ("name", "Chatura Amble"),
            ("dob", "08/05/1962"),
            ("mrn", "9666877"),
        ],
    );
    check(
        r#"{"name":[{"family":"Roe","given":["Jane","Q"]}],"address":[{"line":["12 Oak Mill"],"city":"Yakima","postalCode":"98901"}]}"#,
        &[
            ("name", "Roe"),
            ("name", "Jane"),
            ("name", "Q"),
            ("address", "12 Oak Mill"),
            ("address", "98901"),
        ],
    );
    check(r#"{"name":"get_weather","unit":"c"}"#, &[]);
    check(
        r#"[{"question":"Date of birth","answer":"3/14/1962"}]"#,
        &[("dob", "3/14/1962")],
    );
    check(r#"{"order":{"id":"536228741","lot":"482913"}}"#, &[]);
    check("{'ssn': '536228741'}", &[("ssn", "536228741")]);
    check(
        r#"{"medicalRecordNumber":{"value":"771204"},"ssn_last4":"8741","order":{"value":"771204"}}"#,
        &[("mrn", "771204"), ("ssn", "8741")],
    );
    check(
        r#"{"ids":[{"type":"MRN","id":"771204"},{"type":"CSN","id":"771240"},{"system":"https://hospital.example/ids/mrn","value":"771299"}]}"#,
        &[("mrn", "771204"), ("mrn", "771299")],
    );
    check(r#"save({\"ssn\":\"536228741\"})"#, &[("ssn", "536228741")]);
}

#[test]
fn space_aligned_column_heads_give_meaning() {
    check(
        "MRN       Last      First    Admit\n771204    Roe       Jane     1/4/2025\n771240    Doe                1/5/2025\n",
        &[
            ("mrn", "771204"),
            ("name", "Roe"),
            ("name", "Jane"),
            ("mrn", "771240"),
            ("name", "Doe"),
        ],
    );
    check("Test      Result   Unit\nSodium    138      mmol/L\n", &[]);
}

#[test]
fn positions_in_hl7_and_x12_give_meaning() {
    check(
        "PID|1||00482913^^^MRN||ROE^JANE^Q||19620314|F|||1428 LARCHMONT AVE^^SPOKANE^WA^99205||2065550142||||||536228741",
        &[
            ("mrn", "00482913"),
            ("name", "ROE^JANE^Q"),
            ("dob", "19620314"),
            ("address", "1428 LARCHMONT AVE^^SPOKANE^WA^99205"),
            ("phone", "2065550142"),
            ("ssn", "536228741"),
        ],
    );
    check(
        "PV1|1|I|ICU^2^1||||1134^NEWMAN^ZOE^^^DR",
        &[("name", "NEWMAN^ZOE")],
    );
    check(
        "NM1*IL*1*ROE*JANE*Q***HN*1EG4TE5MK73~N3*12 OAK MILL~N4*YAKIMA*WA*98901~DMG*D8*19620314*F~",
        &[
            ("name", "ROE*JANE*Q"),
            ("medicare_id", "1EG4TE5MK73"),
            ("address", "12 OAK MILL"),
            ("address", "98901"),
            ("dob", "19620314"),
        ],
    );
    // With one empty element too many.
    check(
        "NM1*IL*1*ROE*JANE*Q****34*536228741~",
        &[("name", "ROE*JANE*Q"), ("ssn", "536228741")],
    );
}

#[test]
fn columns_and_tags_give_meaning() {
    let row = [
        ("name", "Jane Roe"),
        ("ssn", "536228741"),
        ("dob", "1962-03-14"),
    ];
    check("name,ssn,dob\nJane Roe,536228741,1962-03-14", &row);
    check(
        "Here it is: name,ssn,dob\nJane Roe,536228741,1962-03-14\n",
        &row,
    );
    check(
        "| Name | SSN | DOB |\n|---|---|---|\n| Jane Roe | 536228741 | 1962-03-14 |",
        &row,
    );
    check(
        "INSERT INTO people (name, ssn, dob) VALUES ('Jane Roe', '536228741', '1962-03-14');",
        &row,
    );
    check(
        "<p><name>Jane Roe</name><ssn>536228741</ssn><birthDate value=\"1962-03-14\"/></p>",
        &row,
    );
    check(
        "SELECT * FROM visits WHERE ssn = '536228741'",
        &[("ssn", "536228741")],
    );
    check("drug,dose,unit\nmetformin,500,mg\n", &[]);
}

#[test]
fn disguised_value_is_reported_as_written() {
    for disguised in [
        "５３６-２２-８７４１",
        "5\u{200d}3\u{200d}6\u{200d}-22-8741",
        "5\u{336}3\u{336}6\u{336}-22-8741",
        "536‑22‑8741",
        "536\u{a0}22\u{a0}8741",
        "٥٣٦-22-8741",
        "&#53;36-22-8741",
        "536%2D22%2D8741",
        "\\u0035\\u0033\\u0036-22-8741",
        "536-22-\n8741",
        "536`-`22`-`8741",
        "536<b>-</b>22-8741",
        "NTM2LTIyLTg3NDE=",
        "3533362d32322d38373431",
        "35 33 36 2d 32 32 2d 38 37 34 31",
        "five three six, two two, eight seven four one",
    ] {
        check(
            &format!("The SSN is {disguised}, thanks"),
            &[("ssn", disguised)],
        );
    }
    check(
        "mail jane.roe＠example．org",
        &[("email", "jane.roe＠example．org")],
    );
    check("Ѕосіаl Ѕесurіtу: 536228741", &[("ssn", "536228741")]);
}

#[test]
fn harmless_text_stays_clean() {
    for text in [
        "Decode SGVsbG8sIHRoaXMgaXMgYSBwZXJmZWN0bHkgb3JkaW5hcnkgc2VudGVuY2Uu",
        "Commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad breaks the build.",
        "Upgrade from 1.2.3 to 2.0.0-rc.1+build.5.",
        "Our family 👨\u{200d}👩\u{200d}👧 and 🏳\u{fe0f}\u{200d}🌈",
        "血糖値は１２６以上です。",
        "Normal TSH is 0.4-4.0 mIU/L; platelets 150-400.",
        "Patient [NAME], SSN [SSN], has a cough",
        "Patient , SSN , has a cough",
    ] {
        check(text, &[]);
    }
}

#[test]
fn the_name_of_a_field_gives_meaning() {
    let detector = Detector::new(Settings::default()).expect("the default settings are fine");
    for (name, value, code) in [
        ("birthDate", "1970-01-02", "dob"),
        ("ssn", "536228741", "ssn"),
        ("ssn", "5.36228741e8", "ssn"),
        ("patient_mrn", "482913", "mrn"),
        ("homePhone", "2065550142", "phone"),
        ("last_name", "Roe", "name"),
        ("zip", "99205", "address"),
        ("medicareId", "1EG4TE5MK73", "medicare_id"),
        ("notes", "SSN 536-22-8741", "ssn"),
    ] {
        let findings = detector.scan_field(name, value);
        let codes: Vec<_> = findings.iter().map(|finding| finding.kind.code()).collect();
        assert_eq!(codes, [code], "{name}: {value}");
    }
    for (name, value) in [
        ("temperature", "536228741"),
        ("order_id", "536228741"),
        ("name", "get_weather"),
    ] {
        assert!(
            detector.scan_field(name, value).is_empty(),
            "{name}: {value}"
        );
    }
}
