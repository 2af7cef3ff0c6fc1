//! Ways in which PHI was hidden from the scan, and what looks like them but is harmless.
//!
//! One more attack is one more row. Every row is tried with each provider family, since translation joins and moves
//! texts.
#![allow(
    clippy::needless_pass_by_value,
    reason = "tests read better with json! in place"
)]

use phi_detect::{Detector, PhiKind};
use phigate_core::doors::CHAT;
use phigate_core::egress;
use phigate_core::protect::{self, Outcome, Policy, Scanned, Scanner};
use phigate_core::request::{Request, RequestLimits};
use phigate_core::wire::{self, Site};
use serde_json::{Value, json};

const MODELS: &[&str] = &["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash"];

fn request(body: &Value) -> Request {
    Request::read(
        CHAT.form,
        body.to_string().into_bytes(),
        &RequestLimits::default(),
    )
    .unwrap()
}

fn scanner() -> Scanner {
    Scanner::new(Detector::default())
}

fn scanned(body: &Value) -> Scanned {
    protect::scan(&scanner(), request(body))
}

fn outcome(mode: &str, body: &Value) -> Outcome {
    let policy = Policy::uniform(mode.parse().unwrap());
    protect::apply(&policy, &scanner(), scanned(body))
}

fn codes(kinds: impl Iterator<Item = PhiKind>) -> Vec<&'static str> {
    kinds.map(PhiKind::code).collect()
}

/// Returns the body that reaches the provider in mask mode; `None` if the request is refused.
fn masked(body: &Value) -> Option<String> {
    let clean = match outcome("mask", body) {
        Outcome::Forward(clean) => clean,
        Outcome::Refuse(error, _) => {
            assert_eq!(error.code.code(), "phi_not_rewritable", "{body}");
            return None;
        }
        Outcome::Block(_) | Outcome::Unfinished(_) => panic!("not masked: {body}"),
    };
    let model = body["model"].as_str().unwrap();
    let format = wire::format_for_model(model).unwrap();
    let site = Site::new(format.id().parse().unwrap(), model);
    let request = format.write_request(&clean, &site, &|_| String::new());
    let cleared = egress::clear(&scanner(), request.ok()?).ok()?;
    Some(String::from_utf8(cleared.into_body()).unwrap())
}

/// Tries a body with every family.
fn of_every_family(fields: &Value, check: impl Fn(&Value)) {
    for model in MODELS {
        let mut body = fields.clone();
        if body.get("model").is_none() {
            body["model"] = json!(model);
        }
        if body.get("messages").is_none() {
            body["messages"] = json!([{"role": "user", "content": "Hi."}]);
        }
        check(&body);
    }
}

/// The value is found as this kind, and does not reach a provider in mask mode.
fn is_found(kind: &str, value: &str, fields: &Value) {
    of_every_family(fields, |body| {
        let kinds = codes(scanned(body).report().kinds());
        assert!(kinds.contains(&kind), "{kinds:?} {body}");
        let sent = masked(body).unwrap_or_default();
        assert!(!sent.contains(value), "{sent}");
    });
}

fn is_clean(fields: &Value) {
    of_every_family(fields, |body| {
        let scanned = scanned(body);
        let report = scanned.report();
        assert_eq!(codes(report.kinds()), [""; 0], "{body}");
        assert_eq!(report.unscannable(), [], "{body}");
    });
}

fn messages(list: Value) -> Value {
    json!({ "messages": list })
}

/// Text parts of one message.
fn parts(texts: &[&str]) -> Value {
    let parts: Vec<Value> = texts
        .iter()
        .map(|text| json!({"type": "text", "text": text}))
        .collect();
    messages(json!([{"role": "user", "content": parts}]))
}

/// Messages of assistant and user in turn, the last by the user.
fn turns(texts: &[&str]) -> Value {
    let role = |index: usize| match (texts.len() - index) % 2 {
        0 => "assistant",
        _ => "user",
    };
    let turns = texts.iter().enumerate();
    let list: Vec<Value> = turns
        .map(|(index, text)| json!({"role": role(index), "content": text}))
        .collect();
    messages(json!(list))
}

