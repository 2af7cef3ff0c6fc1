//! Text of PDFs: on pages, beside them, and where no reader shows it.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use phigate_types::Unread;

use crate::support::pdf::{FONT, Parts, Pdf, body, document, lines, page};
use crate::support::{refusal, shown};

const SSN: &str = "SSN 536-22-8741";

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn pages_are_read_in_order() {
    let mut pdf = Pdf::new();
    pdf.object("<</Type/Catalog/Pages 2 0 R>>");
    pdf.object("<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/Resources<</Font<</F1 7 0 R>>>>>>");
    pdf.object("<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents[5 0 R]>>");
    pdf.object("<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 6 0 R>>");
    pdf.stream("", lines(&["One."]).as_bytes());
    pdf.stream(
        "/Filter/FlateDecode",
        &packed(lines(&["Two.", SSN]).as_bytes()),
    );
    pdf.object(FONT);
    let found = crate::support::read(&pdf.end("/Root 1 0 R"));
    assert_eq!(found.passages[0].text, format!("One.\n\nTwo.\n{SSN}"));
    let at = found.passages[0].text.find("SSN").unwrap();
    let place = found.passages[0].stretch(at).unwrap().place;
    assert_eq!(found.path(place, true), "#page=2");
}

#[test]
fn text_is_read_however_written() {
    let glyphs = |order: &mut dyn Iterator<Item = (usize, char)>| -> String {
        let tail = order.map(|(at, each)| format!("1 0 0 1 {} 460 Tm ({each}) Tj ", 40 + 7 * at));
        format!("BT /F1 11 Tf {}ET", tail.collect::<String>())
    };
    let codes: String = SSN.bytes().map(|byte| format!("{byte:02x}")).collect();
    let kerned: String = SSN.chars().map(|each| format!("({each})-15")).collect();
    let mut backwards = SSN.char_indices().rev();
    for content in [
        format!("BT /F1 11 Tf <{codes}> Tj ET"),
        format!("BT /F1 11 Tf [{kerned}] TJ ET"),
        format!("BT /F1 11 Tf 0 1 -1 0 300 100 Tm ({SSN}) Tj ET"),
        format!("BT /F1 11 Tf 3 Tr 1 1 1 rg 9000 9000 Td ({SSN}) ' ET"),
        format!("q 0 0 1 1 re W n BT /F1 0.1 Tf 1 2 ({SSN}) \" ET Q 0 0 500 500 re f"),
        glyphs(&mut SSN.char_indices()),
        glyphs(&mut backwards),
    ] {
        let text = shown(&page(&content));
        assert!(
            text.starts_with(&format!("#page=1: {SSN}")),
            "{content}\n{text}"
        );
    }
}

#[test]
fn overpainted_text_is_apart() {
    let under = format!("BT /F1 11 Tf 40 400 Td ({SSN}) Tj ET");
    let over = "BT /F1 11 Tf 42 400 Td (Nothing to see here.) Tj ET";
    let text = shown(&page(&format!("{under} {over}")));
    assert!(
        text.contains(SSN) && text.contains("Nothing to see here."),
        "{text}"
    );
}

#[test]
fn number_broken_at_hyphen_is_joined() {
    let text = shown(&page(&lines(&["See SSN 536-", "22-8741"])));
    assert!(
        text.contains(&format!("(background) #page=1: See {SSN}")),
        "{text}"
    );
}

