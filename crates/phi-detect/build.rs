//! Writes a fingerprint of the rules, words and weights, which becomes part of the detector's version.

#![allow(
    clippy::disallowed_types,
    reason = "what is built is not part of a scan"
)]

use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=src");
    let mut files = Vec::new();
    collect(Path::new("src"), &mut files)?;
    // The order in which a folder lists its files differs from machine to machine.
    files.sort();
    let mut fingerprint = Fingerprint::new();
    for file in files {
        fingerprint.add(file.to_string_lossy().as_bytes());
        fingerprint.add(&std::fs::read(&file)?);
    }
    println!(
        "cargo:rustc-env=PHI_DETECT_FINGERPRINT={:012x}",
        fingerprint.0 >> 16
    );
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a: changes are made by colleagues, not by attackers, and it needs no dependency.
struct Fingerprint(u64);

impl Fingerprint {
    fn new() -> Self {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }

    /// Takes bytes and their number in, so that the border between two files counts.
    fn add(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for &byte in bytes.iter().chain(&length) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
