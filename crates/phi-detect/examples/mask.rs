//! Copies standard input to standard output with all PHI masked: `cargo run --example mask < note.txt`.

#![allow(clippy::disallowed_types, reason = "not part of a scan")]

use std::io::{Read, Write};

use phi_detect::Detector;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let masked = Detector::default().mask(&text)?;
    std::io::stdout().write_all(masked.as_bytes())?;
    Ok(())
}