#[test]
fn everything_beside_pages_is_read() {
    let note = format!("<</Type/Annot/Subtype/Text/Contents({SSN})>>");
    let wide: String = format!("\u{feff}{SSN}")
        .encode_utf16()
        .map(|unit| format!("{unit:04x}"))
        .collect();
    let wide = format!("<</Title <{wide}>>>");
    let field = format!("<</FT/Tx/T(SSN)/V({})>>", &SSN[4..]);
    let look = body(
        "/Type/XObject/Subtype/Form/Resources<</Font<</F1 5 0 R>>>>",
        &lines(&[SSN]),
    );
    let xmp = body(
        "/Type/Metadata/Subtype/XML",
        &format!("<x><y>{SSN}</y></x>"),
    );
    let file = body("/Type/EmbeddedFile", SSN);
    let link = format!("<</S/URI/URI(https://example.org/?{SSN})>>");
    let name = format!("<</Names[({SSN})[3 0 R/Fit]]>>");
    let key = format!("<</{}/x>>", SSN.replace(' ', "#20"));
    let inside = body("/Type/ObjStm/N 1/First 5", &format!("12 0 ({SSN})"));
    for object in [note, wide, field, look, xmp, file, link, name, key, inside] {
        let text = shown(&document(Parts {
            objects: &["null", &object],
            ..Parts::default()
        }));
        assert!(
            text.contains(&SSN[4..]) && text.contains("#object="),
            "{object}\n{text}"
        );
    }
    let annotation = format!("/Annots[<</Subtype/Text/Contents({SSN})>>]");
    let text = shown(&document(Parts {
        page: &annotation,
        ..Parts::default()
    }));
    assert!(text.contains(&format!("#page=1: {SSN}")), "{text}");
}

#[test]
fn asides_and_comments_are_read() {
    let usual = lines(&["The usual doses."]);
    let covered = format!("/Span <</ActualText({SSN})>> BDC {usual} EMC");
    let comment = format!("{usual} % {SSN}\n");
    for content in [covered, comment] {
        let text = shown(&page(&content));
        assert!(
            text.contains(&format!("(background) #page=1: {SSN}")),
            "{text}"
        );
    }
    let mut whole = page("");
    whole.extend(format!("% {SSN}\n").bytes());
    assert!(shown(&whole).contains(SSN));
}

#[test]
fn older_revisions_are_read() {
    let first = page(&lines(&[SSN]));
    let start = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let start: usize = text.rsplit("startxref\n").next().unwrap()[..3]
            .trim()
            .parse()
            .unwrap();
        start
    };
    let content = lines(&["The usual doses."]);
    let offset = first.len();
    let mut whole = first.clone();
    whole.extend(format!("4 0 obj\n{}\nendobj\n", body("", &content)).bytes());
    let table = whole.len();
    let tail = format!(
        "xref\n4 1\n{offset:010} 00000 n \ntrailer\n<</Size 6/Root 1 0 R/Prev {}>>\nstartxref\n{table}\n%%EOF\n",
        start(&first)
    );
    whole.extend(tail.bytes());
    let text = shown(&whole);
    assert!(
        text.starts_with("#page=1: The usual doses.") && text.contains(SSN),
        "{text}"
    );
}

#[test]
fn streams_without_known_use_are_refused() {
    let orphan = body("", &lines(&[SSN]));
    let font = body("", SSN);
    let profile = body("/N 3", SSN);
    let hexadecimal: String = SSN.bytes().map(|byte| format!("00{byte:02x}")).collect();
    let map = format!("%!PS-Adobe-3.0 Resource-CMap\n1 beginbfchar <01> <{hexadecimal}> endbfchar");
    let unused = document(Parts {
        objects: &[&body("", &map)],
        ..Parts::default()
    });
    assert!(shown(&unused).contains(SSN));
    for (objects, reason) in [
        (vec![orphan.as_str()], Unread::HiddenText),
        (
            vec![font.as_str(), "<</FontFile 6 0 R>>"],
            Unread::HiddenText,
        ),
        (
            vec![profile.as_str(), "[/ICCBased 6 0 R]"],
            Unread::HiddenText,
        ),
    ] {
        let found = refusal(&document(Parts {
            objects: &objects,
            ..Parts::default()
        }));
        assert_eq!(found, Some(reason), "{objects:?}");
    }
}

