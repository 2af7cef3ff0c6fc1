//! Workbooks.

use phigate_types::Unread;

use crate::support::{KIND, RELATIONS, SHEET, package, refusal, shown, zip};

/// Returns a workbook of one sheet with these rows, shared strings, and what follows the rows.
fn book(rows: &str, strings: &[&str], rest: &str) -> Vec<u8> {
    let main = format!(
        "<workbook xmlns='{SHEET}' xmlns:r='{KIND}'><sheets><sheet name='Doses' sheetId='1' r:id='rId1'/></sheets><definedNames><definedName name='chart'>\"Named\"</definedName></definedNames></workbook>"
    );
    let relation = |id: u8, kind: &str, target: &str| {
        format!("<Relationship Id='rId{id}' Type='{KIND}/{kind}' Target='{target}'/>")
    };
    let relations = format!(
        "<Relationships xmlns='{RELATIONS}'>{}{}{}</Relationships>",
        relation(1, "worksheet", "worksheets/sheet1.xml"),
        relation(2, "sharedStrings", "/xl/sharedStrings.xml"),
        relation(3, "styles", "styles.xml")
    );
    let sheet =
        format!("<worksheet xmlns='{SHEET}'><sheetData>{rows}</sheetData>{rest}</worksheet>");
    let items: String = strings
        .iter()
        .map(|text| format!("<si>{text}</si>"))
        .collect();
    let items = format!("<sst xmlns='{SHEET}'>{items}</sst>");
    let styles = format!(
        "<styleSheet xmlns='{SHEET}'><numFmts><numFmt numFmtId='164' formatCode='000-00-0000'/></numFmts><cellXfs><xf numFmtId='0'/><xf numFmtId='14'/><xf numFmtId='164'/></cellXfs></styleSheet>"
    );
    zip(&package(
        ("xl/workbook.xml", "spreadsheetml.sheet", &main),
        &[
            ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
            ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
            ("xl/sharedStrings.xml", items.as_bytes()),
            ("xl/styles.xml", styles.as_bytes()),
        ],
    ))
}

#[test]
fn cells_are_read_as_shown() {
    let rows = "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='C1' t='inlineStr'><is><t>Date of</t><r><t> birth</t></r></is></c></row>\
        <row r='2'><c r='A2' s='2'><v>318526047</v></c><c r='C2' s='1'><v>26299</v></c></row>\
        <row r='9'><c t='str'><f>\"See \"&amp;\"4\"</f><v>See 4</v></c></row>";
    let text = shown(&book(
        rows,
        &["<t>SS</t><r><t>N</t></r>", "<t>Unused</t>"],
        "",
    ));
    assert!(
        text.contains(": Doses\nSSN\tDate of birth\n318-52-6047\t1972-01-01\n\nSee 4\n"),
        "{text}"
    );
    assert!(
        text.contains("(background) #sheet=Doses!A9: \"See \"&\"4\""),
        "{text}"
    );
    assert!(
        text.contains("#part=xl/sharedStrings.xml: Unused"),
        "{text}"
    );
    assert!(text.contains("\"Named\""), "{text}");
    assert!(!text.contains("000-00-0000"), "{text}");
}

#[test]
fn everything_around_cells_is_read() {
    let rest = "<dataValidations><dataValidation prompt='One more'><formula1>\"two\"</formula1></dataValidation></dataValidations>\
        <headerFooter><oddHeader>&amp;Cthree</oddHeader></headerFooter><autoFilter><filter val='Four five'/></autoFilter>";
    let text = shown(&book(
        "<row r='1' customFormat='six seven'><c r='A1'><v>1</v><odd>eight</odd></c></row>",
        &[],
        rest,
    ));
    for each in [
        "One more",
        "\"two\"",
        "three",
        "Four five",
        "six seven",
        "eight",
    ] {
        assert!(text.contains(each), "{each} is missing in {text}");
    }
}

#[test]
fn damaged_workbooks_are_refused() {
    for rows in [
        "<row r='1'><c r='A1' t='s'><v>5</v></c></row>",
        "<row r='1'><c r='1A'><v>5</v></c></row>",
        "<row r='x'/>",
    ] {
        assert_eq!(
            refusal(&book(rows, &[], "")),
            Some(Unread::Damaged),
            "{rows}"
        );
    }
}

#[test]
fn million_sparse_cells_stay_bounded() {
    let column = |number: u32| {
        let letter = |each: u32| char::from(b'A' + u8::try_from(each % 26).unwrap());
        format!(
            "{}{}{}",
            letter(number / 676),
            letter(number / 26),
            letter(number)
        )
    };
    let rows: String = (1..4000u32)
        .map(|row| {
            format!(
                "<row r='{row}'><c r='{}{row}'><v>1</v></c></row>",
                column(row)
            )
        })
        .collect();
    // Each row has another column, so that a table of them would be mostly tabs.
    let size = book(&rows, &[], "").len();
    assert!(size < 200_000, "{size}");
    let found = refusal(&book(&rows, &[], ""));
    assert_eq!(found, Some(Unread::Limit));
}
