//! Documents on the command line, and the process that reads them.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::doors::doors;
use crate::support::{Gateway, Provider, Reply};

const SSN: &str = "536-22-8741";

/// Returns an archive of files that are stored as they are.
fn archive(files: &[(&str, String)]) -> Vec<u8> {
    let (mut body, mut list) = (Vec::new(), Vec::new());
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
    for (name, text) in files {
        let mut head = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        head.extend(checksum(text.as_bytes()).to_le_bytes());
        head.extend([length(text.as_bytes()), length(text.as_bytes())].concat());
        head.extend([u8::try_from(name.len()).unwrap(), 0, 0, 0]);
        list.extend(
            [
                b"PK\x01\x02\x14\0".as_slice(),
                &head,
                &[0; 10],
                &length(&body),
                name.as_bytes(),
            ]
            .concat(),
        );
        body.extend(
            [
                b"PK\x03\x04".as_slice(),
                &head,
                name.as_bytes(),
                text.as_bytes(),
            ]
            .concat(),
        );
    }
    let count = [u8::try_from(files.len()).unwrap(), 0];
    let end = [
        b"PK\x05\x06\0\0\0\0".as_slice(),
        &count,
        &count,
        &length(&list),
        &length(&body),
        &[0; 2],
    ]
    .concat();
    [body, list, end].concat()
}

/// Returns the CRC-32 of bytes.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32| {
        if crc & 1 == 1 {
            crc >> 1 ^ 0xedb8_8320
        } else {
            crc >> 1
        }
    };
    let add = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(!0, add)
}

/// Returns a Word document with a text, and a comment with another one.
fn docx(text: &str, comment: &str) -> Vec<u8> {
    const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    const KIND: &str =
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
    let part =
        |text: &str| format!("<w:x xmlns:w='{WORD}'><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:x>");
    archive(&[
        ("[Content_Types].xml", format!("<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'><Override PartName='/word/document.xml' ContentType='{KIND}'/></Types>")),
        ("_rels/.rels", "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='rId1' Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument' Target='word/document.xml'/></Relationships>".to_owned()),
        ("word/document.xml", part(text)),
        ("word/comments.xml", part(comment)),
    ])
}

#[test]
fn scan_reads_documents() {
    let gateway = Gateway::offline();
    let file = gateway.folder.path().join("named.txt");
    std::fs::write(&file, docx("The usual doses.", &format!("SSN {SSN}"))).unwrap();
    let file = file.to_str().unwrap();
    let found: serde_json::Value =
        serde_json::from_str(&gateway.command(&["scan", "--json", file])).unwrap();
    let finding = &found["findings"][0];
    assert_eq!(found["findings"].as_array().unwrap().len(), 1);
    assert_eq!(finding["path"], "#part=word/comments.xml");
    assert_eq!(
        (finding["start"].as_u64(), finding["end"].as_u64()),
        (Some(4), Some(15))
    );
    assert_eq!(
        gateway.command(&["scan", "--mask", file]),
        "The usual doses.\n\nSSN [SSN]\n"
    );
    let table = gateway.command(&["scan", file]);
    assert!(
        table.contains("named.txt#part=word/comments.xml\tssn"),
        "{table}"
    );
    assert!(!gateway.data().exists());
}

#[test]
fn pdf_findings_name_their_pages() {
    let gateway = Gateway::offline();
    let file = gateway.folder.path().join("a.txt");
    let pdf = crate::support::pages("The usual doses.", &format!("SSN {SSN}"), "MRN 7041882");
    std::fs::write(&file, pdf).unwrap();
    let file = file.to_str().unwrap();
    let found: Value = serde_json::from_str(&gateway.command(&["scan", "--json", file])).unwrap();
    let places: Vec<_> = found["findings"].as_array().unwrap().iter().collect();
    let places: Vec<_> = places
        .iter()
        .map(|each| (&each["type"], &each["path"]))
        .collect();
    assert_eq!(
        places,
        [
            (&json!("ssn"), &json!("#page=2")),
            (&json!("mrn"), &json!("#page=1"))
        ]
    );
    assert_eq!(
        gateway.command(&["scan", "--mask", file]),
        "The usual doses.\n\nSSN [SSN]\n\nMRN [MRN]\n"
    );
}