/// A function's result.
fn returned(name: &str, content: &Value) -> Value {
    let call =
        json!({"id": "call_a", "type": "function", "function": {"name": name, "arguments": "{}"}});
    messages(json!([
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_a", "content": content},
    ]))
}

#[test]
fn a_label_reaches_the_next_part() {
    for (kind, texts, value) in [
        ("mrn", &["MRN:", "48291378"][..], "48291378"),
        ("mrn", &["MRN", "48291378"], "48291378"),
        (
            "mrn",
            &["The patient's ", "MRN:", " ", "48291378"],
            "48291378",
        ),
        ("dob", &["Date of birth: ", "07/02/1971"], "07/02/1971"),
        ("dob", &["DOB", "07/02/1971 and well"], "07/02/1971"),
        ("ssn", &["The SSN is", "531228742"], "531228742"),
        ("ssn", &["SSN 536-2", "2-8741"], "2-8741"),
        ("ssn", &["SSN 536-", "", "22-8741"], "22-8741"),
        ("phone", &["Phone number:", "2065550142"], "2065550142"),
        (
            "medicare_id",
            &["Medicare number", "1EG4TE5MK73"],
            "1EG4TE5MK73",
        ),
        ("name", &["Patient name:", "maria delgado"], "delgado"),
        ("email", &["Write to kofi@", "example.org today"], "kofi@"),
        ("email", &["Write to ko", "fi@example.org today"], "to ko"),
    ] {
        is_found(kind, value, &parts(texts));
    }
    // The head of a table reaches all of its rows, also one with a name that shows by itself.
    let cough =
        "She came in with a cough that would not go away for three weeks and then some more";
    let rows = format!("Roe,48291378,{cough}\nDoe,48291379,well\n");
    for value in ["48291378", "48291379"] {
        is_found("mrn", value, &parts(&["name,mrn,note\n", &rows]));
    }
    let refusals = json!([{"type": "refusal", "refusal": "SSN 536-"}, {"type": "refusal", "refusal": "22-8741"}]);
    let body = messages(json!([
        {"role": "assistant", "content": refusals},
        {"role": "user", "content": "Go on."},
    ]));
    is_found("ssn", "22-8741", &body);
}

#[test]
fn unrelated_parts_stay_clean() {
    for texts in [
        &["Summarise this.", "The dose is 500 mg twice daily."][..],
        &["Order number:", "48291378"],
        &["Version", "2.14.3"],
        &["The lab value is", "531"],
        &["Visit date:", "07/02/2024"],
        // One date, wherever it is cut: half of it is not a number.
        &["mrn=\n2024-", "05-11 INFO started"],
        &["mrn=\n2024", "-05-11 INFO started"],
    ] {
        is_clean(&parts(texts));
    }
}

#[test]
fn self_evident_value_keeps_its_kind() {
    let name = ["Patient Maria ", "Delgado was seen today"];
    for (body, kinds) in [
        (parts(&name), &[("name", 1)][..]),
        (parts(&["MRN: ", "531-22-8742 is on it"]), &[("ssn", 1)]),
        (turns(&["What is your MRN?", "536-22-8741"]), &[("ssn", 1)]),
        (
            returned("get_ssn", &json!("536-22-8741 kim@example.org")),
            &[("ssn", 1), ("email", 1)],
        ),
    ] {
        of_every_family(&body, |body| {
            let scanned = scanned(body);
            let counts = scanned.report().counts();
            let counts: Vec<_> = counts.map(|(kind, count)| (kind.code(), count)).collect();
            assert_eq!(counts, kinds, "{body}");
        });
    }
}

