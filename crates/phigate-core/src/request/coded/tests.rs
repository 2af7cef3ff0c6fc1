//! Tests of coded runs: decoded text, files, ids and ciphertexts, in base64 and in hexadecimal.

use super::*;

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = bytes.chunks(3).flat_map(|chunk| {
        let mut three = [0; 3];
        three[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        (0..=chunk.len()).map(move |at| char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63]))
    });
    letters.collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes without any order, the same every time.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn utf16_of(text: &str, is_little: bool) -> Vec<u8> {
    let pair = |unit: u16| match is_little {
        true => unit.to_le_bytes(),
        false => unit.to_be_bytes(),
    };
    text.encode_utf16().flat_map(pair).collect()
}

fn pieces(text: &str, length: usize, between: &str) -> String {
    let pieces: Vec<&str> = (0..text.len().div_ceil(length))
        .map(|at| &text[at * length..text.len().min((at + 1) * length)])
        .collect();
    pieces.join(between)
}

const LETTER: &str = "Patient Kofi Okonkwo, SSN 531-22-8742, DOB 07/02/1971, phone 206-555-0142.";

/// [`LETTER`] compressed: stored, with fixed codes, and a longer text with dynamic codes.
const ZLIB: &[&str] = &[
    "eAEBSgC1/1BhdGllbnQgS29maSBPa29ua3dvLCBTU04gNTMxLTIyLTg3NDIsIERPQiAwNy8wMi8xOTcxLCBwaG9uZSAyMDYtNTU1LTAxNDIuJN0TWQ==",
    "eJwLSCzJTM0rUfDOT8tU8M/Oz8suz9dRCA72UzA1NtQ1MtK1MDcx0lFw8XdSMDDXNzDSN7Q0N9RRKMjIz0tVMDIw0zU1NdU1MDQx0gMAJN0TWQ==",
    "eNrtzUEKwjAQBdC9p/gHSNpkbIxuxZ1ghXqBUKItDTPSJnh9PYaL7B+8e8hz5IyrPGf0i/DyEYVhuMHtrSbSR9+RwqU/w/jWUGtP3iq8J+EIMgftnNPGdtTsHlNEKvzaENaIMcWwIgtC2caS8u8RblBRRRVVVNHfoi8Kqi3x",
];

#[test]
fn coded_text_is_decoded_however_split() {
    let followed = format!(
        "{}\nThanks for all",
        pieces(&base64(LETTER.as_bytes()), 22, "\n")
    );
    assert_eq!(coded_texts(&followed)[0].1, LETTER);
    let letters = base64(LETTER.as_bytes());
    for (text, expected) in [
        (base64(&utf16_of(LETTER, true)), LETTER),
        (base64(&utf16_of(LETTER, false)), LETTER),
        (hexadecimal(&utf16_of(LETTER, true)), LETTER),
        (
            format!("0x{}", hexadecimal(&utf16_of(LETTER, true))),
            LETTER,
        ),
        (hexadecimal(&utf16_of(LETTER, false)), LETTER),
        (
            base64(&utf16_of(&format!("\u{feff}{LETTER}"), true)),
            LETTER,
        ),
        (pieces(&letters, 10, "\n"), LETTER),
        (pieces(&letters, 20, "\r\n"), LETTER),
        (pieces(&letters, 20, "\n        "), LETTER),
        (pieces(&letters, 24, "\" +\n\""), LETTER),
        (pieces(&letters, 24, "', '"), LETTER),
        (pieces(&letters, 24, "\"\n\""), LETTER),
        (pieces(&letters, 8, "."), LETTER),
        (pieces(&hexadecimal(LETTER.as_bytes()), 32, "\n"), LETTER),
    ] {
        let framed = format!("See \"{text}\" and answer.");
        let found = coded_texts(&framed);
        let [(span, decoded)] = &found[..] else {
            panic!("{} texts in {framed}", found.len())
        };
        assert_eq!(decoded, expected, "{framed}");
        assert_eq!(framed[span.clone()], text);
    }
}

