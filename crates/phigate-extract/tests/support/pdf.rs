//! PDFs, written object by object.

use std::fmt::Write as _;

/// Objects of a file by number, the first is 1, and its tables.
pub(crate) struct Pdf {
    pub(crate) bytes: Vec<u8>,
    offsets: Vec<usize>,
}

pub(crate) const FONT: &str =
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

impl Pdf {
    pub(crate) fn new() -> Self {
        Self {
            bytes: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec(),
            offsets: vec![0],
        }
    }

    /// Adds an object, and returns its number.
    pub(crate) fn object(&mut self, body: &str) -> usize {
        self.raw(body.as_bytes())
    }

    pub(crate) fn raw(&mut self, body: &[u8]) -> usize {
        let number = self.offsets.len();
        self.offsets.push(self.bytes.len());
        self.bytes.extend(format!("{number} 0 obj\n").bytes());
        self.bytes.extend(body);
        self.bytes.extend(b"\nendobj\n");
        number
    }

    /// Adds a stream with these entries in its dictionary.
    pub(crate) fn stream(&mut self, entries: &str, body: &[u8]) -> usize {
        let head = format!("<</Length {} {entries}>>\nstream\n", body.len());
        self.raw(&[head.as_bytes(), body, b"\nendstream"].concat())
    }

    /// Ends the file with its table and these entries in the trailer.
    pub(crate) fn end(mut self, entries: &str) -> Vec<u8> {
        let start = self.bytes.len();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", self.offsets.len());
        for offset in &self.offsets[1..] {
            writeln!(table, "{offset:010} 00000 n ").unwrap();
        }
        let size = self.offsets.len();
        write!(
            table,
            "trailer\n<</Size {size} {entries}>>\nstartxref\n{start}\n%%EOF\n"
        )
        .unwrap();
        self.bytes.extend(table.bytes());
        self.bytes
    }
}

/// Returns operators that write lines.
pub(crate) fn lines(lines: &[&str]) -> String {
    let shown: String = lines
        .iter()
        .map(|line| format!("({line}) Tj T* "))
        .collect();
    format!("BT /F1 11 Tf 40 500 Td 16 TL {shown}ET")
}

/// Parts of a document of one page: its operators, entries of the page, of its resources, of the catalog, and further
/// objects, of which the first is number 6.
#[derive(Default, Clone, Copy)]
pub(crate) struct Parts<'p> {
    pub(crate) content: &'p str,
    pub(crate) page: &'p str,
    pub(crate) fonts: &'p str,
    pub(crate) resources: &'p str,
    pub(crate) root: &'p str,
    pub(crate) trailer: &'p str,
    pub(crate) objects: &'p [&'p str],
}

/// Returns a document of one page.
pub(crate) fn document(parts: Parts<'_>) -> Vec<u8> {
    let mut pdf = Pdf::new();
    let usual = lines(&["The usual doses."]);
    let content = if parts.content.is_empty() {
        &usual
    } else {
        parts.content
    };
    pdf.object(&format!("<</Type/Catalog/Pages 2 0 R {}>>", parts.root));
    pdf.object("<</Type/Pages/Kids[3 0 R]/Count 1>>");
    pdf.object(&format!(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 595]/Contents 4 0 R/Resources<</Font<</F1 5 0 R {}>>{}>> {}>>",
        parts.fonts, parts.resources, parts.page
    ));
    pdf.stream("", content.as_bytes());
    pdf.object(FONT);
    for object in parts.objects {
        pdf.object(object);
    }
    pdf.end(&format!("/Root 1 0 R {}", parts.trailer))
}

/// Returns a document with this on its page.
pub(crate) fn page(content: &str) -> Vec<u8> {
    document(Parts {
        content,
        ..Parts::default()
    })
}

/// Returns the body of a stream that is an object.
pub(crate) fn body(entries: &str, content: &str) -> String {
    format!(
        "<</Length {} {entries}>>\nstream\n{content}\nendstream",
        content.len()
    )
}