#[test]
fn a_question_reaches_the_answer() {
    for (kind, texts, value) in [
        (
            "dob",
            &["What is your date of birth?", "07/02/1971"][..],
            "07/02/1971",
        ),
        (
            "dob",
            &["Please state your date of birth.", "It's 07/02/1971, why?"],
            "07/02/1971",
        ),
        (
            "ssn",
            &["What is your Social Security number?", "531228742"],
            "531228742",
        ),
        (
            "phone",
            &["And your phone number?", "2065550142"],
            "2065550142",
        ),
        (
            "mrn",
            &["You will be given the patient's MRN.", "48291378"],
            "48291378",
        ),
        (
            "medicare_id",
            &["Your Medicare number, please:", "1EG4TE5MK73"],
            "1EG4TE5MK73",
        ),
        (
            "name",
            &["What is the patient's name?", "maria delgado"],
            "delgado",
        ),
        (
            "mrn",
            &["Could you give me the MRN, please?", "Sure, 48291378"],
            "48291378",
        ),
        (
            "ssn",
            &[
                "And her social security number, if you have it?",
                "531228742",
            ],
            "531228742",
        ),
        (
            "mrn",
            &["Hello!", "Hello.", "What is your MRN?", "48291378"],
            "48291378",
        ),
    ] {
        is_found(kind, value, &turns(texts));
    }
    let system = json!([{"role": "system", "content": "The patient's MRN:"}, {"role": "user", "content": "48291378"}]);
    is_found("mrn", "48291378", &messages(system));
    let long = format!(
        "{} What is your MRN?",
        "We are glad that you called. ".repeat(50)
    );
    is_found("mrn", "48291378", &turns(&[&long, "48291378"]));
}

#[test]
fn question_labels_answer_in_any_arrangement() {
    for (kind, texts, value) in [
        ("mrn", &["MRN please?", "48291378"][..], "48291378"),
        ("mrn", &["Please give the MRN", "48291378"], "48291378"),
        (
            "mrn",
            &["What is your MRN?", "", "", "48291378"],
            "48291378",
        ),
        (
            "mrn",
            &["415-555-0134 here.", "What is your MRN?", "48291378"],
            "48291378",
        ),
        (
            "mrn",
            &[
                "What is your MRN?",
                "It is 48291378, and while I have you: the cough is back, and the pills that I was given are used up.",
            ],
            "48291378",
        ),
        (
            "name",
            &[
                "Thank you for calling our clinic this morning. Before we go on, and so that we find the file: who is the patient?",
                "maria",
            ],
            "maria",
        ),
    ] {
        is_found(kind, value, &turns(texts));
    }
    let parts = json!([{"type": "text", "text": "What is your"}, {"type": "text", "text": "MRN?"}]);
    let body = json!([{"role": "assistant", "content": parts}, {"role": "user", "content": [{"type": "text", "text": "48291378"}]}]);
    is_found("mrn", "48291378", &messages(body));
    let parts = json!([{"type": "text", "text": "It is"}, {"type": "text", "text": "48291378"}]);
    let body = json!([{"role": "assistant", "content": "What is your MRN?"}, {"role": "user", "content": parts}]);
    is_found("mrn", "48291378", &messages(body));
}

#[test]
fn an_answer_to_another_question_stays_clean() {
    for texts in [
        &["What is the order number?", "48291378"][..],
        &["When was the last visit?", "07/02/2024"],
        &["Which city do you mean?", "Spokane"],
        &["What is your diagnosis?", "Crohn's disease"],
        &["Which drug was it?", "Metoprolol 50 mg"],
        &["May I ask for your MRN?", "No."],
        &["What is your date of birth?", "Why do you ask?"],
        &["Is there a patient name on it?", "No, only the ward."],
        &[
            "Who is the patient?",
            "She travelled to Jordan, Chad and Georgia last year, and she has been well since then, apart from the cough.",
        ],
    ] {
        is_clean(&turns(texts));
    }
    // A question says nothing about the end of a long answer.
    let full = "The ward is full again this week, and the beds that were promised for the spring have not come";
    let body = turns(&[
        "Who is the patient?",
        &format!("{full}; Dr. Roe (order 4471902)"),
    ]);
    of_every_family(&body, |body| {
        assert_eq!(codes(scanned(body).report().kinds()), ["name"], "{body}");
    });
    // What was asked long before, and texts that are just as long as what is read of them.
    let (long, exact) = ("We talked about the weather. ".repeat(9), "a bc".repeat(25));
    for texts in [
        ["What is your MRN?", &long, "Thanks.", "48291378"],
        ["What is your MRN?", &exact, &exact, "48291378"],
    ] {
        is_clean(&turns(&texts));
    }
}

