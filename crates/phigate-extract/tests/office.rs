//! Word documents, slides and OpenDocument texts.

use phigate_types::Unread;

use crate::support::{Files, KIND, RELATIONS, WORD, docx, package, png, read, refusal, shown, zip};

const DOSES: &str = "<w:p><w:r><w:t>The usual doses.</w:t></w:r></w:p>";

fn word(xml: &str) -> Vec<u8> {
    zip(&docx(&format!("{DOSES}<w:p>{xml}</w:p>"), &[]))
}

#[test]
fn words_of_document_are_joined() {
    let runs = |texts: &[&str]| -> String {
        texts
            .iter()
            .map(|text| format!("<w:r><w:t>{text}</w:t></w:r>"))
            .collect()
    };
    for xml in [
        runs(&["318-52-", "60", "47"]),
        format!(
            "{}<w:proofErr w:type='spellStart'/>{}",
            runs(&["318-5"]),
            runs(&["2-6047"])
        ),
        "<w:r><w:t>318</w:t><w:noBreakHyphen/><w:t>52</w:t><w:noBreakHyphen/><w:t>6047</w:t></w:r>"
            .to_owned(),
        "<w:r><w:t>&#51;18-52-&#x36;047</w:t></w:r>".to_owned(),
        "<w:del><w:r><w:delText>318-52-6047</w:delText></w:r></w:del>".to_owned(),
        format!("{}<!-- aside -->{}", runs(&["318-5"]), runs(&["2-6047"])),
        "<w:r><w:t><![CDATA[318-52-6047]]></w:t></w:r>".to_owned(),
        "<w:r><w:sym w:font='Symbol' w:char='F033'/><w:t>18-52-6047</w:t></w:r>".to_owned(),
    ] {
        let text = shown(&word(&xml));
        let first = text.split("\n(background)").next().unwrap();
        assert_eq!(
            first, "#part=word/document.xml: The usual doses.\n318-52-6047",
            "{xml}"
        );
    }
}

#[test]
fn text_box_follows_its_paragraph() {
    let found = shown(&word(
        "<w:r><w:t>318-52-</w:t><w:pict><w:txbxContent><w:p><w:r><w:t>Box</w:t></w:r></w:p></w:txbxContent></w:pict><w:t>6047</w:t></w:r>",
    ));
    assert!(found.contains("318-52-6047\nBox"), "{found}");
}

#[test]
fn tables_keep_label_beside_value() {
    let cell = |text: &str| format!("<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
    let row = |one: &str, two: &str| format!("<w:tr>{}{}</w:tr>", cell(one), cell(two));
    let body = format!(
        "<w:tbl>{}{}</w:tbl>",
        row("MRN", "7041882"),
        row("Ward", "4")
    );
    let text = shown(&zip(&docx(&body, &[])));
    assert!(text.contains("MRN\t7041882\nWard\t4"), "{text}");
}

#[test]
fn attributes_are_text_unless_made() {
    let text = shown(&word(
        "<w:bookmarkStart w:id='1318269387' w:name='SSN_318-52-6047'/><w:jc w:val='center'/><w:sz w:val='24'/>\
         <w:docVar w:name='Chart' w:val='318526047'/><w:rFonts w:ascii='Jane Roe'/><w:color w:val='943634A1'/><w:tab w:val='left'/>",
    ));
    let (_, background) = text.split_once("(background) ").unwrap();
    let lines: Vec<&str> = background.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "#part=word/document.xml: SSN_318-52-6047",
            "Chart 318526047"
        ]
    );
    for made in ["1318269387", "Jane", "center", "943634A1"] {
        assert!(!text.contains(made), "{made} is in {text}");
    }
}

