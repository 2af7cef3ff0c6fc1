//! Documents on the command line, and the process that reads them.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Gateway;

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

#[test]
fn doctor_names_filters_of_reader() {
    let gateway = Gateway::offline();
    gateway.key();
    let told = gateway.try_command(&["doctor"], "");
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("documents"), "{told}");
}