#[test]
fn called_function_labels_its_result() {
    for (kind, name, content, value) in [
        ("ssn", "get_ssn", json!("531228742"), "531228742"),
        (
            "ssn",
            "get_ssn",
            json!("{\"value\":\"531228742\"}"),
            "531228742",
        ),
        (
            "ssn",
            "get_ssn",
            json!("{\"value\":531228742}"),
            "531228742",
        ),
        ("ssn", "get_ssn", json!("[\"531228742\"]"), "531228742"),
        (
            "ssn",
            "getSsn",
            json!([{"type": "text", "text": "531228742"}]),
            "531228742",
        ),
        ("ssn", "ssn_lookup", json!("531228742"), "531228742"),
        (
            "dob",
            "get_date_of_birth",
            json!("07/02/1971"),
            "07/02/1971",
        ),
        (
            "dob",
            "get_date_of_birth",
            json!("1971-07-02"),
            "1971-07-02",
        ),
        ("mrn", "lookup_mrn", json!("48291378"), "48291378"),
        (
            "mrn",
            "mrn_by_bed",
            json!("It is 48291378 as of today"),
            "48291378",
        ),
        (
            "phone",
            "fetch_patient_phone_number",
            json!("2065550142"),
            "2065550142",
        ),
        (
            "name",
            "get_patient_name",
            json!("maria delgado"),
            "delgado",
        ),
    ] {
        is_found(kind, value, &returned(name, &content));
    }
    let legacy = messages(json!([
        {"role": "user", "content": "Look it up."},
        {"role": "function", "name": "get_ssn", "content": "531228742"},
    ]));
    let mut body = legacy;
    body["model"] = json!("gpt-4o");
    is_found("ssn", "531228742", &body);
}

#[test]
fn sentence_around_returned_value_is_kept() {
    let body = returned("get_mrn", &json!("it is 48291378 for order 55512345"));
    of_every_family(&body, |body| {
        let sent = masked(body).unwrap();
        assert!(sent.contains("it is [MRN] for order 55512345"), "{sent}");
    });
}

#[test]
fn results_of_other_functions_stay_clean() {
    for (name, content) in [
        ("get_ssn", json!("not found")),
        (
            "get_patient_name",
            json!("Error: there is no such record in the table"),
        ),
        (
            "get_weather",
            json!("{\"temperature\": 21, \"city\": \"Boston\"}"),
        ),
        ("count_patients", json!("48291378")),
        ("get_version", json!("2.14.3")),
        ("lookup", json!("531228742")),
    ] {
        is_clean(&returned(name, &content));
    }
}