#[test]
fn part_name_with_phi_is_numbered() {
    let gateway = Gateway::offline();
    let file = gateway.folder.path().join("a.docx");
    let mut bytes = docx("The usual doses.", &format!("SSN {SSN}"));
    for at in 0..bytes.len() - 17 {
        if &bytes[at..at + 17] == b"word/comments.xml" {
            bytes[at..at + 17].copy_from_slice(b"w/ssn 123-45-6780");
        }
    }
    std::fs::write(&file, bytes).unwrap();
    let found = gateway.command(&["scan", "--json", file.to_str().unwrap()]);
    assert!(
        found.contains(r##""path":"#part={3}""##) && !found.contains("123-45-6780"),
        "{found}"
    );
}

#[test]
fn unreadable_document_is_named_with_reason() {
    let gateway = Gateway::offline();
    let file = gateway.folder.path().join("scan.png");
    std::fs::write(&file, b"\x89PNG\r\n\x1a\n").unwrap();
    let output = gateway.try_command(&["scan", file.to_str().unwrap()], "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        errors.contains("scan.png") && errors.contains("type"),
        "{errors}"
    );
}

/// Starts the process that reads a document.
fn reader(input: Stdio) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phigate"));
    let command = command
        .arg("extract")
        .env_clear()
        .env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
    command
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn reader_of_documents_is_confined() {
    let mut child = reader(Stdio::piped());
    let of = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while !of("status").contains("Seccomp:\t2") {
        assert!(Instant::now() < until, "{}", of("status"));
    }
    assert!(of("status").contains("NoNewPrivs:\t1"));
    let limits = of("limits");
    let limit = |name: &str| {
        limits
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap()
            .to_owned()
    };
    assert!(limit("Max data size").contains(" 536870912 "), "{limits}");
    assert!(limit("Max cpu time").contains(" 10 "), "{limits}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
#[cfg(target_os = "linux")]
fn reader_without_memory_is_ended() {
    let endless = std::fs::File::open("/dev/zero").unwrap();
    let status = reader(endless.into()).wait().unwrap();
    assert!(!status.success());
}

#[test]
fn reader_ends_with_its_input() {
    let started = Instant::now();
    let output = reader(Stdio::null()).wait_with_output().unwrap();
    assert!(output.status.success() && started.elapsed() < Duration::from_secs(10));
    let answer: Result<phigate_types::DocumentText, phigate_types::Unread> =
        serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer.unwrap().passages.is_empty());
}

/// Returns the body of a door with a document, and the place of the document.
fn body_with(door: &str, document: &[u8]) -> Option<(Value, &'static str)> {
    let data = BASE64.encode(document);
    let url = format!("data:application/octet-stream;base64,{data}");
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": data});
    let parts = |part: Value| json!([{"role": "user", "content": [part]}]);
    Some(match door {
        "chat" => {
            let part = json!({"type": "file", "file": {"filename": "a.docx", "file_data": url}});
            (
                json!({"model": "gpt-4o", "messages": parts(part)}),
                "messages",
            )
        }
        "responses" => {
            let part = json!({"type": "input_file", "filename": "a.docx", "file_data": url});
            (
                json!({"model": "gpt-4o", "store": false, "input": parts(part)}),
                "input",
            )
        }
        "messages" => {
            let part = json!({"type": "document", "source": source});
            let messages = parts(part);
            (
                json!({"model": "claude-opus-4-5", "max_tokens": 9, "messages": messages}),
                "messages",
            )
        }
        _ => return None,
    })
}

#[test]
fn request_documents_are_scanned_at_doors() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    assert_eq!(gateway.command(&["documents", "get"]), "refuse\n");
    let (with_phi, clean) = (
        docx("The usual doses.", &format!("SSN {SSN}")),
        docx("The usual doses.", "Dose table"),
    );
    for (name, path, _, reply) in doors() {
        let Some((body, parameter)) = body_with(name, &with_phi) else {
            continue;
        };
        let (harmless, _) = body_with(name, &clean).unwrap();
        let ask = |body: &Value| {
            provider.answer_next(Reply::Json(200, reply.to_string()));
            gateway.post(path, &key, &body.to_string())
        };
        let refused = |body: &Value| gateway.post(path, &key, &body.to_string()).status;
        gateway.set_mode("mask");
        gateway.command(&["documents", "set", "refuse"]);
        assert_eq!(refused(&harmless), 400, "{name}");
        gateway.command(&["documents", "set", "text"]);
        let masked = ask(&body);
        assert_eq!(masked.status, 200, "{name}: {}", masked.text());
        assert_eq!(masked.header("x-gateway-params-adjusted"), Some(parameter));
        let part = &provider.last().json()[parameter][0]["content"][0];
        assert_eq!(part["text"], "The usual doses.\n\nSSN [SSN]");
        let unchanged = ask(&harmless);
        assert_eq!(unchanged.status, 200, "{name}: {}", unchanged.text());
        assert_eq!(provider.last().json(), harmless);
        gateway.set_mode("flag");
        let flagged = ask(&body);
        assert_eq!(flagged.header("x-gateway-phi-types"), Some("ssn"));
        assert_eq!(provider.last().json(), body);
        let records = gateway.records(&flagged.request_id());
        let finding = &records[0]["findings"][0];
        let wanted = format!("{parameter}[0].content[0].file#part=word/comments.xml");
        assert_eq!(finding["path"], wanted);
        gateway.set_mode("block");
        let count = provider.count();
        assert_eq!(refused(&body), 403, "{name}");
        assert_eq!(provider.count(), count);
    }
    let trail = gateway.command(&["audit", "export"]);
    assert!(
        trail.contains("documents") && !trail.contains(SSN),
        "{trail}"
    );
}

#[test]
fn past_requests_are_read_with_documents() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.set_mode("mask");
    gateway.command(&["documents", "set", "text"]);
    gateway.command(&["restore", "set", "on"]);
    let document = docx("The usual doses.", &format!("SSN {SSN}"));
    let (body, _) = body_with("chat", &document).unwrap();
    assert_eq!(gateway.chat(&key, &body.to_string()).status, 200);
    let sent = provider.last().json();
    let text = sent["messages"][0]["content"][0]["text"].as_str().unwrap();
    let token = text.split_once("SSN ").unwrap().1;
    let resolved = gateway.command(&["audit", "resolve", token, "--reason", "a test"]);
    assert_eq!(resolved.trim(), SSN, "{token}");
    let tried = gateway.command(&["policy", "try", "ssn=block", "--json"]);
    let tried: Value = serde_json::from_str(&tried).unwrap();
    assert_eq!(tried["rows"][0]["count"], 1, "{tried}");
}

