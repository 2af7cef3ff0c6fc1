//! Text, CSV, JSON, XML, HTML, RTF and mail.

use phigate_types::Unread;

use crate::support::{png, read, refusal, shown};

/// Returns the UTF-16 bytes of a text.
fn wide(text: &str, mark: bool) -> Vec<u8> {
    let mark = mark.then_some(0xfeff);
    mark.into_iter()
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect()
}

#[test]
fn texts_are_read_in_their_encodings() {
    for (bytes, text) in [
        (b"Notes. MRN 7041882\r\n".to_vec(), "Notes. MRN 7041882\r\n"),
        (b"\xef\xbb\xbfNotes".to_vec(), "Notes"),
        (wide("Notes", true), "Notes"),
        (
            b"Gr\xf6\xdfe na\xefve notes".to_vec(),
            "Gr\u{f6}\u{df}e na\u{ef}ve notes",
        ),
        (b"item,note\ntablet,4\n".to_vec(), "item,note\ntablet,4\n"),
        (br#"{"note": "4\u0033"}"#.to_vec(), r#"{"note": "4\u0033"}"#),
        (
            b"{\"a\": 1}\n{\"a\": 2}\n".to_vec(),
            "{\"a\": 1}\n{\"a\": 2}\n",
        ),
        (b"[2026-01-02] started".to_vec(), "[2026-01-02] started"),
    ] {
        let found = read(&bytes);
        assert_eq!(found.passages.len(), 1);
        assert_eq!(found.passages[0].text, text);
    }
    assert!(read(b"").passages.is_empty());
}

#[test]
fn bytes_of_other_types_are_refused() {
    let many: Vec<u8> = (0..3000u32)
        .map(|each| u8::try_from(each * 197 % 256).unwrap())
        .collect();
    for bytes in [
        many,
        b"\x7fELF\x02\x01\0\0".to_vec(),
        png(8, 8),
        wide("Notes of the ward", false),
        b"\xc1\x95\x85 \xf1\xf2\xf3".to_vec(),
    ] {
        assert_eq!(refusal(&bytes), Some(Unread::UnknownType));
    }
    assert_eq!(
        refusal(br#"{"note": "dose", "more": [1, 2"#),
        Some(Unread::Damaged)
    );
}

#[test]
fn xml_is_text_as_written() {
    let text = shown(b"<?xml version='1.0'?><n a='x'><!-- one --><b>t</b><?two three?></n>");
    assert_eq!(
        text,
        ": <?xml version='1.0'?><n a='x'><b>t</b></n>\n(background) : one\ntwo three\n"
    );
    let utf16 = wide("<?xml version='1.0' encoding='UTF-16'?><n>t</n>", true);
    assert!(shown(&utf16).contains("<n>t</n>"));
}

#[test]
fn hostile_xml_is_refused() {
    let deep = format!("{}{}", "<a>".repeat(300), "</a>".repeat(300));
    for (source, reason) in [
        ("<?xml version='1.0'?><n>", Unread::Damaged),
        ("<?xml version='1.0'?><n></m>", Unread::Damaged),
        ("<?xml version='1.0'?><n/><n/>", Unread::Damaged),
        (
            "<?xml version='1.0'?><!DOCTYPE n [<!ENTITY v '1'>]><n>&v;</n>",
            Unread::Limit,
        ),
        (
            "<?xml version='1.0'?><!DOCTYPE n SYSTEM 'file:///etc/passwd'><n>&e;</n>",
            Unread::Limit,
        ),
        (&format!("<?xml version='1.0'?>{deep}"), Unread::Limit),
    ] {
        assert_eq!(refusal(source.as_bytes()), Some(reason), "{source}");
    }
}

#[test]
fn html_is_read_with_everything_behind_it() {
    let page = "<!DOCTYPE html><html><head><title>Doses</title><style>.a{}</style></head><body><!-- one -->\
        <p>SSN <b>31</b>8-5&#x32;-6047</p><p title='two'>next</p><table><tr><td>MRN<td>7041882</td></tr></table>\
        <script>let three;</script><template><p>four</p></template></end five='six'></html>";
    let text = shown(page.as_bytes());
    for each in [
        "Doses\n",
        "SSN 318-52-6047\n",
        "next\n",
        "7041882",
        "one\n",
        "two\n",
        "let three;",
        "four\n",
        "six",
    ] {
        assert!(text.contains(each), "{each:?} is missing in {text}");
    }
    let image = |side| data_encoding::BASE64.encode(&png(side, side));
    let page = |side| format!("<html><img src='data:image/png;base64,{}'>", image(side));
    assert_eq!(refusal(page(64).as_bytes()), None);
    assert_eq!(refusal(page(65).as_bytes()), Some(Unread::Image));
    assert_eq!(
        refusal(b"<html><p id=a id=b>"),
        Some(Unread::ReadersDisagree)
    );
}

#[test]
fn rtf_is_read_with_all_destinations() {
    let source = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title One}}{\header Two\par}\pard {\b 31}8\_52-\
        \'36\u48?47\par{\v hidden}{\*\unheard of}{\field{\*\fldinst HYPERLINK 'mailto:x'}{\fldrslt write}}a\'e9\u8364 ?\par}";
    let text = shown(source.as_bytes());
    for each in [
        "One\n",
        "Two\n",
        "318-52-",
        "6047\n",
        "hidden",
        "of",
        "mailto:x",
        "write",
        "a\u{e9}\u{20ac}",
    ] {
        assert!(text.contains(each), "{each:?} is missing in {text}");
    }
    assert!(!text.contains("Arial"));
}

