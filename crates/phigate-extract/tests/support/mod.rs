//! Documents, and what is read in them.

pub(crate) mod pdf;

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use phigate_extract::extract;
use phigate_types::{DocumentText, Unread};

pub(crate) const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
pub(crate) const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
pub(crate) const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
pub(crate) const KIND: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Files of an archive.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// Returns an archive of files.
pub(crate) fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut body, mut list) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        let packed = encoder.finish().unwrap();
        let mut head = Vec::new();
        for half in [20u16, 0, 8, 0, 0] {
            head.extend(half.to_le_bytes());
        }
        for size in [crc32fast::hash(bytes), length(&packed), length(bytes)] {
            head.extend(size.to_le_bytes());
        }
        head.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        head.extend(0u16.to_le_bytes());
        list.extend(b"PK\x01\x02\x14\0");
        list.extend(&head);
        list.extend([0; 10]);
        list.extend(length(&body).to_le_bytes());
        list.extend(name.as_bytes());
        body.extend(b"PK\x03\x04");
        body.extend(&head);
        body.extend(name.as_bytes());
        body.extend(packed);
    }
    let (start, size) = (length(&body), length(&list));
    let count = u16::try_from(files.len()).unwrap();
    body.extend(list);
    body.extend(b"PK\x05\x06\0\0\0\0");
    body.extend(count.to_le_bytes());
    body.extend(count.to_le_bytes());
    body.extend(size.to_le_bytes());
    body.extend(start.to_le_bytes());
    body.extend(0u16.to_le_bytes());
    body
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}

/// Returns an office file of one main part and further parts.
pub(crate) fn package(main: (&str, &str, &str), more: &[(&str, &[u8])]) -> Files {
    let (name, kind, xml) = main;
    let types = format!(
        "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'>\
         <Default Extension='xml' ContentType='application/xml'/>\
         <Override PartName='/{name}' ContentType='application/vnd.openxmlformats-officedocument.{kind}.main+xml'/></Types>"
    );
    let roots = format!(
        "<Relationships xmlns='{RELATIONS}'><Relationship Id='rId1' Type='{KIND}/officeDocument' Target='{name}'/></Relationships>"
    );
    let mut files = vec![
        ("[Content_Types].xml".to_owned(), types.into_bytes()),
        ("_rels/.rels".to_owned(), roots.into_bytes()),
        (name.to_owned(), xml.as_bytes().to_vec()),
    ];
    files.extend(
        more.iter()
            .map(|(name, body)| ((*name).to_owned(), body.to_vec())),
    );
    files
}

/// Returns a Word document with this in its body.
pub(crate) fn docx(body: &str, more: &[(&str, &[u8])]) -> Files {
    let xml = format!("<w:document xmlns:w='{WORD}'><w:body>{body}</w:body></w:document>");
    package(
        ("word/document.xml", "wordprocessingml.document", &xml),
        more,
    )
}

/// Returns everything that was read, a line `path: text` per passage.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let found = read(bytes);
    let lines = found.passages.iter().map(|passage| {
        let path = found.path(passage.stretches[0].place, true);
        let mark = if passage.background {
            "(background) "
        } else {
            ""
        };
        format!("{mark}{path}: {}\n", passage.text.trim_end())
    });
    lines.collect()
}

/// Returns the text of a document that can be read.
pub(crate) fn read(bytes: &[u8]) -> DocumentText {
    extract(bytes).unwrap()
}

/// Returns the reason why a document cannot be read.
pub(crate) fn refusal(bytes: &[u8]) -> Option<Unread> {
    extract(bytes).err()
}

/// Returns a grey PNG.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut image = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([8, 0, 0, 0, 0]);
    for (kind, body) in [
        (b"IHDR", head.as_slice()),
        (b"IDAT", b"pixels"),
        (b"IEND", b""),
    ] {
        image.extend(length(body).to_be_bytes());
        image.extend(kind);
        image.extend(body);
        image.extend([0; 4]);
    }
    image
}

/// Returns the offset of a word.
pub(crate) fn position(bytes: &[u8], word: &[u8]) -> usize {
    let found = bytes.windows(word.len()).position(|window| window == word);
    found.unwrap()
}