#[test]
fn active_and_embedded_parts_are_refused() {
    for (object, reason) in [
        ("<</S/JavaScript/JS(app.alert)>>", Unread::ActiveContent),
        ("<</S/Launch/F(x.exe)>>", Unread::ActiveContent),
        ("<</S/SubmitForm/F(x)>>", Unread::ActiveContent),
        ("<</Subtype/RichMedia>>", Unread::EmbeddedObject),
        ("<</XFA(x)>>", Unread::EmbeddedObject),
    ] {
        let found = refusal(&document(Parts {
            objects: &[object],
            ..Parts::default()
        }));
        assert_eq!(found, Some(reason), "{object}");
    }
    let file = body("/Type/EmbeddedFile", "a\0b");
    let attached = document(Parts {
        objects: &[&file],
        ..Parts::default()
    });
    assert_eq!(refusal(&attached), Some(Unread::EmbeddedObject));
    let encrypted = document(Parts {
        trailer: "/Encrypt<</Filter/Standard>>",
        ..Parts::default()
    });
    assert_eq!(refusal(&encrypted), Some(Unread::Encrypted));
}

#[test]
fn images_wide_and_high_are_refused() {
    let image = |width: usize, height: usize| {
        let head = format!(
            "/Type/XObject/Subtype/Image/Width {width}/Height {height}/ColorSpace/DeviceGray/BitsPerComponent 8"
        );
        let object = body(&head, &"a".repeat(width * height));
        refusal(&document(Parts {
            objects: &[&object],
            ..Parts::default()
        }))
    };
    assert_eq!(image(64, 200), None);
    assert_eq!(image(65, 65), Some(Unread::Image));
    // Strips that together are a page.
    assert_eq!(image(5000, 60), Some(Unread::Image));
    let inline = |width: usize, data: &str| {
        let usual = lines(&["The usual doses."]);
        refusal(&page(&format!(
            "{usual} q BI /W {width} /H 65 /CS /G /BPC 8 ID {data} EI Q"
        )))
    };
    assert_eq!(inline(2, &"a".repeat(130)), None);
    assert_eq!(inline(2, &"a".repeat(300)), Some(Unread::Image));
    assert_eq!(inline(65, "a"), Some(Unread::Image));
}

#[test]
fn pages_without_text_are_refused() {
    for content in [
        "0 0 9 9 re f",
        " ",
        "BT /F1 11 Tf ( ) Tj ET",
        "BT (Doses) Tj ET",
    ] {
        assert_eq!(refusal(&page(content)), Some(Unread::NoText), "{content}");
    }
}

#[test]
fn fonts_without_characters_are_refused() {
    let font = |entries: &str, map: &str| {
        let content = format!("{} BT /F2 9 Tf <00240025> Tj ET", lines(&["Doses."]));
        let kid = "<</Type/Font/Subtype/CIDFontType2/BaseFont/A>>";
        let font = format!("<</Type/Font/BaseFont/Helvetica {entries}>>");
        let map = body("", map);
        refusal(&document(Parts {
            content: &content,
            fonts: "/F2 6 0 R",
            objects: &[&font, kid, &map],
            ..Parts::default()
        }))
    };
    let two = "/Subtype/Type0/Encoding/Identity-H/DescendantFonts[7 0 R]";
    let map = "1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <0024> <0025> <0041> endbfrange";
    assert_eq!(font(&format!("{two}/ToUnicode 8 0 R"), map), None);
    assert_eq!(
        font(
            &format!("{two}/ToUnicode 8 0 R"),
            "1 beginbfchar <0024> <e000> endbfchar"
        ),
        Some(Unread::NoText)
    );
    assert_eq!(
        font(
            "/Subtype/Type0/Encoding/90ms-RKSJ-H/DescendantFonts[7 0 R]",
            map
        ),
        Some(Unread::NoText)
    );
    // The map says other characters than the encoding shows.
    let lie = "1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfchar <24> <0041> <25> <0042> endbfchar 1 beginbfchar <00> <0020> endbfchar";
    let simple = "/Subtype/Type1/Encoding<</Differences[0/space 36/one/two]>>/ToUnicode 8 0 R";
    assert_eq!(font(simple, lie), Some(Unread::ReadersDisagree));
}