#[test]
fn every_part_is_read() {
    let part = |inner: &str| {
        format!("<w:x xmlns:w='{WORD}'><w:p><w:r><w:t>{inner}</w:t></w:r></w:p></w:x>").into_bytes()
    };
    let relation = format!(
        "<Relationships xmlns='{RELATIONS}'><Relationship Id='rId1' Type='{KIND}/hyperlink' Target='https://a.example/?ssn=318' TargetMode='External'/></Relationships>"
    );
    let utf16: Vec<u8> = [0xfeff]
        .into_iter()
        .chain("<left>utf-16</left>".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let bytes = zip(&docx(
        DOSES,
        &[
            ("word/comments.xml", part("one").as_slice()),
            ("word/header1.xml", &part("two")),
            ("word/styles.xml", &part("three")),
            ("word/left.xml", b"<left><ssn>318526047</ssn></left>"),
            ("word/chunk.html", b"<html><p>four"),
            ("word/notes.txt", b"five"),
            ("word/_rels/document.xml.rels", relation.as_bytes()),
            ("word/other.xml", &utf16),
        ],
    ));
    let text = shown(&bytes);
    for each in [
        "#part=word/comments.xml: one",
        "#part=word/header1.xml: two",
        "(background) #part=word/styles.xml: three",
        "#part=word/left.xml: <left><ssn>318526047</ssn></left>",
        "(background) #part=word/left.xml: word/left.xml",
        "#part=word/chunk.html: four",
        "#part=word/notes.txt: five",
        "https://a.example/?ssn=318",
        "utf-16",
    ] {
        assert!(text.contains(each), "{each} is missing in {text}");
    }
}

#[test]
fn parts_that_are_not_text_are_refused() {
    let compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest".as_slice();
    let (image, wide, word) = (png(65, 65), png(300, 64), zip(&docx(DOSES, &[])));
    let mut commented = png(8, 8);
    commented.splice(33..33, [b"\0\0\0\x04tEXtname".as_slice(), &[0; 4]].concat());
    for (name, body, reason) in [
        ("word/vbaProject.bin", compound, Some(Unread::ActiveContent)),
        (
            "word/activeX/activeX1.xml",
            b"<x/>",
            Some(Unread::ActiveContent),
        ),
        (
            "word/embeddings/oleObject1.bin",
            compound,
            Some(Unread::EmbeddedObject),
        ),
        (
            "word/embeddings/book.docx",
            &word,
            Some(Unread::EmbeddedObject),
        ),
        (
            "word/embeddings/more.zip",
            b"PK\x03\x04",
            Some(Unread::NestedArchive),
        ),
        (
            "word/media/a.gz",
            b"\x1f\x8b\x08",
            Some(Unread::NestedArchive),
        ),
        (
            "word/media/a.bin",
            b"\x00\x01\x02",
            Some(Unread::EmbeddedObject),
        ),
        ("word/media/image1.png", &image, Some(Unread::Image)),
        ("word/media/image1.png", &commented, Some(Unread::Image)),
        (
            "word/media/image1.emf",
            b"\x01\0\0\0\x6c\0\0\0",
            Some(Unread::Image),
        ),
        ("word/media/image1.png", &wide, None),
        ("docProps/thumbnail.png", &image, Some(Unread::Image)),
        ("word/broken.xml", b"<left>318", Some(Unread::Damaged)),
    ] {
        assert_eq!(
            refusal(&zip(&docx(DOSES, &[(name, body)]))),
            reason,
            "{name}"
        );
    }
}

#[test]
fn preview_of_first_page_passes() {
    let mut files = docx(DOSES, &[("docProps/thumbnail.png", &png(256, 192))]);
    let relation = "<Relationship Id='rId2' Type='http://schemas.openxmlformats.org/package/2006/relationships/metadata/thumbnail' Target='docProps/thumbnail.png'/></Relationships>";
    let roots = String::from_utf8(files[1].1.clone()).unwrap();
    files[1].1 = roots.replace("</Relationships>", relation).into_bytes();
    assert_eq!(refusal(&zip(&files)), None);
}

#[test]
fn packages_of_other_formats_are_refused() {
    let files = |change: fn(&mut Files)| {
        let mut files = docx(DOSES, &[]);
        change(&mut files);
        refusal(&zip(&files))
    };
    assert_eq!(files(|files| drop(files.remove(2))), Some(Unread::Damaged));
    assert_eq!(
        files(|files| drop(files.remove(0))),
        Some(Unread::UnknownType)
    );
    let drawing = package(("visio/document.xml", "visio.drawing", "<x/>"), &[]);
    assert_eq!(refusal(&zip(&drawing)), Some(Unread::UnknownType));
    let macros = package(
        ("word/document.xml", "word.document.macroEnabled", "<x/>"),
        &[],
    );
    assert_eq!(refusal(&zip(&macros)), Some(Unread::ActiveContent));
}

#[test]
fn slides_are_read_in_order() {
    const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
    const SLIDES: &str = "http://schemas.openxmlformats.org/presentationml/2006/main";
    let slide = |text: &str| {
        let runs: String = text
            .chars()
            .map(|each| format!("<a:r><a:t>{each}</a:t></a:r>"))
            .collect();
        format!("<p:sld xmlns:p='{SLIDES}' xmlns:a='{DRAWING}'><p:sp><p:cNvPr name='Shape of {text}'/><a:p>{runs}</a:p></p:sp></p:sld>").into_bytes()
    };
    let main = format!("<p:presentation xmlns:p='{SLIDES}'/>");
    let bytes = zip(&package(
        ("ppt/presentation.xml", "presentationml.presentation", &main),
        &[
            ("ppt/slides/slide10.xml", &slide("ten")),
            ("ppt/slides/slide2.xml", &slide("two")),
        ],
    ));
    let text = shown(&bytes);
    let (two, ten) = (
        text.find("slide2.xml: two").unwrap(),
        text.find("slide10.xml: ten").unwrap(),
    );
    assert!(two < ten && text.contains("Shape of two"), "{text}");
}

#[test]
fn open_document_is_read() {
    let content = "<office:document-content xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0'>\
        <text:p>318-<text:span>52</text:span><office:annotation><text:p>note</text:p></office:annotation>-6047<text:s text:c='2'/>end</text:p>\
        <text:p><text:a href='mailto:x@a.example'>write</text:a></text:p></office:document-content>";
    let files = |manifest: &str, more: Option<&str>| {
        let mut files = vec![
            (
                "mimetype".to_owned(),
                b"application/vnd.oasis.opendocument.text".to_vec(),
            ),
            ("content.xml".to_owned(), content.as_bytes().to_vec()),
            (
                "META-INF/manifest.xml".to_owned(),
                manifest.as_bytes().to_vec(),
            ),
        ];
        files.extend(more.map(|name| (name.to_owned(), b"<x/>".to_vec())));
        zip(&files)
    };
    let text = shown(&files("<manifest/>", None));
    assert!(
        text.starts_with("#part=content.xml: 318-52-6047  end\nnote\nwrite\n"),
        "{text}"
    );
    assert!(text.contains("mailto:x@a.example"));
    assert_eq!(
        refusal(&files("<m><encryption-data/></m>", None)),
        Some(Unread::Encrypted)
    );
    assert_eq!(
        refusal(&files("<m/>", Some("Basic/Standard/Module1.xml"))),
        Some(Unread::ActiveContent)
    );
}

#[test]
fn names_of_parts_are_counted() {
    let found = read(&zip(&docx(DOSES, &[("word/Jane Roe.xml", b"<x>1</x>")])));
    let passage = found
        .passages
        .iter()
        .find(|passage| passage.text == "<x>1</x>")
        .unwrap();
    let place = passage.stretches[0].place;
    assert_eq!(found.path(place, true), "#part=word/Jane Roe.xml");
    assert_eq!(found.path(place, false), "#part={3}");
}