/// Base64 of these bytes followed by many that are not text.
fn coded(start: &[u8], bytes: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let noise = (0..bytes).map(|index| (index * 167 % 251) as u8 ^ 0x91);
    let all: Vec<u8> = start.iter().copied().chain(noise).collect();
    let letters = all.chunks(3).flat_map(|chunk| {
        let mut three = [0; 3];
        three[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        (0..4).map(move |at| LETTERS[(bits >> (18 - 6 * at)) as usize & 63])
    });
    String::from_utf8(letters.collect()).unwrap()
}

#[test]
fn attachments_dressed_as_text_are_not_scannable() {
    let pdf = coded(b"%PDF-1.4\n", 90);
    let png = coded(b"\x89PNG\r\n\x1a\n", 90);
    let dicom = coded(&[&[0; 128][..], b"DICM"].concat(), 90);
    let noise = coded(b"", 900);
    let wrapped: Vec<&str> = (0..noise.len() / 76)
        .map(|line| &noise[line * 76..line * 76 + 76])
        .collect();
    let texts = [
        format!("Read data:application/pdf;name=my scan.pdf;base64,{pdf}"),
        format!("Read data:application/pdf;name=\"one, two.pdf\";base64,{pdf}"),
        format!("Read data: application/pdf;base64,{pdf}"),
        format!("Read data:application/pdf; BASE64 ,{pdf}"),
        format!("data:text/plain;base64,{pdf}"),
        format!("data:;base64,{pdf}"),
        "data:image/png;base64,iVBORw0KGgo=".to_owned(),
        format!("Here it is: {pdf}"),
        format!("/files/{pdf}"),
        png,
        coded(b"\xff\xd8\xff\xe0\0\x10JFIF", 90),
        coded(b"PK\x03\x04\x14\0", 90),
        coded(b"\x1f\x8b\x08\0\0\0\0\0", 90),
        dicom,
        wrapped.join("\r\n"),
        noise.clone(),
        noise.replace('+', "-").replace('/', "_"),
    ];
    let mut rows: Vec<Value> = texts.iter().map(|text| parts(&[text])).collect();
    rows.extend(texts.iter().map(|text| json!({"metadata": {"note": text}})));
    let beside = |more: Value| {
        let mut part = json!({"type": "text", "text": "See this."});
        let fields = more.as_object().unwrap().clone();
        part.as_object_mut().unwrap().extend(fields);
        messages(json!([{"role": "user", "content": [part]}]))
    };
    rows.extend([
        beside(json!({"inline_data": {"mime_type": "image/png", "data": "AAAA"}})),
        beside(json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}})),
        beside(json!({"source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}})),
        beside(json!({"file_data": "AAAA"})),
        beside(json!({"file_id": "file-1"})),
        beside(json!({"extra": {"deep": [{"file_ids": ["file-1"]}]}})),
        messages(json!([{"role": "user", "content": "See this.", "attachments": [{"file_id": "file-1"}]}])),
        json!({"files": ["file-1"]}),
        json!({"file_ids": ["file-1"]}),
        json!({"attachments": [{"id": "file-1"}]}),
    ]);
    for row in rows {
        of_every_family(&row, |body| {
            for mode in ["block", "redact", "mask"] {
                let Outcome::Refuse(error, _) = outcome(mode, body) else {
                    panic!("not refused in {mode}: {body}")
                };
                assert_eq!(error.code.code(), "unscannable_content", "{body}");
            }
            let Outcome::Forward(clean) = outcome("flag", body) else {
                panic!("not forwarded: {body}")
            };
            assert!(!clean.report().unscannable().is_empty(), "{body}");
        });
    }
}

#[test]
fn attachment_lookalike_text_stays_clean() {
    let hex: String = (0..400)
        .map(|at| format!("{:02x}", at * 37 % 256))
        .collect();
    let letter = coded_text("The lungs are clear to auscultation. ", 60);
    for text in [
        format!("data:text/plain;base64,{letter}"),
        letter,
        "our data: encode it as; base64, then send".to_owned(),
        hex,
        "ACGTTGCA".repeat(200),
        "supercalifragilistic".repeat(60),
        format!("eyJhbGciOiJSUzI1NiJ9.{}", coded(b"", 64)),
    ] {
        is_clean(&parts(&[&text]));
    }
    let signed = json!([
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Hello.", "extra_content": {"google": {"thought_signature": coded(b"", 900)}}},
        {"role": "user", "content": "Go on."},
    ]);
    is_clean(&messages(signed));
    is_clean(&json!({"audio": {"voice": "alloy", "format": "wav"}, "model": "gpt-4o"}));
    let schema = json!({"type": "object", "properties": {"file_id": {"type": "string"}, "attachments": {"type": "array"}}});
    is_clean(
        &json!({"tools": [{"type": "function", "function": {"name": "open", "parameters": schema}}]}),
    );
}

/// Base64 of a text.
fn coded_text(text: &str, times: usize) -> String {
    let mut all = coded(text.repeat(times).as_bytes(), 0);
    all.truncate(all.len() / 4 * 4);
    all
}

#[test]
fn names_in_keys_and_identifiers_are_found() {
    let tool = |name: &str, key: &str| {
        let schema = json!({"type": "object", "properties": {key: {"type": "string"}}});
        json!({"tools": [{"type": "function", "function": {"name": name, "parameters": schema}}]})
    };
    for (value, body) in [
        ("maria_delgado", json!({"metadata": {"maria_delgado": "x"}})),
        ("Maria_Delgado", json!({"metadata": {"Maria_Delgado": "x"}})),
        (
            "maria_delgado",
            json!({"metadata": {"patient": "maria_delgado"}}),
        ),
        // A single word is a name by its label, also if it is a word of the API.
        ("delgado", json!({"metadata": {"patient_name": "delgado"}})),
        ("delta", json!({"metadata": {"first_name": "delta"}})),
        ("maria_delgado", tool("maria_delgado", "city")),
        ("maria_delgado", tool("get_weather", "maria_delgado")),
        (
            "maria_delgado",
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "maria_delgado", "schema": {"type": "object"}}}}),
        ),
        ("maria-delgado", json!({"model": "gpt-maria-delgado"})),
        (
            "maria-delgado",
            json!({"model": "gpt-maria-delgado-536-22-8741"}),
        ),
        ("john.smith", json!({"user": "john.smith"})),
    ] {
        is_found("name", value, &body);
    }
    is_found("ssn", "536228741", &json!({"model": "gpt-536228741"}));
    is_found("ssn", "536-22-8741", &json!({"model": "gpt-536-22-8741"}));
    // The last four digits of an SSN are the shortest number that is looked at.
    for key in ["536228741", "8741"] {
        is_found("ssn", key, &json!({"metadata": {"ssn": {key: true}}}));
    }
}

