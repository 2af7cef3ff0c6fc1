//! Release builds follow the recorded profile; other builds ignore it.

use std::path::PathBuf;
use std::process::Command;

fn folder() -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profile");
    std::fs::canonicalize(root).unwrap()
}

/// Some arguments that cargo passes to the compiler in release builds.
const RELEASE: &str = "-C opt-level=3 -C codegen-units=1 --target aarch64-unknown-linux-gnu";

/// Arguments of the compiler when cargo gives these words.
fn given(words: &str, profile: Option<&str>) -> String {
    let mut command = Command::new(folder().join("rustc"));
    command
        .arg("echo")
        .args(words.split(' '))
        .env("CARGO_PKG_NAME", "some-crate")
        .env("CARGO_PKG_VERSION", "1.2.3")
        .env("CARGO_CRATE_NAME", "some_crate")
        .env_remove("PHIGATE_PROFILE");
    command.envs(profile.map(|profile| ("PHIGATE_PROFILE", profile)));
    let output = command.output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn only_release_builds_follow_the_profile() {
    let others = "--crate-name some_crate -C opt-level=3 -C metadata=0123 -C codegen-units=16";
    assert_eq!(given(others, None), others);
    let release = format!("{RELEASE} -C metadata=0123");
    let named = format!("{RELEASE} -C metadata=some-crate-1.2.3-some_crate");
    let file = folder().join("phigate.profdata");
    let followed = format!("{named} -Cprofile-use={}", file.display());
    assert_eq!(given(&release, None), followed);
    assert_eq!(given(&release, Some("none")), named);
    let counted = format!("{named} -Cprofile-generate");
    assert_eq!(given(&release, Some("record")), counted);
}

#[test]
fn branch_alignment_applies_only_to_x86() {
    assert_eq!(given(RELEASE, Some("none")), RELEASE);
    let x86 = RELEASE.replace("aarch64", "x86_64");
    let within = format!("{x86} -Cllvm-args=-x86-branches-within-32B-boundaries");
    assert_eq!(given(&x86, Some("none")), within);
}

#[test]
fn the_profile_is_one() {
    let profile = std::fs::read(folder().join("phigate.profdata")).unwrap();
    assert!(profile.starts_with(b"\xfflprofi\x81"), "not LLVM's format");
}
