//! Archives that two readers could read differently, and archives that expand.

use phigate_types::Unread;

use crate::support::{Files, docx, read, refusal, zip};

const BODY: &str = "<w:p><w:r><w:t>The usual doses.</w:t></w:r></w:p>";

fn with(name: &str, body: &[u8]) -> Files {
    docx(BODY, &[(name, body)])
}

#[test]
fn ordinary_archive_is_read() {
    let found = read(&zip(&docx(BODY, &[])));
    assert_eq!(found.passages[0].text, "The usual doses.");
}

#[test]
fn ambiguous_archives_are_refused() {
    let mut twice = docx(BODY, &[]);
    twice.push(twice[2].clone());
    assert_eq!(refusal(&zip(&twice)), Some(Unread::ReadersDisagree));
    assert_eq!(
        refusal(&zip(&with("WORD/document.xml", b"<x/>"))),
        Some(Unread::ReadersDisagree)
    );
    let whole = zip(&docx(BODY, &[]));
    let mut other_name = whole.clone();
    // The list at the end names the first file otherwise than the file itself does.
    let at = whole
        .windows(4)
        .rposition(|four| four == b"PK\x01\x02")
        .unwrap();
    other_name[at + 46] ^= 1;
    assert_eq!(refusal(&other_name), Some(Unread::ReadersDisagree));
}

#[test]
fn bytes_outside_of_files_are_refused() {
    let whole = zip(&docx(BODY, &[]));
    let list = whole
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    let mut gap = whole.clone();
    gap.splice(list..list, b"SSN 318-52-6047".to_vec());
    let mut behind = whole.clone();
    behind.extend(b"SSN 318-52-6047");
    let cut = whole[..whole.len() - 30].to_vec();
    let mut changed = whole.clone();
    changed[60] ^= 0x55;
    for bytes in [gap, behind, cut, changed, b"PK\x03\x04".to_vec()] {
        assert_eq!(refusal(&bytes), Some(Unread::Damaged));
    }
}

#[test]
fn expanding_archives_are_refused() {
    let spaces = vec![b' '; 30 << 20];
    assert_eq!(
        refusal(&zip(&with("word/extra.xml", &spaces))),
        Some(Unread::TooLarge)
    );
    let many: Vec<(String, Vec<u8>)> = (0..10_001)
        .map(|each| (format!("word/x{each}.xml"), b"<x/>".to_vec()))
        .collect();
    assert_eq!(refusal(&zip(&many)), Some(Unread::Limit));
}

#[test]
fn paths_out_of_archive_are_refused() {
    for name in [
        "../a.xml",
        "/a.xml",
        "word\\a.xml",
        "word/./a.xml",
        "a\nb.xml",
    ] {
        assert_eq!(
            refusal(&zip(&with(name, b"<x/>"))),
            Some(Unread::Damaged),
            "{name}"
        );
    }
}

#[test]
fn encrypted_entries_are_refused() {
    let mut whole = zip(&docx(BODY, &[]));
    let list = whole
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    whole[list + 8] |= 1;
    assert_eq!(refusal(&whole), Some(Unread::Encrypted));
    let mut compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    assert_eq!(refusal(&compound), Some(Unread::UnknownType));
    compound.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(refusal(&compound), Some(Unread::Encrypted));
}