#[test]
fn identifiers_of_programs_stay_clean() {
    for word in [
        "weather_agent",
        "get_patient",
        "GetPatient",
        "user_8f3a2c",
        "max_output_tokens",
        "order_status",
        "new_york",
        "triage_nurse",
        "call_center_queue",
    ] {
        is_clean(&json!({"metadata": {word: true, "kind": word}, "user": word}));
    }
    for key in ["482", "issued_2024_05"] {
        is_clean(&json!({"metadata": {"mrn": {key: true}}}));
    }
    for model in [
        "gpt-4o-2024-08-06",
        "gpt-3.5-turbo-0125",
        "claude-3-5-sonnet-20241022",
        "gemini-2.5-flash",
    ] {
        is_clean(&json!({"model": model}));
    }
}

#[test]
fn no_path_spells_a_callers_key() {
    let body = json!({
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "Hi."}],
        "Zebulon_Quartermaine": {"536-22-8741": "SSN 536-22-8741"},
        "metadata": {"zebulon": {"quartermaine": ["SSN 536-22-8741", {"data": "data:image/png;base64,iVBORw0KGgo="}]}},
        "zebulon": {"type": "x", "quartermaine": [{"type": "image_url"}]},
    });
    let scanned = scanned(&body);
    let report = scanned.report();
    let found = report
        .findings()
        .iter()
        .map(|finding| finding.path.as_str());
    let opaque = report.unscannable().iter().map(|part| part.path.as_str());
    let paths: Vec<String> = found.chain(opaque).map(str::to_lowercase).collect();
    assert!(paths.len() >= 5, "{paths:?}");
    for path in paths {
        for word in ["zebulon", "quartermaine", "536"] {
            assert!(!path.contains(word), "{path}");
        }
    }
}
