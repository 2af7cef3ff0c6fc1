//! Documents: any bytes, any XML as a part of an office file, and any operators as the page of a PDF.

use phigate_types::DocumentText;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "documents",
    run,
    seeds: &[
        b"{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}{\\info{\\title One}}a\\'e9\\u8364 ?{\\pict\\pngblip 89504e47}\\par}",
        b"Subject: =?utf-8?B?T25l?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\na\r\n--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=53\r\n--b--\r\n",
        b"<!DOCTYPE html><html><title>a</title><td title=b>c<script>d</script><img src='data:image/png;base64,AA=='>",
        b"<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE n><n a='1'><!-- b --><![CDATA[c]]>&#65;<?d e?></n>",
        b"<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:p><w:r><w:t>a</w:t><w:tab/><w:sym w:char='F033'/></w:r></w:p></w:document>",
        b"<worksheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><sheetData><row r='1'><c r='B1' t='str'><f>A1</f><v>a</v></c><c r='C1' s='1'><v>26299</v></c></row></sheetData></worksheet>",
        b"PK\x03\x04\x14\0\0\0\0\0",
        b"\xff\xfeN\0o\0t\0e\0s\0",
        b"%PDF-1.4\n1 0 obj<</Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj 3 0 obj<</Contents 4 0 R>>endobj 4 0 obj<</Length 2>>stream\nBT\nendstream endobj xref\n0 1\n0000000000 65535 f \ntrailer<</Root 1 0 R>>startxref 146 %%EOF",
        b"BT /F 9 Tf 1 0 0 1 4 5 Tm 2 Tc [(a)-9(\\051b)] TJ T* <4142> ' ET q 2 0 0 2 0 0 cm /Span <</ActualText(c)>> BDC EMC Q BI /W 1 /H 1 /BPC 8 /CS /G ID a EI % d",
    ],
};

fn run(bytes: &[u8]) {
    check(phigate_extract::extract(bytes).ok());
    check(phigate_extract::extract(&office(bytes, WORD)).ok());
    check(phigate_extract::extract(&office(bytes, SHEET)).ok());
    check(phigate_extract::extract(&page(bytes)).ok());
}

/// Returns a PDF with this page.
fn page(content: &[u8]) -> Vec<u8> {
    let head = format!("<</Length {}>>stream\n", content.len());
    let objects = [
        b"<</Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>".to_vec(),
        [head.as_bytes(), content, b"\nendstream"].concat(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_vec(),
    ];
    let (mut body, mut table) = (b"%PDF-1.4\n".to_vec(), String::new());
    for (number, object) in (1..).zip(objects) {
        table.push_str(&format!("{:010} 00000 n \n", body.len()));
        body.extend(format!("{number} 0 obj\n").into_bytes());
        body.extend(object);
        body.extend(b"\nendobj\n");
    }
    let start = body.len();
    let end = format!(
        "xref\n0 6\n0000000000 65535 f \n{table}trailer<</Size 6/Root 1 0 R>>startxref\n{start}\n%%EOF\n"
    );
    [body, end.into_bytes()].concat()
}

/// Every offset must be one of its passage, and every number one of a name.
fn check(found: Option<DocumentText>) {
    let Some(found) = found else {
        return;
    };
    for passage in &found.passages {
        let starts = || passage.stretches.iter().map(|stretch| stretch.start);
        assert_eq!(starts().next(), Some(0));
        assert!(starts().is_sorted());
        assert!(starts().all(|start| passage.text.is_char_boundary(start)));
        for stretch in &passage.stretches {
            assert!(
                !found.path(stretch.place, true).contains('{')
                    || found.name(stretch.place).is_some()
            );
        }
    }
}

/// Main part and content type of a format, and the part that gets the input.
type Format = (&'static str, &'static str, &'static str);
const WORD: Format = ("document", "wordprocessingml.document", "document");
const SHEET: Format = ("workbook", "spreadsheetml.sheet", "sheet1");

/// Returns an office file with this part, stored as it is.
fn office(part: &[u8], (main, kind, name): Format) -> Vec<u8> {
    const KIND: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let types = format!(
        "<Types><Override PartName='/{main}' ContentType='application/vnd.openxmlformats-officedocument.{kind}.main+xml'/></Types>"
    );
    let roots = format!(
        "<Relationships><Relationship Id='r1' Type='{KIND}/officeDocument' Target='{main}'/></Relationships>"
    );
    let sheets = format!(
        "<workbook xmlns:r='{KIND}'><sheets><sheet name='a' r:id='r1'/></sheets></workbook>"
    );
    let relations = format!(
        "<Relationships><Relationship Id='r1' Type='{KIND}/worksheet' Target='sheet1'/></Relationships>"
    );
    let mut files = vec![
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", roots.as_bytes()),
    ];
    if main != name {
        files.push((main, sheets.as_bytes()));
        files.push(("_rels/workbook.rels", relations.as_bytes()));
    }
    files.push((name, part));
    let (mut body, mut list) = (Vec::new(), Vec::new());
    for (name, bytes) in &files {
        let mut head = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        head.extend(crc32fast::hash(bytes).to_le_bytes());
        head.extend([size(bytes), size(bytes)].concat());
        head.extend([u8::try_from(name.len()).unwrap_or_default(), 0, 0, 0]);
        list.extend(
            [
                b"PK\x01\x02\x14\0".as_slice(),
                &head,
                &[0; 10],
                &size(&body),
                name.as_bytes(),
            ]
            .concat(),
        );
        body.extend([b"PK\x03\x04".as_slice(), &head, name.as_bytes(), bytes].concat());
    }
    let count = [u8::try_from(files.len()).unwrap_or_default(), 0];
    let end = [
        b"PK\x05\x06\0\0\0\0".as_slice(),
        &count,
        &count,
        &size(&list),
        &size(&body),
        &[0; 2],
    ]
    .concat();
    [body, list, end].concat()
}

fn size(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or_default().to_le_bytes()
}
