//! PDFs, written object by object.

/// Returns a file with these objects; the first is its root.
pub fn pdf(objects: &[&str]) -> Vec<u8> {
    let (mut body, mut table) = ("%PDF-1.7\n".to_owned(), String::new());
    for (number, object) in (1..).zip(objects) {
        table.push_str(&format!("{:010} 00000 n \n", body.len()));
        body.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let (size, start) = (objects.len() + 1, body.len());
    let end = format!("trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n");
    format!("{body}xref\n0 {size}\n0000000000 65535 f \n{table}{end}").into_bytes()
}

/// Returns the body of a stream.
pub fn stream(content: &str) -> String {
    format!(
        "<</Length {}>>\nstream\n{content}\nendstream",
        content.len()
    )
}

/// Returns a file of two pages, each with a line, and a note on the first.
pub fn pages(first: &str, second: &str, note: &str) -> Vec<u8> {
    let page = |entries: &str| {
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 595]/Resources<</Font<</F 7 0 R>>>>{entries}>>"
        )
    };
    let line = |text: &str| stream(&format!("BT /F 11 Tf 40 500 Td ({text}) Tj ET"));
    pdf(&[
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
        &page("/Contents 5 0 R/Annots[8 0 R]"),
        &page("/Contents 6 0 R"),
        &line(first),
        &line(second),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        &format!("<</Type/Annot/Subtype/Text/Contents({note})>>"),
    ])
}