#[test]
fn program_is_not_scanned_as_text() {
    let gateway = Gateway::offline();
    let file = gateway.folder.path().join("a.txt");
    std::fs::write(
        &file,
        [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 300]].concat(),
    )
    .unwrap();
    let refused = gateway.try_command(&["scan", "--check", file.to_str().unwrap()], "");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn damaged_mail_from_pipe_is_text() {
    let gateway = Gateway::offline();
    let mail = format!(
        "From: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\nSSN {SSN}\n"
    );
    let found = gateway.command_with_input(&["scan", "--json"], &mail);
    assert!(found.contains("\"ssn\""), "{found}");
    let file = gateway.folder.path().join("a.eml");
    std::fs::write(&file, mail).unwrap();
    let refused = gateway.try_command(&["scan", file.to_str().unwrap()], "");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn unreadable_document_is_refused_and_recorded() {
    let provider = Provider::start();
    let limits = [("PHIGATE_LIMITS_DOCUMENT_BYTES", "2000")];
    let gateway = Gateway::start_with(&provider, &limits);
    let key = gateway.key();
    gateway.command(&["documents", "set", "text"]);
    let image = b"\x89PNG\r\n\x1a\n".to_vec();
    let large = vec![b' '; 2001];
    for (document, reason) in [(image, "unknown_type"), (large, "too_large")] {
        let (body, _) = body_with("chat", &document).unwrap();
        gateway.set_mode("mask");
        let refused = gateway.chat(&key, &body.to_string());
        let told = refused.json()["error"]["message"].to_string();
        assert_eq!(refused.status, 400);
        assert!(told.contains(reason), "{told}");
        gateway.set_mode("flag");
        let forwarded = gateway.chat(&key, &body.to_string());
        assert_eq!(forwarded.status, 200, "{}", forwarded.text());
        for answer in [refused, forwarded] {
            let records = gateway.records(&answer.request_id());
            let part = &records[0]["unscannable"][0];
            assert_eq!(part["kind"], reason);
            assert_eq!(part["path"], "messages[0].content[0]");
        }
    }
}

#[test]
fn doctor_names_filters_of_reader() {
    let gateway = Gateway::offline();
    gateway.key();
    let told = gateway.try_command(&["doctor"], "");
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("documents"), "{told}");
}
