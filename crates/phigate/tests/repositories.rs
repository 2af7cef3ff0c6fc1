//! `phigate scan` on folders, for repositories and CI; completions and manual pages.

use std::path::Path;

use serde_json::Value;

use crate::support::{Gateway, Provider, SSN_TEXT};

/// A folder with a finding in a note, a second behind a marker, and files that are not scanned.
fn repository(folder: &Path) {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write("notes/a b.txt", SSN_TEXT.as_bytes());
    let marked = format!("x = '{SSN_TEXT}'  # phigate:allow ssn\n");
    write("test.py", marked.as_bytes());
    write("clean.md", b"Nothing to see.\n");
    write("program", &[0x7f, b'E', b'L', b'F', 0, 1, 2, 0xff]);
    write("built/x.txt", SSN_TEXT.as_bytes());
    write(".gitignore", b"built/\n");
}

/// Exit code, standard output and standard error of a scan.
fn scan(gateway: &Gateway, arguments: &[&str]) -> (Option<i32>, String, String) {
    let done = gateway.try_command(&[&["scan"], arguments].concat(), "");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

#[test]
fn folder_is_scanned_without_ignored_files() {
    let gateway = Gateway::offline();
    let folder = gateway.folder.path().join("repository");
    repository(&folder);
    let (code, told, besides) = scan(&gateway, &["--check", folder.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{told}{besides}");
    assert!(told.contains("a b.txt:1:11\tssn"), "{told}");
    assert!(told.ends_with("4 files scanned: 1 found\n"), "{told}");
    assert!(
        !told.contains("built") && !told.contains("test.py"),
        "{told}"
    );
    assert!(
        besides.contains("1 by a marker, 0 by the baseline"),
        "{besides}"
    );
    assert!(besides.contains("1 files that are neither"), "{besides}");
    // A marker hides nothing from masking.
    let marked = folder.join("test.py");
    let masked = gateway.command(&["scan", "--mask", marked.to_str().unwrap()]);
    assert!(masked.contains("[SSN]"), "{masked}");
    // A file that is named must be readable.
    let program = folder.join("program");
    assert_eq!(scan(&gateway, &[program.to_str().unwrap()]).0, Some(2));
}

#[test]
fn baseline_counts_only_new_findings() {
    let gateway = Gateway::offline();
    let folder = gateway.folder.path().join("repository");
    repository(&folder);
    let (folder_name, known) = (folder.to_str().unwrap(), folder.join("known.json"));
    let known = known.to_str().unwrap();
    let (code, _, told) = scan(&gateway, &["--write-baseline", known, folder_name]);
    assert_eq!(code, Some(0), "{told}");
    assert!(!std::fs::read_to_string(known).unwrap().contains("536"));
    let check = ["--check", "--baseline", known, folder_name];
    assert_eq!(scan(&gateway, &check).0, Some(0));
    // The line moves, and another finding comes.
    let note = folder.join("notes/a b.txt");
    std::fs::write(&note, format!("A new line.\n{SSN_TEXT}")).unwrap();
    assert_eq!(scan(&gateway, &check).0, Some(0));
    std::fs::write(&note, format!("{SSN_TEXT}\n{SSN_TEXT}")).unwrap();
    let (code, told, _) = scan(&gateway, &check);
    assert_eq!(
        (code, told.matches("\tssn\t").count()),
        (Some(1), 1),
        "{told}"
    );
    std::fs::write(known, "{\"version\":1,\"findings\":[{\"zebra").unwrap();
    let (code, _, told) = scan(&gateway, &check);
    assert!(
        code == Some(2) && told.contains("known.json, line 1"),
        "{told}"
    );
    assert!(!told.contains("zebra"), "{told}");
}

#[test]
fn sarif_lists_findings_and_suppressed_ones() {
    let gateway = Gateway::offline();
    let folder = gateway.folder.path().join("repository");
    repository(&folder);
    let (code, log, _) = scan(&gateway, &["--sarif", folder.to_str().unwrap()]);
    assert_eq!(code, Some(0));
    assert!(!log.contains("536"), "{log}");
    let log: Value = serde_json::from_str(&log).unwrap();
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let place = &results[0]["locations"][0]["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.ends_with("notes/a%20b.txt"), "{uri}");
    assert_eq!(place["region"]["startColumn"], 11);
    assert_eq!(results[1]["suppressions"][0]["kind"], "inSource");
    let skipped = &run["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(skipped.as_array().unwrap().len(), 1);
}

#[test]
fn healthy_follows_the_gateway() {
    let mut gateway = Gateway::start(&Provider::start());
    let code = |gateway: &Gateway| gateway.try_command(&["healthy"], "").status.code();
    assert_eq!(code(&gateway), Some(0));
    gateway.signal("-TERM");
    assert_eq!(gateway.wait(), Some(0));
    assert_eq!(code(&gateway), Some(1));
}

#[test]
fn completions_and_manual_name_every_command() {
    let gateway = Gateway::offline();
    for shell in ["bash", "zsh", "fish"] {
        let script = gateway.command(&["completions", shell]);
        for word in ["export-to", "write-baseline"] {
            assert!(script.contains(word), "{shell} without {word}");
        }
    }
    assert!(gateway.command(&["man"]).contains(".TH phigate 1"));
    let pages = gateway.folder.path().join("man");
    gateway.command(&["man", "--to", pages.to_str().unwrap()]);
    let page = std::fs::read_to_string(pages.join("phigate-key-create.1")).unwrap();
    assert!(page.contains("expires"), "{page}");
    assert!(!pages.join("phigate-extract.1").exists());
}