#[test]
fn text_in_no_coding_is_left_alone() {
    let program = "const integrity = \"sha512-abcdef\"; function getElementById(identifier) { return document }";
    let words = "password\nusername\nfirstname\nlastnames\nbirthdate";
    for text in [
        program,
        words,
        "",
        "=",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        assert_eq!(coded_texts(text), [], "{text}");
    }
    for seed in 0..2000 {
        let id = noise(seed, 32);
        for text in [base64(&id), hexadecimal(&id)] {
            assert_eq!(coded_texts(&text), [], "{text}");
        }
    }
}

#[test]
fn file_header_is_recognised_in_either_coding() {
    let png = [&b"\x89PNG\r\n\x1a\n"[..], &noise(1, 90)].concat();
    let gzip = [&b"\x1f\x8b\x08\0"[..], &noise(2, 90)].concat();
    for text in ZLIB {
        let bytes = from_base64(text.as_bytes());
        for text in [(*text).to_owned(), hexadecimal(&bytes)] {
            assert!(holds_coded_file(text.as_bytes(), false), "{text}");
        }
    }
    for file in [&png, &gzip] {
        for text in [base64(file), hexadecimal(file)] {
            assert!(holds_coded_file(text.as_bytes(), false), "{text}");
            assert!(holds_coded_file(text.as_bytes(), true), "{text}");
            for between in ["\n", "\" +\n\""] {
                let cut = pieces(&text, 20, between);
                assert!(holds_coded_file(cut.as_bytes(), false), "{cut}");
            }
        }
    }
}

#[test]
fn unnamed_bytes_are_a_file_when_long() {
    let noise = noise(3, 600);
    for text in [
        base64(&noise),
        hexadecimal(&noise),
        pieces(&base64(&noise), 76, "\n"),
    ] {
        assert!(holds_coded_file(text.as_bytes(), false), "{text}");
        assert!(!holds_coded_file(text.as_bytes(), true), "{text}");
    }
    for text in [base64(&noise[..500]), hexadecimal(&noise[..500])] {
        assert!(!holds_coded_file(text.as_bytes(), false), "{text}");
    }
}

#[test]
fn ids_and_hashes_are_no_files() {
    let list = |length: usize, code: fn(&[u8]) -> String, between: &str| {
        let ids: Vec<String> = (0..400).map(|seed| code(&noise(seed, length))).collect();
        ids.join(between)
    };
    for text in [
        list(20, hexadecimal, "\n"),
        list(32, hexadecimal, "\n"),
        list(64, hexadecimal, "\n"),
        list(32, hexadecimal, "\",\""),
        list(8, base64, "\n"),
        list(16, base64, "\n"),
        list(48, base64, "\", \""),
        list(64, base64, "==\",\n \"sha512-"),
        list(16, hexadecimal, "-"),
        "3.14159265358979323846264338327950288419716939937510".repeat(30),
    ] {
        assert!(!holds_coded_file(text.as_bytes(), false), "{}", &text[..80]);
    }
    // One after the other, so that each may begin like a compressed stream.
    for seed in 0..20_000 {
        let hash = noise(seed, 64);
        assert!(!holds_coded_file(base64(&hash).as_bytes(), false));
    }
}

#[test]
fn ciphertext_is_single_unreadable_run() {
    for length in [40, 64, 300, 4000] {
        for seed in 0..20 {
            let letters = base64(&noise(seed, length));
            let padded = format!("{letters}==");
            let for_urls = letters.replace('+', "-").replace('/', "_");
            for text in [&letters, &padded, &for_urls] {
                assert!(is_ciphertext(text), "{text}");
            }
        }
    }
    let noise = base64(&noise(7, 60));
    for text in [
        "",
        "SSN 531-22-8742 Kofi Okonkwo",
        "KofiOkonkwo",
        "PatientKofiOkonkwoWasSeenOnMondayAndHasDiabetesMellitus",
        "skip_thought_signature_validator",
        &base64(LETTER.as_bytes()),
        &base64(&utf16_of(LETTER, true)),
        &format!("{noise} SSN 531-22-8742"),
        &format!("{noise}531228742{noise}"),
        &format!("{noise}==={noise}"),
        &format!("{noise}\n{noise}"),
    ] {
        assert!(!is_ciphertext(text), "{text}");
    }
}
