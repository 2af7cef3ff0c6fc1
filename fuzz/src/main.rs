//! The fuzzer, one program for all targets: `FUZZ_TARGET` names the one to run.
//!
//! `FUZZ_TARGET=list` prints their names, `FUZZ_TARGET=seeds` writes the inputs to begin with into `corpus/`, and
//! `FUZZ_TARGET=keep` writes the inputs in `least/` into `kept/`.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use phigate_fuzz::{TARGETS, Target, keep, kept};

static CHOSEN: OnceLock<&Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(init: choose(), |bytes: &[u8]| {
    if let Some(target) = CHOSEN.get() {
        (target.run)(bytes);
    }
});

/// Finds the target that was asked for, or does what else was asked for and ends.
fn choose() {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let each: fn(&Target) = match name.as_str() {
        "list" => |target| println!("{}", target.name),
        "seeds" => write_seeds,
        "keep" => write_kept,
        name => {
            let found = TARGETS.iter().find(|target| target.name == name);
            let found = found.expect("FUZZ_TARGET names a target; FUZZ_TARGET=list shows them");
            CHOSEN.get_or_init(|| found);
            return;
        }
    };
    TARGETS.iter().for_each(each);
    std::process::exit(0);
}

fn write_seeds(target: &Target) {
    let folder = Path::new("corpus").join(target.name);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let seeds = target.seeds.iter().map(|seed| seed.to_vec());
    for (number, input) in seeds.chain(kept(target.name)).enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), input).expect("it can be written");
    }
}

fn write_kept(target: &Target) {
    let Ok(folder) = std::fs::read_dir(Path::new("least").join(target.name)) else {
        return;
    };
    let inputs = folder.flatten().map(|entry| std::fs::read(entry.path()));
    keep(
        target.name,
        inputs.map(|input| input.expect("it can be read")).collect(),
    );
}
