//! Settings of an account as a file: printed, compared and applied as a whole.

use std::fs;
use std::path::PathBuf;

use crate::support::Gateway;

const REASON: &[&str] = &["--reason", "a test of files"];

fn file(folder: &tempfile::TempDir, text: &str) -> String {
    let path: PathBuf = folder.path().join("account.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn code(gateway: &Gateway, arguments: &[&str]) -> (Option<i32>, String) {
    let output = gateway.try_command(arguments, "");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), told)
}

#[test]
fn file_sets_everything_once() {
    let gateway = Gateway::offline();
    let folder = tempfile::tempdir().unwrap();
    let key = gateway.command(&["key", "create", "--name", "intake"]);
    let id = &key["phg_".len()..][..12];
    let text = format!(
        r#"[settings]
mode = "mask"
content_days = 2000
request_header = true

[kinds]
npi = "placeholder"
date = "generalize"

[policy]
ssn = "block"
x_study = "redact"

[policy.groups.wards]
name = "redact"

[groups]
wards = ["{id}"]

[fallbacks]
gpt-4o = ["claude-sonnet-4-5"]

[recognizers.x_study]
label = "Study id"
pattern = 'ZKP-\d{{4}}'
found = ["sample ZKP-4471"]
not_found = ["ZKP"]
"#
    );
    let file = file(&folder, &text);
    let apply = [&["apply", &file], REASON].concat();
    assert_eq!(code(&gateway, &["diff", &file]).0, Some(1));
    let dry = gateway.command(&["apply", &file, "--dry-run"]);
    assert!(
        dry.contains("+ policy.ssn = \"block\"") && !dry.contains("4471"),
        "{dry}"
    );
    assert_eq!(gateway.command(&["mode", "get"]).trim(), "flag");
    gateway.command(&apply);
    assert_eq!(gateway.command(&["mode", "get"]).trim(), "mask");
    assert_eq!(code(&gateway, &["diff", &file]).0, Some(0));
    assert_eq!(
        gateway.command(&apply),
        "",
        "the second time changes nothing"
    );
    let shown = gateway.command(&["policy", "show", "--key", id]);
    for row in ["ssn", "x_study", "group:wards", "npi"] {
        assert!(shown.contains(row), "{shown}");
    }
    let dump = gateway.command(&["dump"]);
    let again = self::file(&folder, &dump);
    assert_eq!(
        code(&gateway, &["diff", &again, "--prune"]).0,
        Some(0),
        "{dump}"
    );
}

#[test]
fn weaker_file_needs_a_reason() {
    let gateway = Gateway::offline();
    let folder = tempfile::tempdir().unwrap();
    gateway.command(&["policy", "set", "ssn=block,name=mask"]);
    let weak = file(&folder, "[policy]\nssn = \"flag\"\n");
    let (status, told) = code(&gateway, &["apply", &weak]);
    assert!(status == Some(2) && told.contains("reason"), "{told}");
    gateway.command(&[&["apply", &weak], REASON].concat());
    let kept = gateway.command(&["policy", "show"]);
    assert!(kept.contains("name"), "{kept}");
    let pruned = file(&folder, "[policy]\nssn = \"block\"\n");
    let told = gateway.command(&[&["apply", &pruned, "--prune"], REASON].concat());
    assert!(told.contains("- policy.name"), "{told}");
}

#[test]
fn wrong_file_changes_nothing() {
    let gateway = Gateway::offline();
    let folder = tempfile::tempdir().unwrap();
    gateway.command(&["key", "create"]);
    let before = gateway.command(&["dump"]);
    for (wrong, named) in [
        ("[animals]\ncat = 1", "animals"),
        ("[settings]\nanimal = 1", "settings.animal"),
        (
            "[settings]\ncontent_days = \"many\"",
            "settings.content_days",
        ),
        ("[kinds]\nanimal = \"off\"", "kinds.animal"),
        ("[policy]\nssn = \"hide\"", "policy"),
        ("[policy.groups.wards]\nssn = \"off\"", "policy"),
        ("[groups]\nwards = [\"unknown\"]", "groups.wards"),
        ("[fallbacks]\ngpt-4o = []", "fallbacks.gpt-4o"),
        (
            "[providers.mine]\nanimal = \"cat\"",
            "providers.mine.animal",
        ),
        ("[providers.mine]\nkind = \"azure\"", "providers.mine"),
        (
            "[recognizers.x_study]\npattern = \"(\"",
            "recognizers.x_study",
        ),
        ("[allow]\nabc = \"name\"", "allow"),
        ("[policy", "line 1"),
    ] {
        // The first part of the file is right, and must not be applied either.
        let text = format!("{wrong}\n");
        let file = file(&folder, &text);
        let (status, told) = code(&gateway, &["apply", &file]);
        assert_eq!(status, Some(2), "{wrong}: {told}");
        assert!(told.contains(named), "{wrong}: {told}");
    }
    assert_eq!(gateway.command(&["dump"]), before);
}

#[test]
fn dump_holds_no_secret() {
    let gateway = Gateway::offline();
    let arguments = ["provider", "set", "openai", "--key-stdin"];
    gateway.command_with_input(&arguments, "sk-invented-secret-4f2a");
    gateway.command(&[&["allow", "add", "name", "Jane Roe"], REASON].concat());
    let dump = gateway.command(&["dump"]);
    assert!(
        dump.contains("[providers.openai]") && dump.contains("[allow]"),
        "{dump}"
    );
    assert!(
        !dump.contains("4f2a") && !dump.to_lowercase().contains("jane"),
        "{dump}"
    );
}