#[test]
fn hostile_rtf_is_refused() {
    let deep = format!("{{\\rtf1 {}", "{".repeat(300_000));
    let hex: String = png(300, 200)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for (source, reason) in [
        (r"{\rtf1 open", Unread::Damaged),
        (r"{\rtf1 a} more", Unread::Damaged),
        (&deep, Unread::Limit),
        (r"{\rtf1{\object{\*\objdata 0105}}}", Unread::EmbeddedObject),
        (r"{\rtf1 \bin4 abcd}", Unread::EmbeddedObject),
        (&format!(r"{{\rtf1{{\pict\pngblip {hex}}}}}"), Unread::Image),
        (
            r"{\rtf1 \uc99\u8203 text that some readers show}",
            Unread::ReadersDisagree,
        ),
    ] {
        assert_eq!(
            refusal(source.as_bytes()),
            Some(reason),
            "{}",
            &source[..source.len().min(60)]
        );
    }
}

#[test]
fn small_pictures_in_rtf_pass() {
    let hex: String = png(16, 16)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let source = format!("{{\\rtf1 dose{{\\pict\\pngblip\\picw16\\pich16 {hex}}}}}");
    assert_eq!(shown(source.as_bytes()), ": dose\n");
}

const MAIL: &str = "Subject: =?utf-8?B?T25l?= =?utf-8?Q?_two?=\r\nX-Chart: folded\r\n value\r\nMIME-Version: 1.0\r\n\
    Content-Type: multipart/mixed; boundary=\"b1\"\r\n\r\nbefore\r\n--b1\r\nContent-Type: text/plain\r\n\
    Content-Transfer-Encoding: base64\r\n\r\ndGhyZWU=\r\n--b1\r\nContent-Type: text/html\r\n\
    Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>fo=75=\r\nr</p>\r\n--b1\r\nContent-Type: message/rfc822\r\n\r\n\
    Subject: five\r\n\r\nsix\r\n--b1\r\nContent-Disposition: attachment; filename=\"seven.txt\"\r\n\r\neight\r\n--b1--\r\nafter\r\n";

#[test]
fn mail_is_read_with_all_parts() {
    let text = shown(MAIL.as_bytes());
    for each in [
        "One two",
        "folded value",
        "before",
        "three",
        "four",
        "five",
        "six",
        "seven.txt",
        "eight",
        "after",
    ] {
        assert!(text.contains(each), "{each:?} is missing in {text}");
    }
}

#[test]
fn hostile_mail_is_refused() {
    let of = |kind: &str, body: &str| {
        format!("Subject: a\r\nMIME-Version: 1.0\r\nContent-Type: {kind}\r\n\r\n{body}")
    };
    let base64 = |bytes: &[u8]| data_encoding::BASE64.encode(bytes);
    let part = |bytes: &[u8]| {
        format!(
            "--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n{}\r\n--b--",
            base64(bytes)
        )
    };
    let mixed = "multipart/mixed; boundary=b";
    for (source, reason) in [
        (of(mixed, "--b\r\n\r\nopen"), Unread::Damaged),
        (
            of("multipart/encrypted; boundary=b", "--b--"),
            Unread::Encrypted,
        ),
        (of(mixed, &part(&png(65, 65))), Unread::Image),
        (of(mixed, &part(b"\x1f\x8bzip")), Unread::NestedArchive),
        (of(mixed, &part(b"PK\x03\x04")), Unread::NestedArchive),
        (of(mixed, &part(b"%PDF-1.7")), Unread::EmbeddedObject),
        (
            of(mixed, &part(b"\x00\x01\x02\x03")),
            Unread::EmbeddedObject,
        ),
        (
            of("text/plain\r\nContent-Type: text/html", "x"),
            Unread::ReadersDisagree,
        ),
    ] {
        assert_eq!(refusal(source.as_bytes()), Some(reason), "{source}");
    }
}
