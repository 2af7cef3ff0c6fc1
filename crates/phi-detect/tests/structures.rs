//! Documents whose heads, keys, tags or places give values their meaning. One more form is one more row.
//!
//! Rules alone read these: each row is a text and everything that is found in it without the name model.

use phi_detect::Detector;

type Row = (&'static str, &'static [(&'static str, &'static str)]);

fn check(rows: &[Row]) {
    let detector = Detector::default().without_names();
    let mut wrong = Vec::new();
    for (text, expected) in rows {
        let findings = detector.scan(text);
        let found: Vec<_> = findings
            .iter()
            .map(|finding| (finding.kind.code(), &text[finding.span.clone()]))
            .collect();
        if found != *expected {
            wrong.push(format!("{text:?}\n    gives {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const MRN_DOB: &[(&str, &str)] = &[("mrn", "48291378"), ("dob", "1971-07-02")];
const MRN_DOB_NAME: &[(&str, &str)] = &[
    ("mrn", "48291378"),
    ("dob", "1971-07-02"),
    ("name", "Kofi Okonkwo"),
];
const SSN: &[(&str, &str)] = &[("ssn", "536228741")];
const MRN: &[(&str, &str)] = &[("mrn", "48291378")];
const DOB: &[(&str, &str)] = &[("dob", "1971-07-02")];
const DOB_PARTS: &[(&str, &str)] = &[("dob", "1971"), ("dob", "7"), ("dob", "2")];

#[test]
fn tables_of_markup() {
    check(&[
        (
            "<table><tr><th>MRN</th><th>DOB</th><th>Name</th></tr><tr><td>48291378</td><td>1971-07-02</td><td>Kofi Okonkwo</td></tr></table>",
            MRN_DOB_NAME,
        ),
        (
            "<TABLE><TR><TD>MRN<TD>DOB<TD>Name<TR><TD>48291378<TD>1971-07-02<TD>Kofi Okonkwo</TABLE>",
            MRN_DOB_NAME,
        ),
        (
            "<table><thead><tr><th><b>MRN</b></th><th>Ward</th></tr></thead><tr><td><a href=\"/p\">48291378</a></td><td>4</td></tr></table>",
            MRN,
        ),
        (
            "<tr><th>MRN</th><td>48291378</td></tr><tr><th>Born on</th><td>x</td></tr><tr><td>Date of birth:</td><td>1971-07-02</td></tr>",
            MRN_DOB,
        ),
        (
            "<dl><dt>MRN</dt><dd>48291378</dd><dt>Date of birth</dt><dd>1971-07-02</dd></dl>",
            MRN_DOB,
        ),
        (
            "<label for=\"a\">MRN</label>\n<input id=\"a\" value=\"48291378\"><label>DOB</label> <span>1971-07-02</span>",
            MRN_DOB,
        ),
        (
            "<Row><Cell><Data>MRN</Data></Cell><Cell><Data>DOB</Data></Cell></Row><Row><Cell><Data>48291378</Data></Cell><Cell><Data>1971-07-02</Data></Cell></Row>",
            MRN_DOB,
        ),
        (
            "<table><tr><th>Drug</th><th>Count</th></tr><tr><td>metformin</td><td>48291378</td></tr></table>",
            &[],
        ),
    ]);
}

#[test]
fn names_in_attributes() {
    check(&[
        ("<property name=\"mrn\" value=\"48291378\"/>", MRN),
        ("<input value=\"48291378\" type=\"text\" name=\"mrn\">", MRN),
        ("<field name=\"ssn\">536228741</field>", SSN),
        ("<add key=\"PatientSsn\" value=\"536228741\"/>", SSN),
        ("<td data-label=\"MRN\">48291378</td>", MRN),
        (
            "<id root=\"2.16.840.1.113883.4.1\" extension=\"536228741\"/>",
            SSN,
        ),
        (
            "<id extension='536228741' root='2.16.840.1.113883.4.1'/>",
            SSN,
        ),
        ("<div id=\"patient\">Nothing to show</div>", &[]),
        ("<property name=\"port\" value=\"48291378\"/>", &[]),
    ]);
}

#[test]
fn tables_of_json() {
    check(&[
        (
            r#"{"columns":["mrn","dob"],"rows":[["48291378","1971-07-02"]]}"#,
            MRN_DOB,
        ),
        (
            r#"{"rows":[["48291378","1971-07-02"]],"columns":["mrn","dob"]}"#,
            MRN_DOB,
        ),
        (
            r#"{"columns":["mrn","dob","name"],"index":[0],"data":[[48291378,"1971-07-02","Kofi Okonkwo"]]}"#,
            MRN_DOB_NAME,
        ),
        (
            r#"{"columns":[{"name":"mrn"},{"name":"dob"}],"rows":[["48291378","1971-07-02"]]}"#,
            MRN_DOB,
        ),
        (r#"[["mrn","dob"],["48291378","1971-07-02"]]"#, MRN_DOB),
        (r#"[["mrn","48291378"],["dob","1971-07-02"]]"#, MRN_DOB),
        (
            r#"{"a":{"columns":["mrn","dob"],"rows":[]},"b":{"columns":["lot","count"],"rows":[["48291378","1971"]]}}"#,
            &[],
        ),
        (
            r#"{"mrn":{"0":"48291378"},"dob":{"0":"1971-07-02"},"name":{"0":"Kofi Okonkwo"}}"#,
            MRN_DOB_NAME,
        ),
        (r#"{"0":{"mrn":48291378,"dob":"1971-07-02"}}"#, MRN_DOB),
    ]);
}

#[test]
fn keys_and_values_of_json() {
    check(&[
        (r#"[{"k":"ssn","v":"536228741"}]"#, SSN),
        (r#"{"fields":[{"id":"ssn","answer":"536228741"}]}"#, SSN),
        (r#"{"fields":[{"answer":536228741,"id":"ssn"}]}"#, SSN),
        (r#"{"name":"DOB","value":"1971-07-02"}"#, DOB),
        (
            r#"{"linkId":"4","text":"Date of birth","answer":[{"valueDate":"1971-07-02"}]}"#,
            DOB,
        ),
        (r#"{"linkId":"dob","answer":{"value":"1971-07-02"}}"#, DOB),
        (
            r#"{"question":"What is your date of birth?","answer":"1971-07-02"}"#,
            DOB,
        ),
        (r#"{"dob":{"year":1971,"month":7,"day":2}}"#, DOB_PARTS),
        (
            r#"{"birth_year":1971,"birth_month":7,"birth_day":2}"#,
            DOB_PARTS,
        ),
        (r#"{"visit":{"year":2021,"month":7,"day":2}}"#, &[]),
        (r#"{"name":"lot","value":"536228741"}"#, &[]),
        ("const p = {mrn: `48291378`, dob: '1971-07-02'};", MRN_DOB),
        (
            "const s = `MRN ${'48291378'}, born ${\"1971-07-02\"}`;",
            MRN_DOB,
        ),
    ]);
}

#[test]
fn images_and_cards() {
    const PATIENT: &[(&str, &str)] = &[
        ("name", "OKONKWO^KOFI"),
        ("mrn", "48291378"),
        ("dob", "19710702"),
    ];
    check(&[
        (
            "(0010,0010) PN [OKONKWO^KOFI]  #  12, 1 PatientName\n(0010,0020) LO [48291378]  #   8, 1 PatientID\n(0010,0030) DA [19710702]  #   8, 1 PatientBirthDate\n",
            PATIENT,
        ),
        (
            "(0010, 0010) Patient's Name   PN: 'OKONKWO^KOFI'\n(0010, 0020) Patient ID   LO: '48291378'\n(0010, 0030) Patient's Birth Date  DA: '19710702'\n",
            PATIENT,
        ),
        (
            r#"{"00100010":{"vr":"PN","Value":[{"Alphabetic":"OKONKWO^KOFI"}]},"00100020":{"vr":"LO","Value":["48291378"]},"00100030":{"vr":"DA","Value":["19710702"]}}"#,
            PATIENT,
        ),
        (
            "BEGIN:VCARD\nVERSION:3.0\nN:Okonkwo;Kofi;;;\nBDAY:1971\n 0702\nTEL;TYPE=cell:206-555-\n 0142\nEND:VCARD\n",
            &[
                ("name", "Okonkwo"),
                ("name", "Kofi"),
                ("dob", "1971\n 0702"),
                ("phone", "206-555-\n 0142"),
            ],
        ),
    ]);
}

#[test]
fn tables_of_text() {
    check(&[
        (
            "mrn,note,dob\n48291378,\"first line\nsecond, line\",1971-07-02\n",
            MRN_DOB,
        ),
        (
            "\"mrn\";\"dob\";\"name\"\n\"48291378\";\"1971-07-02\";\"Kofi Okonkwo\"\n",
            MRN_DOB_NAME,
        ),
        ("mrn\tdob\n48291378\t1971-07-02\n", MRN_DOB),
        (
            "        mrn         dob          name\n0  48291378  1971-07-02  Kofi Okonkwo\n",
            MRN_DOB_NAME,
        ),
        ("  mrn      dob       \n1 48291378 1971-07-02\n", MRN_DOB),
        ("mrn dob\n48291378 1971-07-02\n", MRN_DOB),
        (
            "+----------+------------+\n| mrn      | dob        |\n+==========+============+\n| 48291378 | 1971-07-02 |\n",
            MRN_DOB,
        ),
        (
            "INSERT INTO t (mrn, dob, name) VALUES (48291378, DATE '1971-07-02', N'Kofi Okonkwo');",
            MRN_DOB_NAME,
        ),
        (
            "COPY public.patients (mrn, dob) FROM stdin;\n48291378\t1971-07-02\n\\.\n",
            MRN_DOB,
        ),
    ]);
}

#[test]
fn labels_below_their_values() {
    check(&[
        ("536228741\nSSN\n", SSN),
        ("1971-07-02\nDate of Birth\n", DOB),
        (
            "48291378\nMRN\n1971-07-02\nDate of birth\nKofi Okonkwo\nPatient name\n",
            MRN_DOB_NAME,
        ),
        ("SSN\n536228741\nPhone\n", SSN),
        ("It felt better\nPatient\n", &[]),
    ]);
}

#[test]
fn documents_inside_strings() {
    const MRN_NAME: &[(&str, &str)] = &[("mrn", "48291378"), ("name", "Okonkwo")];
    check(&[
        (
            r#"{"role":"user","content":"mrn,last_name,dob\n48291378,Okonkwo,x\n"}"#,
            MRN_NAME,
        ),
        (
            r#"{"id":7,"content":"Sort:\n\n| MRN | Last name |\n|---|---|\n| 48291378 | Okonkwo |"}"#,
            MRN_NAME,
        ),
        (
            r#"{"text":"| MRN | Last name |\n|---|---|\n| 48291378 | Okonkwo |","n":1}"#,
            MRN_NAME,
        ),
        (r#"print("mrn,dob\n48291378,1971-07-02\n")"#, MRN_DOB),
        (
            r#"{"payload":"{\"mrn\":\"48291378\",\"lastName\":\"Okonkwo\"}","n":1}"#,
            MRN_NAME,
        ),
        (
            r#"{"payload":"{\"patient\":{\"mrn\":\"48291378\"}}","born":"{\"dob\":\"1971-07-02\"}"}"#,
            MRN_DOB,
        ),
        (
            r#"[{"type":"text","text":"MSH|^~\\&|A|B\rPID|1||48291378^^^H^MR||OKONKWO^KOFI||19710702|F\rPV1|1|I"}]"#,
            &[
                ("mrn", "48291378"),
                ("name", "OKONKWO^KOFI"),
                ("dob", "19710702"),
            ],
        ),
        (
            r#"{"raw":"PID|1||48291378^^^H^MR||OKONKWO^KOFI"}"#,
            &[("mrn", "48291378"), ("name", "OKONKWO^KOFI")],
        ),
        // A template, a list of words and a sentence with a bar are not documents.
        (
            r#"{"path":"{id}/x","a":"[1] b, c","n":"dob | mrn\nx | 1"}"#,
            &[],
        ),
    ]);
}
