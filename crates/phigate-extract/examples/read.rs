//! Reads a document and prints its text, each passage behind its place: `cargo run -p phigate-extract --example read FILE`.
//! With a count, reads it that often and prints the milliseconds per time.

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("a file is missing")?;
    let bytes = std::fs::read(file)?;
    if let Some(times) = arguments.next() {
        let times: u32 = times.parse()?;
        let start = Instant::now();
        let is_read = (0..times).all(|_| phigate_extract::extract(&bytes).is_ok());
        let milliseconds = start.elapsed().as_secs_f64() * 1000.0 / f64::from(times);
        println!("{milliseconds:.1} ms, read: {is_read}");
        return Ok(());
    }
    match phigate_extract::extract(&bytes) {
        Ok(document) => {
            for passage in &document.passages {
                let kind = if passage.background { "behind" } else { "text" };
                for stretch in &passage.stretches {
                    println!("{kind} {}", document.path(stretch.place, true));
                }
                println!("{}", passage.text);
            }
        }
        Err(reason) => println!("not read: {}", reason.code()),
    }
    Ok(())
}