#[test]
fn hidden_layers_are_refused() {
    let content = format!(
        "{} /OC /L1 BDC BT /F1 9 Tf 40 100 Td ({SSN}) Tj ET EMC",
        lines(&["Doses."])
    );
    let found = refusal(&document(Parts {
        content: &content,
        resources: "/Properties<</L1 6 0 R>>",
        root: "/OCProperties<</OCGs[6 0 R]/D<</OFF[6 0 R]>>>>",
        objects: &["<</Type/OCG/Name(extra)>>"],
        ..Parts::default()
    }));
    assert_eq!(found, Some(Unread::HiddenText));
}

#[test]
fn ambiguous_files_are_refused() {
    let twice = document(Parts {
        objects: &["<</A(1)/A(2)>>"],
        ..Parts::default()
    });
    assert_eq!(refusal(&twice), Some(Unread::ReadersDisagree));
    let whole = page("");
    let text = String::from_utf8_lossy(&whole).into_owned();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let bytes = b"%PDF-1.7\n".iter().copied();
        bytes
            .chain(
                text[text.find("1 0 obj").unwrap()..]
                    .replacen(from, to, 1)
                    .into_bytes(),
            )
            .collect::<Vec<u8>>()
    };
    let mut behind = whole.clone();
    behind.extend(b"PK\x03\x04 SSN");
    let mut between = whole.clone();
    let at = crate::support::position(&whole, b"xref");
    between.splice(at..at, b"SSN ".iter().copied());
    for bytes in [
        behind,
        between,
        whole[..whole.len() - 40].to_vec(),
        whole[..300].to_vec(),
        b"%PDF-1.7\nnothing".to_vec(),
        changed("/Kids[3 0 R]", "/Kids[2 0 R]"),
        changed("/Length", "/Size  "),
    ] {
        assert_eq!(refusal(&bytes), Some(Unread::Damaged));
    }
}

#[test]
fn expanding_files_are_refused() {
    let spaces = packed(&vec![b' '; 4 << 20]);
    let mut pdf = Pdf::new();
    pdf.object("<</Type/Catalog/Pages 2 0 R>>");
    pdf.object("<</Type/Pages/Kids[3 0 R]>>");
    pdf.object("<</Type/Page/Contents 4 0 R>>");
    pdf.stream("/Filter/FlateDecode", &spaces);
    assert_eq!(refusal(&pdf.end("/Root 1 0 R")), Some(Unread::TooLarge));
    // Forms that draw each other, ten times each.
    let mut objects = vec![body(
        "/Type/XObject/Subtype/Form/Resources<</Font<</F1 5 0 R>>>>",
        &lines(&["a"]),
    )];
    for level in 6..15 {
        let head = format!("/Type/XObject/Subtype/Form/Resources<</XObject<</X {level} 0 R>>>>");
        objects.push(body(&head, &"/X Do ".repeat(10)));
    }
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    let bomb = document(Parts {
        content: "/X Do",
        resources: "/XObject<</X 15 0 R>>",
        objects: &objects,
        ..Parts::default()
    });
    assert_eq!(refusal(&bomb), Some(Unread::Limit));
}

#[test]
fn circle_of_forms_is_refused() {
    let form = body(
        "/Type/XObject/Subtype/Form/Resources<</XObject<</X 6 0 R>>>>",
        "/X Do",
    );
    let circle = document(Parts {
        content: "/X Do",
        resources: "/XObject<</X 6 0 R>>",
        objects: &[&form],
        ..Parts::default()
    });
    assert_eq!(refusal(&circle), Some(Unread::Damaged));
}
